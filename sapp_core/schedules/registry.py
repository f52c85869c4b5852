"""All schedules, by name: what the page, the command line and the tests read. A new one is a file and a row here."""

from collections.abc import Callable
from dataclasses import dataclass

from sapp_core.domain.pipeline import Pipeline, Placement
from sapp_core.domain.schedule import Schedule, Slot
from sapp_core.errors import PipelineError
from sapp_core.schedules.gpipe import gpipe
from sapp_core.schedules.one_f_one_b import one_f_one_b
from sapp_core.schedules.validate import validate
from sapp_core.schedules.vpp import group_problems, vpp, vpp_less_memory, vpp_problems


def _no_problems(_: Pipeline) -> list[str]:
    return []


@dataclass(frozen=True, slots=True)
class ScheduleFamily:
    """One kind of schedule.

    Attributes:
        name: what files, command line and URL call it.
        title: what people call it.
        summary: when to use it and what it costs.
        order: the generator, pipeline → `[stage][slot]`.
        placement: how it lays virtual stages onto cells.
        problems: sentences on settings this family cannot run; empty when it can.
        uses_chunks: whether a stage may hold several chunks.
        uses_groups: whether group size and remainder mean something.
    """

    name: str
    title: str
    summary: str
    order: Callable[[Pipeline], tuple[tuple[Slot, ...], ...]]
    placement: Placement = Placement.LOOP
    problems: Callable[[Pipeline], list[str]] = _no_problems
    uses_chunks: bool = False
    uses_groups: bool = False


SCHEDULES: tuple[ScheduleFamily, ...] = (
    ScheduleFamily(
        name="gpipe",
        title="GPipe",
        summary="All forwards, then all backwards. Simple, but every micro-batch stays in memory until the turn.",
        order=gpipe,
    ),
    ScheduleFamily(
        name="1f1b",
        title="1F1B",
        summary="One forward, one backward in turn. The bubble of GPipe with at most S micro-batches in memory.",
        order=one_f_one_b,
    ),
    ScheduleFamily(
        name="vpp",
        title="VPP (interleaved 1F1B)",
        summary="Several chunks a stage make the bubble smaller, for more activation memory and more transfers.",
        order=vpp,
        problems=vpp_problems,
        uses_chunks=True,
        uses_groups=True,
    ),
    ScheduleFamily(
        name="vpp-less-memory",
        title="VPP, less memory",
        summary="Interleaved 1F1B with half the warm-up steps between stages: a lower peak, but more bubbles.",
        order=vpp_less_memory,
        problems=group_problems,
        uses_chunks=True,
        uses_groups=True,
    ),
)


def family(name: str) -> ScheduleFamily:
    """The family of a name.

    Raises:
        PipelineError: there is none; the sentence lists the known names.
    """
    for known in SCHEDULES:
        if known.name == name:
            return known
    raise PipelineError(f"schedule: {name!r} is not known; choose from {', '.join(f.name for f in SCHEDULES)}.")


def make_schedule(name: str, pipeline: Pipeline) -> Schedule:
    """The validated schedule of a family for a pipeline.

    Raises:
        PipelineError: unknown name, or settings it cannot run; sentences name the rule and the nearest legal values.
    """
    chosen = family(name)
    problems = []
    if pipeline.num_chunks > 1 and not chosen.uses_chunks:
        several = ", ".join(f.name for f in SCHEDULES if f.uses_chunks)
        problems.append(
            f"num_chunks: {name} holds 1 chunk a stage, found {pipeline.num_chunks}; set it to 1 or choose {several}."
        )
    if pipeline.num_sequence_splits > 1:
        problems.append(
            f"num_sequence_splits: {name} does not split the sequence; "
            f"set it to 1, found {pipeline.num_sequence_splits}."
        )
    if pipeline.group_size is not None and not chosen.uses_groups:
        grouped = ", ".join(f.name for f in SCHEDULES if f.uses_groups)
        problems.append(f"group_size: {name} has no groups of micro-batches; leave it out or choose {grouped}.")
    if pipeline.placement is not chosen.placement:
        problems.append(f"placement: {name} needs {chosen.placement}, found {pipeline.placement}.")
    if not problems:
        problems = chosen.problems(pipeline)
    if problems:
        raise PipelineError(*problems)
    schedule = Schedule(name, pipeline, chosen.order(pipeline))
    validate(schedule)
    return schedule
