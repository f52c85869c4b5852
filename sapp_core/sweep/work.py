"""What is done at one point, wherever that is."""

import time
from dataclasses import dataclass, replace

from sapp_core.balancer.balance import balance
from sapp_core.balancer.infeasible import too_few_layers
from sapp_core.domain.plan import even_split
from sapp_core.domain.result import Status
from sapp_core.domain.scenario import Scenario
from sapp_core.domain.schedule import Schedule
from sapp_core.domain.sweep import PointResult, PointStatus, SweepPoint
from sapp_core.domain.timeline import Evaluation
from sapp_core.errors import SappError, SolverError
from sapp_core.schedules.registry import make_schedule
from sapp_core.study import evaluate, fitting_mode, lightest_mode


@dataclass(frozen=True, slots=True)
class Task:
    """One point to work on: all that a worker needs to know.

    Attributes:
        point: says whether to balance (it has an objective) or to simulate the even split.
        scenario: what the point asks.
    """

    point: SweepPoint
    scenario: Scenario


def work_on(task: Task) -> PointResult:
    """Simulate or balance one point; wrong input and solver failures are answers, not exceptions."""
    begun = time.perf_counter()
    try:
        result = _result(task)
    except SolverError as error:
        result = PointResult(task.point, PointStatus.FAILED, sentences=error.problems)
    except SappError as error:
        result = PointResult(task.point, PointStatus.REFUSED, sentences=error.problems)
    return replace(result, seconds=time.perf_counter() - begun)


def _result(task: Task) -> PointResult:
    scenario = task.scenario
    schedule = make_schedule(scenario.schedule_name, scenario.pipeline)
    if task.point.objective is None:
        return _simulated(task, schedule)
    found = balance(scenario.profile, schedule, scenario.request)
    status = PointStatus(found.status)
    if found.plan is None:
        sentences = found.infeasibility.sentences if found.infeasibility else ()
        if found.status is Status.NO_SOLUTION_IN_TIME:
            sentences = (f"No plan was found in {scenario.request.time_limit:g} s.",)
        return replace(_for_orientation(task, schedule, status, sentences), balance=found)
    evaluation = evaluate(scenario.profile, schedule, found.plan)
    return replace(_shown(task, evaluation, status), sentences=found.notes, balance=found)


def _simulated(task: Task, schedule: Schedule) -> PointResult:
    profile, pipeline = task.scenario.profile, task.scenario.pipeline
    if lack := too_few_layers(profile, pipeline):
        return _for_orientation(task, schedule, PointStatus.INFEASIBLE, lack.sentences)
    limits = task.scenario.request.limits(pipeline.num_stages) if profile.has_memory else None
    mode = fitting_mode(profile, schedule, limits)
    if mode is None:
        shown = _for_orientation(task, schedule, PointStatus.INFEASIBLE, ())
        return replace(shown, sentences=_over_limit(shown))
    evaluation = evaluate(profile, schedule, even_split(profile, pipeline, mode))
    return replace(_shown(task, evaluation, PointStatus.FEASIBLE), recompute=mode)


def _for_orientation(task: Task, schedule: Schedule, status: PointStatus, sentences: tuple[str, ...]) -> PointResult:
    """Without a plan that fits: the even split that needs least memory."""
    profile, pipeline = task.scenario.profile, task.scenario.pipeline
    mode = lightest_mode(profile, schedule)
    evaluation = evaluate(profile, schedule, even_split(profile, pipeline, mode))
    return replace(_shown(task, evaluation, status), recompute=mode, sentences=sentences)


def _shown(task: Task, evaluation: Evaluation, status: PointStatus) -> PointResult:
    """What a simulated plan says of a point."""
    return PointResult(
        point=task.point,
        status=status,
        step_time=evaluation.step_time,
        peak_memory_mb=evaluation.peak_memory_mb,
        bubble=evaluation.bubble.total,
        plan=evaluation.plan,
    )


def _over_limit(shown: PointResult) -> tuple[str, ...]:
    peaks, limit = shown.peak_memory_mb, shown.point.memory_limit_mb or 0.0
    stage = max(range(len(peaks)), key=lambda s: peaks[s])
    over = peaks[stage] - limit
    sentence = (
        f"The even split does not fit: even with {shown.recompute} recomputation stage {stage} needs "
        f"{peaks[stage]:,.0f} MiB, {over:,.0f} MiB more than the limit. Balancing may still find a plan that fits."
    )
    return (sentence,)
