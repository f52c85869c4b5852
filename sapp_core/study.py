"""One scenario: profile, schedule and plan to everything a page draws."""

from collections.abc import Iterator

from sapp_core.balancer.own_order import own_order
from sapp_core.domain.costs import chunk_costs
from sapp_core.domain.plan import Plan, even_split
from sapp_core.domain.profile import ModelProfile, RecomputeMode
from sapp_core.domain.schedule import Schedule
from sapp_core.domain.sequence_split import split_along_sequence
from sapp_core.domain.timeline import Evaluation, StageMemory, over_limit
from sapp_core.simulator.bubble import bubble_parts
from sapp_core.simulator.engine import prepare, simulate
from sapp_core.simulator.memory import memory_timeline, peaks


def evaluate(profile: ModelProfile, schedule: Schedule, plan: Plan) -> Evaluation:
    """Simulate a plan.

    Where the schedule is one that is planned for the times of its ops (zero bubble), the order is the better one of
    the schedule's own and one planned for this plan (`own_order`); the evaluation carries it.

    Raises:
        PlanError: the plan does not fit profile and pipeline.
        PipelineError: sequence splits, but the profile lacks the sizes they need.
    """
    profile = split_along_sequence(profile, schedule.pipeline.num_sequence_splits)
    costs = chunk_costs(profile, plan, schedule.pipeline)
    schedule = own_order(schedule, costs)
    prepared = prepare(schedule)
    timeline = simulate(prepared, costs)
    return Evaluation(
        profile=profile,
        schedule=schedule,
        plan=plan,
        costs=costs,
        timeline=timeline,
        memory=memory_timeline(schedule, costs, timeline),
        peaks=peaks(schedule, costs),
        bubble=bubble_parts(prepared, costs, timeline.step_time),
    )


def fitting_mode(
    profile: ModelProfile, schedule: Schedule, limits_mb: tuple[float, ...] | None
) -> RecomputeMode | None:
    """The least recomputation with which the even split stays within the limits; None when it never does.

    What a framework's user would do without a balancer: recompute everywhere until the model fits.

    Args:
        profile: what is placed.
        schedule: order of work; memory depends on nothing else.
        limits_mb: `[stage]`, MiB; None = no limit.
    """
    for mode, peak in _even_split_peaks(profile, schedule):
        if not over_limit(peak, limits_mb):
            return mode
    return None


def lightest_mode(profile: ModelProfile, schedule: Schedule) -> RecomputeMode:
    """The recomputation with which the fullest stage of the even split needs least memory; the least of equal ones."""
    highest = {mode: max(stage.total_mb for stage in peak) for mode, peak in _even_split_peaks(profile, schedule)}
    return min(highest, key=lambda mode: highest[mode])


def _even_split_peaks(
    profile: ModelProfile, schedule: Schedule
) -> Iterator[tuple[RecomputeMode, tuple[StageMemory, ...]]]:
    """Each mode with the memory of every stage, least recomputation first."""
    profile = split_along_sequence(profile, schedule.pipeline.num_sequence_splits)
    for mode in profile.modes:
        costs = chunk_costs(profile, even_split(profile, schedule.pipeline, mode), schedule.pipeline)
        yield mode, peaks(schedule, costs)
