"""Every chart of a plan by its name: what reports show and the command line draws."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sapp_core.charts.bubble import bubble_figure
from sapp_core.charts.gantt import NUM_BINS, gantt_figure
from sapp_core.charts.in_flight import in_flight_figure
from sapp_core.charts.lanes import MAX_STEPS
from sapp_core.charts.memory import memory_figure
from sapp_core.charts.memory_time import memory_over_time_figure
from sapp_core.charts.plan import plan_figure
from sapp_core.charts.progress import progress_figure
from sapp_core.charts.theme import LIGHT, Figure, Theme
from sapp_core.charts.tornado import tornado_figure
from sapp_core.domain.result import Objective, Progress
from sapp_core.domain.scenario import Scenario
from sapp_core.errors import FormatError
from sapp_core.sensitivity import USUAL_SHARE, sensitivity
from sapp_core.simulator.engine import prepare
from sapp_core.simulator.memory import in_flight_timeline
from sapp_core.study import Study


@dataclass(frozen=True, slots=True)
class Detail:
    """How finely large pipelines are drawn; small ones are always drawn block by block.

    Attributes:
        num_bins: columns of a timeline with too many blocks.
        most_steps: changes in a lane of memory over time.
    """

    num_bins: int = NUM_BINS
    most_steps: int = MAX_STEPS


@dataclass(frozen=True, slots=True)
class Picture:
    """One chart.

    Attributes:
        name: on the command line.
        caption: how to read it.
        draw: the chart of a study; raises `FormatError` where there is nothing to draw.
    """

    name: str
    caption: str
    draw: Callable[[Study, Detail], Figure]


def search_figure(scenario: Scenario, trace: Sequence[Progress], seconds: float, theme: Theme) -> Figure:
    """`progress_figure` in the words of a scenario."""
    objective = scenario.request.objective
    exact = objective is Objective.EXACT
    value = f"step time ({scenario.profile.time_unit})" if exact else f"objective {objective}"
    return progress_figure(trace, seconds, theme, value, f"{scenario.profile.name} · {scenario.schedule_name}")


def _timeline(study: Study, detail: Detail) -> Figure:
    return gantt_figure(study.evaluation, LIGHT, num_bins=detail.num_bins)


def _memory(study: Study, _: Detail) -> Figure:
    _need_memory(study)
    other = study.reference.evaluation
    return memory_figure(
        study.evaluation,
        LIGHT,
        study.scenario.request.memory_limit_mb,
        other if other.plan != study.evaluation.plan else None,
    )


def _memory_over_time(study: Study, detail: Detail) -> Figure:
    _need_memory(study)
    limit = study.scenario.request.memory_limit_mb
    return memory_over_time_figure(study.evaluation, LIGHT, limit, most_steps=detail.most_steps)


def _in_flight(study: Study, _: Detail) -> Figure:
    evaluation = study.evaluation
    return in_flight_figure(evaluation, in_flight_timeline(prepare(evaluation.schedule), evaluation.timeline), LIGHT)


def _bubbles(study: Study, _: Detail) -> Figure:
    reference = study.reference
    named = [(reference.words.capitalize(), reference.evaluation), ("This plan", study.evaluation)]
    return bubble_figure(named if reference.evaluation.plan != study.evaluation.plan else named[1:], LIGHT)


def _plan(study: Study, _: Detail) -> Figure:
    return plan_figure(study.evaluation, LIGHT)


def _sensitivity(study: Study, _: Detail) -> Figure:
    return tornado_figure(sensitivity(study.scenario, study.evaluation, USUAL_SHARE), study.evaluation, LIGHT)


def _search(study: Study, _: Detail) -> Figure:
    result = study.result
    if result is None or not result.trace:
        raise FormatError("search: there is none to draw; this plan was simulated, not searched for.")
    return search_figure(study.scenario, result.trace, result.seconds, LIGHT)


def _need_memory(study: Study) -> None:
    if not study.scenario.profile.has_memory:
        raise FormatError("memory: the profile gives none, so there is none to draw.")


PICTURES: tuple[Picture, ...] = (
    Picture(
        "timeline",
        "One lane a stage, stage 0 on top. A block is one micro-batch going forward or backward through a chunk; the "
        "number is the micro-batch. Empty lane: the stage waits. Large steps are drawn as what each stage does most of "
        "each moment.",
        _timeline,
    ),
    Picture(
        "memory",
        "Each bar is what a stage needs at its fullest moment, part by part. The dashed line is the limit; dashes are "
        "the peaks of the even split.",
        _memory,
    ),
    Picture(
        "memory-over-time",
        "The same memory as it rises with every forward and falls with every backward. Each lane is as high as the "
        "limit, or as the highest peak.",
        _memory_over_time,
    ),
    Picture(
        "in-flight",
        "Micro-batches whose forward is done and whose backward is not: their activations are alive.",
        _in_flight,
    ),
    Picture(
        "bubbles",
        "Time of a stage beyond its share of the model's own work, in percent of that work. Schedule itself: the "
        "bubble with perfectly even stages. Uneven stages: what uneven cells add. Recomputation and transfers: what "
        "they add on top.",
        _bubbles,
    ),
    Picture(
        "plan",
        "Layers of each stage, stacked by kind; darker means that more is recomputed in the backward.",
        _plan,
    ),
    Picture(
        "search",
        "The best plan found and the proven lower bound through the seconds of the run; where they meet, the plan is "
        "proven optimal.",
        _search,
    ),
    Picture(
        "sensitivity",
        "What 10 % less or more of one number of the profile, alone, does to the step time of this plan: the numbers "
        "worth measuring well are on top.",
        _sensitivity,
    ),
)
"""In the order of a report."""


def picture_named(name: str) -> Picture:
    """The chart of a name, which is known."""
    return next(known for known in PICTURES if known.name == name)
