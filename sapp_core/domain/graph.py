"""What every slot of a schedule waits for, and an order in which all of them can run.

Two rules make a step's time: a stage does its slots one after the other, and an op needs data from another cell.
A forward needs the forward of the virtual stage before it; a backward (full, or input gradient) needs the backward
of the virtual stage after it, or, in the last one, its own forward; a weight gradient needs its input gradient.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from sapp_core.domain.pipeline import Pipeline, Placement
from sapp_core.domain.schedule import Op, OpKind, Schedule
from sapp_core.errors import ScheduleError

NONE = -1
"""Marks "waits for nothing" in the lists of `SlotGraph`."""


@dataclass(frozen=True, slots=True)
class SlotGraph:
    """Slots numbered stage after stage, with what each waits for.

    Attributes:
        first: `[stage]`, number of the stage's first slot; one entry more for the end.
        needs: `[slot]`, slots of other stages whose data it needs: one for each of its ops that needs any.
        order: all slots, each after everything it waits for.
        levels: `[slot]`, length of the longest chain of waiting before it; equal levels never wait for each other.
    """

    first: tuple[int, ...]
    needs: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]
    levels: tuple[int, ...]


def source_of(op: Op, stage: int, pipeline: Pipeline) -> tuple[bool, int, int] | None:
    """The work an op needs data from: (is it a forward, chunk, stage), same micro-batch and split; None for none."""
    if op.kind is OpKind.W:
        return False, op.chunk, stage
    v = pipeline.virtual_stage(op.chunk, stage)
    if op.kind is OpKind.F:
        return None if v == 0 else (True, *_neighbour(op.chunk, v - 1, pipeline))
    if v == pipeline.num_virtual_stages - 1:
        return True, op.chunk, stage
    return False, *_neighbour(op.chunk, v + 1, pipeline)


def slot_graph(schedule: Schedule) -> SlotGraph:
    """Dependencies of a schedule.

    Raises:
        ScheduleError: an op is missing or comes twice, or ops wait for each other in a circle (all are named).
    """
    pipeline = schedule.pipeline
    first = [0, *accumulate(len(slots) for slots in schedule.slots)]
    slot_of = _slots_by_work(schedule, first)

    sources = {
        (kind, chunk, stage): source_of(Op(kind, chunk, 0), stage, pipeline)
        for kind in OpKind
        for chunk in range(pipeline.num_chunks)
        for stage in range(pipeline.num_stages)
    }
    splits = pipeline.num_sequence_splits
    needs: list[tuple[int, ...]] = []
    for stage, slots in enumerate(schedule.slots):
        here = first[stage]
        for number, slot in enumerate(slots, here):
            found = []
            for op in slot.ops:
                source = sources[op.kind, op.chunk, stage]
                if source is None:
                    continue
                needed = slot_of[source][op.micro_batch * splits + op.sequence_split]
                if source[2] != stage:
                    found.append(needed)
                elif needed >= number:
                    raise ScheduleError(
                        f"{schedule.name}: on stage {stage}, {op.label} comes before the work it needs, "
                        f"{schedule.slots[stage][needed - here].ops[0].label}."
                    )
            needs.append(tuple(found))
    order, levels = _order(schedule, first, needs)
    return SlotGraph(tuple(first), tuple(needs), order, levels)


def _neighbour(chunk: int, virtual_stage: int, pipeline: Pipeline) -> tuple[int, int]:
    """The cell of a virtual stage in the same copy of the model."""
    cells = pipeline.cells(virtual_stage)
    return cells[chunk] if pipeline.placement is Placement.BIDIRECTIONAL else cells[0]


def _slots_by_work(schedule: Schedule, first: list[int]) -> dict[tuple[bool, int, int], list[int]]:
    """(is it a forward, chunk, stage) → `[micro-batch·K + split]`, the slot that does it (B or I for backwards)."""
    pipeline = schedule.pipeline
    splits = pipeline.num_sequence_splits
    size = pipeline.micro_batches_per_chunk * splits
    problems: list[str] = []
    slot_of = {}
    for stage, slots in enumerate(schedule.slots):
        done: dict[tuple[OpKind, int], list[int]] = {
            (kind, chunk): [NONE] * size for kind in OpKind for chunk in range(pipeline.num_chunks)
        }
        for number, slot in enumerate(slots, first[stage]):
            for op in slot.ops:
                row = done.get((op.kind, op.chunk))
                unit = op.micro_batch * splits + op.sequence_split
                if row is None or not 0 <= unit < size or not 0 <= op.sequence_split < splits:
                    problems.append(f"{schedule.name}: stage {stage} has {op.label}, which the pipeline does not have.")
                elif row[unit] != NONE:
                    problems.append(f"{schedule.name}: stage {stage} does {op.label} twice.")
                else:
                    row[unit] = number
        for chunk in range(pipeline.num_chunks):
            full, inputs, weights = done[OpKind.B, chunk], done[OpKind.I, chunk], done[OpKind.W, chunk]
            for unit, forward in enumerate(done[OpKind.F, chunk]):
                split = inputs[unit] != NONE and weights[unit] != NONE
                whole = inputs[unit] == NONE and weights[unit] == NONE
                if forward == NONE or not (split if full[unit] == NONE else whole):
                    label = Op(OpKind.F, chunk, *divmod(unit, splits)).label[1:]
                    problems.append(
                        f"{schedule.name}: stage {stage} needs F{label} once and either B{label} or both I{label} and "
                        f"W{label} once."
                    )
            slot_of[True, chunk, stage] = done[OpKind.F, chunk]
            slot_of[False, chunk, stage] = [max(b, i) for b, i in zip(full, inputs, strict=True)]
    if problems:
        raise ScheduleError(*problems)
    return slot_of


def _order(
    schedule: Schedule, first: list[int], needs: list[tuple[int, ...]]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Run the stages as far as they can go, again and again, until all slots are done."""
    levels = [NONE] * first[-1]
    at = list(first[:-1])
    order: list[int] = []
    waiting: dict[int, list[int]] = {}
    ready = list(range(len(at)))
    while ready:
        stage = ready.pop()
        number, end = at[stage], first[stage + 1]
        level = levels[number - 1] if number > first[stage] else NONE
        while number < end:
            for needed in needs[number]:
                if levels[needed] == NONE:
                    waiting.setdefault(needed, []).append(stage)
                    break
                level = max(level, levels[needed])
            else:
                level += 1
                levels[number] = level
                order.append(number)
                if number in waiting:
                    ready += waiting.pop(number)
                number += 1
                continue
            break
        at[stage] = number
    if len(order) < first[-1]:
        raise ScheduleError(_circle(schedule, first, needs, levels, at))
    return tuple(order), tuple(levels)


def _circle(
    schedule: Schedule, first: list[int], needs: list[tuple[int, ...]], levels: list[int], at: list[int]
) -> str:
    """Follow the stuck stages until one comes again, and tell who waits for whom."""

    def stage_of(number: int) -> int:
        return max(stage for stage in range(len(at)) if first[stage] <= number)

    def text(number: int) -> str:
        stage = stage_of(number)
        return f"{'+'.join(op.label for op in schedule.slots[stage][number - first[stage]].ops)} on stage {stage}"

    def walk() -> Iterator[tuple[int, int, int]]:
        stage = next(stage for stage in range(len(at)) if at[stage] < first[stage + 1])
        while True:
            needed = next(number for number in needs[at[stage]] if levels[number] == NONE)
            yield stage, at[stage], needed
            stage = stage_of(needed)

    seen: dict[int, int] = {}
    steps: list[tuple[int, int]] = []
    for stage, number, needed in walk():
        if stage in seen:
            steps = steps[seen[stage] :]
            break
        seen[stage] = len(steps)
        steps.append((number, needed))
    waits = "; ".join(f"{text(number)} waits for {text(needed)}" for number, needed in steps)
    return f"{schedule.name}: the order waits for itself: {waits}."
