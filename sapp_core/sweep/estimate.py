"""How long a sweep will take: told before it starts, as an estimate."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from sapp_core.schedules.registry import num_ops
from sapp_core.sweep.work import Task, work_on

START_SECONDS = 1.0
"""Until worker processes have imported what they need."""

_MEASURED_OPS = 1500
"""Large enough to say what an op costs, small enough to be measured while somebody waits."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds a sweep takes on some workers of this machine.

    Attributes:
        seconds: of waiting.
        at_most: whether it ends no later than about then: balanced points end early once they are proven. Otherwise
            it is a forecast from a measurement.
    """

    seconds: float
    at_most: bool

    @property
    def words(self) -> str:
        """As `about 7 s` or `at most 4 min`."""
        time = f"{ceil(self.seconds)} s" if self.seconds < 100 else f"{ceil(self.seconds / 60)} min"
        return f"{'at most' if self.at_most else 'about'} {time}"


def usable_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def measured_costs(tasks: Sequence[Task]) -> dict[str, float]:
    """Seconds an op costs, by schedule: one small point of each is simulated now, which takes milliseconds."""
    costs = {}
    for name in dict.fromkeys(task.scenario.schedule_name for task in tasks):
        same = [task for task in tasks if task.scenario.schedule_name == name]
        sample = min(same, key=lambda task: abs(_ops(task) - _MEASURED_OPS))
        # The first time of everything is slower.
        costs[name] = min(work_on(sample).seconds for _ in range(2)) / _ops(sample)
    return costs


def estimate(tasks: Sequence[Task], num_workers: int, costs: dict[str, float]) -> Estimate:
    """Time for tasks that are either all simulated or all balanced.

    Args:
        tasks: to be done.
        num_workers: at a time.
        costs: from `measured_costs`; unused when points are balanced.
    """
    if not tasks:
        return Estimate(0.0, at_most=True)
    workers = min(num_workers, len(tasks))
    if tasks[0].point.objective is not None:
        rounds = ceil(len(tasks) / workers)
        return Estimate(START_SECONDS + rounds * tasks[0].scenario.request.time_limit, at_most=True)
    work = sum(costs[task.scenario.schedule_name] * _ops(task) for task in tasks)
    # More workers than cores only take turns.
    return Estimate(START_SECONDS + work / min(workers, usable_cores()), at_most=False)


def forecast(tasks: Sequence[Task], num_workers: int) -> Estimate:
    """`estimate`, with the costs measured now where they are needed."""
    balanced = bool(tasks) and tasks[0].point.objective is not None
    return estimate(tasks, num_workers, {} if balanced else measured_costs(tasks))


def _ops(task: Task) -> int:
    return num_ops(task.scenario.schedule_name, task.scenario.pipeline)
