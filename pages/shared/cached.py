"""Calls into the core that are remembered by what they were asked, so that nothing is computed twice.

Every value is frozen, or a figure that nobody changes, so all sessions may share it.
"""

from dataclasses import dataclass, replace
from hashlib import blake2b

from pages.shared.remembered import remembered
from sapp_core.charts.blocks import Blocks, blocks_of
from sapp_core.charts.bubble import bubble_figure
from sapp_core.charts.compare_bubble import bubble_comparison_figure
from sapp_core.charts.compare_memory import MemoryBars, memory_comparison_figure
from sapp_core.charts.gantt import gantt_figure
from sapp_core.charts.in_flight import in_flight_figure, in_flight_table
from sapp_core.charts.memory import Limit, memory_figure
from sapp_core.charts.memory_time import memory_over_time_figure
from sapp_core.charts.plan import plan_figure
from sapp_core.charts.theme import Figure, Theme
from sapp_core.charts.timeline_parts import packed_blocks, timeline_look
from sapp_core.charts.tornado import tornado_figure
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Plan, even_split
from sapp_core.domain.profile import ModelProfile, RecomputeMode
from sapp_core.domain.scenario import Scenario, digest
from sapp_core.domain.schedule import Schedule
from sapp_core.domain.sensitivity import Sensitivity
from sapp_core.domain.timeline import Evaluation
from sapp_core.domain.unit_profile import UnitTimes, unit_profile
from sapp_core.schedules.in_flight import peak_in_flight
from sapp_core.schedules.registry import make_schedule
from sapp_core.sensitivity import sensitivity
from sapp_core.simulator.engine import PreparedSchedule, prepare
from sapp_core.simulator.memory import in_flight_timeline
from sapp_core.study import evaluate, reference_mode
from sapp_core.sweep.estimate import Estimate, forecast
from sapp_core.sweep.grid import Grid
from sapp_core.sweep.run import tasks_of

Window = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Simulated:
    """An evaluation and the digest of what was asked, by which its charts are remembered."""

    key: str
    evaluation: Evaluation


@dataclass(frozen=True, slots=True)
class EvenSplit:
    """The plan a framework would make for the same scenario.

    Attributes:
        mode: how much every layer recomputes.
        fits: whether all stages stay within the limit.
        simulated: the plan's evaluation.
    """

    mode: RecomputeMode
    fits: bool
    simulated: Simulated


def content(argument: object) -> object:
    """What an argument of a remembered function says, in few bytes."""
    if isinstance(argument, Simulated):
        return argument.key
    if isinstance(argument, bytes):
        return blake2b(argument, digest_size=12).hexdigest()
    if isinstance(argument, tuple):
        return tuple(map(content, argument))
    return digest(argument)


@remembered(content)
def _prepared(name: str, untimed: Pipeline) -> PreparedSchedule:
    return prepare(make_schedule(name, untimed))


def prepared(name: str, pipeline: Pipeline) -> PreparedSchedule:
    """The validated schedule of a family as arrays, made once for all times.

    Raises:
        PipelineError: the schedule cannot run these settings.
    """
    found = _prepared(name, pipeline.untimed)
    return replace(found, schedule=replace(found.schedule, pipeline=pipeline))


def schedule(name: str, pipeline: Pipeline) -> Schedule:
    """The validated schedule of a family.

    Raises:
        PipelineError: the schedule cannot run these settings.
    """
    return prepared(name, pipeline).schedule


@remembered(content)
def _simulated(profile: ModelProfile, schedule_name: str, pipeline: Pipeline, plan: Plan) -> Simulated:
    key = digest(profile, schedule_name, pipeline, plan)
    order = prepared(schedule_name, pipeline)
    return Simulated(key, evaluate(profile, order.schedule, plan, order))


def simulate(scenario: Scenario, plan: Plan) -> Simulated:
    """A plan of a scenario, simulated."""
    return _simulated(scenario.profile, scenario.schedule_name, scenario.pipeline, plan)


@remembered(content)
def _reference_mode(
    profile: ModelProfile, schedule_name: str, pipeline: Pipeline, limits_mb: tuple[float, ...] | None
) -> tuple[RecomputeMode, bool]:
    return reference_mode(profile, schedule(schedule_name, pipeline), limits_mb)


def even_split_of(scenario: Scenario) -> EvenSplit:
    """The even split that plans of a scenario are measured against (`reference_mode`)."""
    profile, pipeline = scenario.profile, scenario.pipeline
    limits = scenario.request.limits(pipeline.num_stages)
    mode, fits = _reference_mode(profile, scenario.schedule_name, pipeline, limits)
    return EvenSplit(mode, fits, simulate(scenario, even_split(profile, pipeline, mode)))


