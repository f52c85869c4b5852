"""The order of work that suits a plan, for the schedules whose planner looks at times (zero bubble).

While plans are searched the order stays fixed: memory rows and paths belong to it. The times of the plan that is found
are known only afterwards; an order planned for them can end sooner.
"""

import numpy as np

from sapp_core.domain.costs import ChunkCosts
from sapp_core.domain.schedule import Schedule
from sapp_core.domain.timeline import MEMORY_ROUNDING_MB
from sapp_core.schedules.validate import validate
from sapp_core.schedules.zero_bubble import PLANNED, op_times, plan
from sapp_core.simulator.engine import PreparedSchedule, durations_of, prepare, step_times
from sapp_core.simulator.memory import peaks


def own_order(prepared: PreparedSchedule, costs: ChunkCosts) -> PreparedSchedule:
    """The order, planned anew for a plan's own times where that ends sooner and no stage needs more memory.

    Args:
        prepared: the order so far; returned as it is when it is no planner's, or not beaten.
        costs: of the plan.
    """
    schedule = prepared.schedule
    rule = PLANNED.get(schedule.name)
    if rule is None:
        return prepared
    pipeline = schedule.pipeline
    durations = durations_of(costs, pipeline)
    planned = Schedule(schedule.name, pipeline, plan(rule, pipeline, op_times(durations.tolist(), pipeline.p2p_time)))
    if planned.slots == schedule.slots:
        return prepared
    again = prepare(planned)
    before, after = (float(step_times(order, durations[np.newaxis])[0]) for order in (prepared, again))
    held_before, held_after = (peaks(order, costs) for order in (prepared, again))
    grows = any(
        new.total_mb > old.total_mb + MEMORY_ROUNDING_MB for old, new in zip(held_before, held_after, strict=True)
    )
    if after >= before or grows:
        return prepared
    validate(planned)
    return again
