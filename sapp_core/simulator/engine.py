"""When every slot of a schedule starts and ends: the longest path through its dependencies.

A schedule is prepared once into arrays. Then one pass over a topological order gives the times for one set of
durations, or for many at once: the same pass with a batch axis. Nothing recurses, so any number of micro-batches fits.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sapp_core.domain.costs import ChunkCosts
from sapp_core.domain.graph import slot_graph
from sapp_core.domain.in_flight import InFlight, in_flight
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.schedule import OP_KINDS, OpKind, Schedule
from sapp_core.domain.timeline import Timeline

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

FEW = 4
"""Up to so many sets of durations a plain loop over slots beats array calls per level (measured on 65,536 ops)."""


@dataclass(frozen=True, slots=True, eq=False)
class PreparedSchedule:
    """A schedule as arrays, slots sorted by level (slots of one level never wait for each other).

    Attributes:
        schedule: where it comes from.
        place: `[slot in stage order]` → row of the slot in the arrays below.
        previous: `[row]`, row of the slot before it on its stage.
        needed: `[2][row]`, rows of the slots whose data it needs.
        duration_class: `[row]`, column of `class_ops` that its duration follows.
        class_ops: `[2][class]`, flat (kind, chunk, stage) index of the one or two ops; the second is −1 for one.
        levels: `[level]`, first row of each level; one entry more for the end.
        in_flight: `[stage]`, what is alive after each op.

    A row that waits for nothing points at the last, extra row, which ends at time 0.
    """

    schedule: Schedule
    place: Ints
    previous: Ints
    needed: Ints
    duration_class: Ints
    class_ops: Ints
    levels: Ints
    in_flight: tuple[InFlight, ...]

    @property
    def num_slots(self) -> int:
        """Slots of all stages together."""
        return len(self.previous)


def prepare(schedule: Schedule) -> PreparedSchedule:
    """Arrays for simulating a schedule with any durations.

    Raises:
        ScheduleError: the order cannot run.
    """
    graph = slot_graph(schedule)
    count = len(graph.levels)
    levels = np.array(graph.levels, dtype=np.intp)
    rows = np.argsort(levels, kind="stable")
    place = np.empty(count + 1, dtype=np.intp)
    place[rows] = np.arange(count)
    place[count] = count

    before = np.arange(-1, count - 1, dtype=np.intp)
    before[np.array([start for start in graph.first[:-1] if start < count], dtype=np.intp)] = count
    needs = np.array([(*needed, count, count)[:2] for needed in graph.needs], dtype=np.intp).reshape(count, 2)

    shape = (len(OP_KINDS), schedule.pipeline.num_chunks, schedule.pipeline.num_stages)
    kind_index = {kind: k for k, kind in enumerate(OP_KINDS)}
    classes: dict[tuple[int, ...], int] = {}
    class_of = np.empty(count, dtype=np.intp)
    number = 0
    for stage, slots in enumerate(schedule.slots):
        for slot in slots:
            key = tuple((kind_index[op.kind] * shape[1] + op.chunk) * shape[2] + stage for op in slot.ops)
            class_of[number] = classes.setdefault(key, len(classes))
            number += 1
    return PreparedSchedule(
        schedule=schedule,
        place=place[:-1],
        previous=place[before[rows]],
        needed=np.ascontiguousarray(place[needs[rows]].T),
        duration_class=class_of[rows],
        class_ops=np.array([(*key, -1)[:2] for key in classes], dtype=np.intp).reshape(len(classes), 2).T,
        levels=np.searchsorted(levels[rows], np.arange(levels.max(initial=-1) + 2)),
        in_flight=tuple(in_flight(slots, schedule.pipeline) for slots in schedule.slots),
    )


def durations_of(costs: ChunkCosts, pipeline: Pipeline) -> Floats:
    """`[kind][chunk][stage]`, time of one op of each kind, of one sequence split."""
    return op_durations(np.array(costs.forward), np.array(costs.backward), np.array(costs.recompute), pipeline)


def op_durations(forward: Floats, backward: Floats, recompute: Floats, pipeline: Pipeline) -> Floats:
    """`[kind] + the shape of the others`: times of ops from those of a whole micro-batch; linear in all three.

    The input gradient takes its share β of the backward without recomputation, plus all of the recomputation,
    which has to come first; the weight gradient takes the rest (Qi et al., arXiv 2401.10241).
    """
    share = pipeline.input_gradient_share
    by_kind = {
        OpKind.F: forward,
        OpKind.B: backward + recompute,
        OpKind.I: share * backward + recompute,
        OpKind.W: (1 - share) * backward,
    }
    return np.stack([by_kind[kind] for kind in OP_KINDS]) / pipeline.num_sequence_splits


def simulate(prepared: PreparedSchedule, costs: ChunkCosts) -> Timeline:
    """Start and end of every slot."""
    pipeline = prepared.schedule.pipeline
    ends = slot_ends(prepared, durations_of(costs, pipeline))
    starts = np.maximum(
        ends[prepared.previous],
        (ends[prepared.needed] + np.where(prepared.needed < prepared.num_slots, pipeline.p2p_time, 0.0)).max(axis=0),
    )
    cuts = np.cumsum([len(slots) for slots in prepared.schedule.slots])[:-1]

    def by_stage(rows: Floats) -> tuple[tuple[float, ...], ...]:
        return tuple(tuple(part.tolist()) for part in np.split(rows[prepared.place], cuts))

    return Timeline(by_stage(starts), by_stage(ends), float(ends.max()))


def slot_ends(prepared: PreparedSchedule, durations: Floats) -> Floats:
    """`[row]`, and 0 in the extra row: when each slot ends under one set of durations, `[kind][chunk][stage]`."""
    lengths = _class_lengths(prepared, durations[np.newaxis])[:, 0]
    return np.array(_ends_one_by_one(prepared, lengths, prepared.schedule.pipeline.p2p_time))


def step_times(prepared: PreparedSchedule, durations: Floats, p2p_time: float | None = None) -> Floats:
    """Step times of many sets of durations at once.

    Args:
        prepared: the order they all follow.
        durations: `[batch][kind][chunk][stage]`, as from `durations_of`.
        p2p_time: delay of data that crosses stages; None = the pipeline's own.

    Returns:
        `[batch]`, in the unit of the durations.
    """
    delay = prepared.schedule.pipeline.p2p_time if p2p_time is None else p2p_time
    lengths = _class_lengths(prepared, durations)
    if len(durations) <= FEW:
        return np.array([max(_ends_one_by_one(prepared, column, delay)) for column in lengths.T])
    return _step_times_by_level(prepared, lengths, delay)


def _class_lengths(prepared: PreparedSchedule, durations: Floats) -> Floats:
    """`[class][batch]`. Two ops that start together take the longer one and what η leaves of the shorter one."""
    flat = durations.reshape(len(durations), -1).T
    first, second = prepared.class_ops
    lengths: Floats = flat[first]
    pairs = np.flatnonzero(second >= 0)
    if len(pairs):
        a, b = lengths[pairs], flat[second[pairs]]
        exposed = 1.0 - prepared.schedule.pipeline.overlap_efficiency
        lengths[pairs] = np.maximum(a, b) + exposed * np.minimum(a, b)
    return np.ascontiguousarray(lengths)


def _ends_one_by_one(prepared: PreparedSchedule, lengths: Floats, delay: float) -> list[float]:
    """`[row]` and the extra row: one set of durations, lists instead of arrays."""
    nothing = prepared.num_slots
    ends = [0.0] * (nothing + 1)
    delays = np.where(prepared.needed < nothing, delay, 0.0)
    columns = (
        prepared.previous.tolist(),
        prepared.needed[0].tolist(),
        delays[0].tolist(),
        lengths[prepared.duration_class].tolist(),
    )
    if (prepared.needed[1] == nothing).all():
        for row, (before, needed, late, length) in enumerate(zip(*columns, strict=True)):
            ready, data = ends[before], ends[needed] + late
            ends[row] = (data if data > ready else ready) + length  # noqa: FURB136 (max() halves the speed)
        return ends
    others = prepared.needed[1].tolist(), delays[1].tolist()
    for row, (before, needed, late, length, also, also_late) in enumerate(zip(*columns, *others, strict=True)):
        ends[row] = max(ends[before], ends[needed] + late, ends[also] + also_late) + length
    return ends


def _step_times_by_level(prepared: PreparedSchedule, lengths: Floats, delay: float) -> Floats:
    """`[batch]`: all slots of a level in one go.

    Ends live in a ring of rows just long enough for the farthest look back: fresh memory would cost more than the
    arithmetic (65,536 slots × 256 sets of durations are 134 MB).
    """
    nothing = prepared.num_slots
    rows = np.arange(nothing)
    bounds = prepared.levels.tolist()
    sources = np.vstack([prepared.previous, prepared.needed])
    real = sources < nothing
    size = max(int(np.where(real, rows - sources, 0).max(initial=0)), int(np.diff(prepared.levels).max(initial=0)))
    ends = np.zeros((size + 1, lengths.shape[1]))
    sources = np.where(real, sources % size, size)
    delays = np.where(real, delay, 0.0)[:, :, np.newaxis]
    inputs = (1, 2) if real[2].any() else (1,)
    last_of_stage = np.setdiff1d(rows, prepared.previous)
    closing = set(np.searchsorted(prepared.levels, last_of_stage, side="right").tolist())

    step_time = np.zeros(lengths.shape[1])
    for level, (low, high) in enumerate(pairwise(bounds), start=1):
        block = ends[sources[0, low:high]]
        for which in inputs:
            data = ends[sources[which, low:high]]
            if delay:
                data += delays[which, low:high]
            np.maximum(block, data, out=block)
        block += lengths[prepared.duration_class[low:high]]
        ends[rows[low:high] % size] = block
        if level in closing:
            np.maximum(step_time, block.max(axis=0), out=step_time)
    return step_time