def ordered_anew(simulated: Simulated) -> bool:
    """Whether the work runs in another order than the schedule's own: one planned for these times."""
    found = simulated.evaluation.schedule
    return found.slots != schedule(found.name, found.pipeline).slots


def _order_of(simulated: Simulated) -> PreparedSchedule:
    found = simulated.evaluation.schedule
    return prepare(found) if ordered_anew(simulated) else prepared(found.name, found.pipeline)


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a sweep will be.

    Attributes:
        runnable: points that can run.
        estimate: of the time it takes.
    """

    runnable: int
    estimate: Estimate


@remembered(content)
def outlook(grid: Grid, profile: ModelProfile, num_workers: int) -> Outlook:
    """Points and time of a sweep; what an op costs is measured once."""
    tasks = tasks_of(grid, profile)
    return Outlook(len(tasks), forecast(tasks, num_workers))


@remembered(content)
def timeline_chart(simulated: Simulated, theme: Theme, window: Window | None, until: float = 0.0) -> Figure:
    """`gantt_figure` of a plan."""
    return gantt_figure(simulated.evaluation, theme, window, until)


@remembered(content)
def blocks(simulated: Simulated) -> Blocks:
    """`blocks_of` a plan."""
    return blocks_of(simulated.evaluation)


@remembered(content)
def packed(simulated: Simulated) -> bytes:
    """`packed_blocks` of a plan, under the plan's key."""
    return packed_blocks(blocks(simulated), simulated.key)


@remembered(content)
def look(simulated: Simulated, theme: Theme, until: float) -> str:
    """`timeline_look` of a plan."""
    return timeline_look(simulated.evaluation, blocks(simulated), theme, until)


@remembered(content)
def in_flight_chart(simulated: Simulated, theme: Theme, window: Window | None, until: float = 0.0) -> Figure:
    """`in_flight_figure` of a plan."""
    evaluation = simulated.evaluation
    return in_flight_figure(
        evaluation, in_flight_timeline(_order_of(simulated), evaluation.timeline), theme, window, until
    )


@remembered(content)
def most_in_flight_table(simulated: Simulated) -> dict[str, list[int | float]]:
    """`in_flight_table` of a plan's schedule."""
    found = simulated.evaluation.schedule
    return in_flight_table(found.pipeline, peak_in_flight(found))


def order(name: str, pipeline: Pipeline, times: UnitTimes) -> Simulated:
    """A schedule with unit times: each cell holds one layer.

    Raises:
        PipelineError: the schedule cannot run these settings.
    """
    profile = unit_profile(pipeline, times)
    return _simulated(profile, name, pipeline, even_split(profile, pipeline))


@remembered(content)
def memory_chart(
    simulated: Simulated, theme: Theme, limit: Limit, reference: Simulated | None, reference_name: str
) -> Figure:
    """`memory_figure` of a plan."""
    other = reference.evaluation if reference else None
    return memory_figure(simulated.evaluation, theme, limit, other, reference_name)


@remembered(content)
def memory_over_time_chart(simulated: Simulated, theme: Theme, limit: Limit, window: Window | None) -> Figure:
    """`memory_over_time_figure` of a plan."""
    return memory_over_time_figure(simulated.evaluation, theme, limit, window)


@remembered(content)
def bubble_chart(named: tuple[tuple[str, Simulated], ...], theme: Theme) -> Figure:
    """`bubble_figure` of some plans."""
    return bubble_figure([(name, simulated.evaluation) for name, simulated in named], theme)


@remembered(content)
def reactions(scenario: Scenario, simulated: Simulated, share: float) -> Sensitivity:
    """`sensitivity` of a plan to the numbers of its profile."""
    return sensitivity(scenario, simulated.evaluation, share, _order_of(simulated))


@remembered(content)
def tornado_chart(scenario: Scenario, simulated: Simulated, share: float, theme: Theme, memory: bool) -> Figure:  # noqa: FBT001
    """`tornado_figure` of a plan."""
    return tornado_figure(reactions(scenario, simulated, share), simulated.evaluation, theme, memory=memory)


@remembered(content)
def plan_chart(simulated: Simulated, theme: Theme) -> Figure:
    """`plan_figure` of a plan."""
    return plan_figure(simulated.evaluation, theme)


@remembered(content)
def memory_comparison_chart(plans: tuple[tuple[str, Simulated, Limit], ...], theme: Theme) -> Figure:
    """`memory_comparison_figure` of some plans, each with its name and limit."""
    return memory_comparison_figure([MemoryBars(name, found.evaluation, limit) for name, found, limit in plans], theme)


@remembered(content)
def bubble_comparison_chart(named: tuple[tuple[str, Simulated], ...], theme: Theme) -> Figure:
    """`bubble_comparison_figure` of some plans."""
    return bubble_comparison_figure([(name, simulated.evaluation) for name, simulated in named], theme)
