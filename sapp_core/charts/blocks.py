"""The ops of an evaluation as arrays, one entry an op: what timelines are drawn from."""

from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from sapp_core.domain.schedule import OP_KINDS
from sapp_core.domain.timeline import Evaluation

ALONE, UPPER, LOWER = 0, 1, 2
"""Where a block lies in its stage's lane: overlapped ops share a slot, one above the other."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """Ops as parallel arrays `[op]`, stage by stage and in each stage in the order of its work.

    Attributes:
        stage: of the op.
        kind: position in `OP_KINDS`.
        chunk: of the op.
        micro_batch: of the op.
        split: sequence split.
        half: `ALONE`, `UPPER` or `LOWER`.
        phase: 0 warm-up, 1 steady, 2 cool-down (order of `Phase`).
        start: in the profile's time unit.
        end: in the profile's time unit.
    """

    stage: NDArray[np.int32]
    kind: NDArray[np.int32]
    chunk: NDArray[np.int32]
    micro_batch: NDArray[np.int32]
    split: NDArray[np.int32]
    half: NDArray[np.int32]
    phase: NDArray[np.int32]
    start: NDArray[np.float64]
    end: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.stage)

    def where(self, chosen: NDArray[np.bool_]) -> "Blocks":
        """The blocks that a mask `[op]` chooses."""
        return Blocks(*(getattr(self, name)[chosen] for name in self.__slots__))

    def within(self, window: tuple[float, float]) -> "Blocks":
        """The blocks of which any part lies inside a time window."""
        return self.where(self._touch(window))

    def count_within(self, window: tuple[float, float]) -> int:
        """How many blocks `within` has."""
        return int(np.count_nonzero(self._touch(window)))

    def _touch(self, window: tuple[float, float]) -> NDArray[np.bool_]:
        return (self.end > window[0]) & (self.start < window[1])


def blocks_of(evaluation: Evaluation) -> Blocks:
    """All ops of an evaluation."""
    schedule = evaluation.schedule
    slots = [slot for of_stage in schedule.slots for slot in of_stage]
    ops = [op for slot in slots for op in slot.ops]
    per_stage = [len(of_stage) for of_stage in schedule.slots]
    stage_of_slot = np.repeat(np.arange(len(per_stage), dtype=np.int32), per_stage)
    number = np.arange(len(slots)) - np.repeat(np.cumsum([0, *per_stage[:-1]]), per_stage)
    warm_up, before_cool_down = np.array(schedule.phases(), dtype=np.int64).reshape(-1, 2)[stage_of_slot].T
    phase_of_slot = (number >= warm_up).astype(np.int32) + (number >= before_cool_down)

    sizes = np.fromiter((len(slot.ops) for slot in slots), np.int64, len(slots))
    slot_of_op = np.repeat(np.arange(len(slots)), sizes)
    place = np.arange(len(ops)) - (np.cumsum(sizes) - sizes)[slot_of_op]
    kind_index = {kind: k for k, kind in enumerate(OP_KINDS)}
    start, end = (
        np.fromiter(chain.from_iterable(times), np.float64, len(slots))[slot_of_op]
        for times in (evaluation.timeline.starts, evaluation.timeline.ends)
    )
    return Blocks(
        stage=stage_of_slot[slot_of_op],
        kind=np.fromiter((kind_index[op.kind] for op in ops), np.int32, len(ops)),
        chunk=np.fromiter((op.chunk for op in ops), np.int32, len(ops)),
        micro_batch=np.fromiter((op.micro_batch for op in ops), np.int32, len(ops)),
        split=np.fromiter((op.sequence_split for op in ops), np.int32, len(ops)),
        half=np.where(sizes[slot_of_op] == 1, ALONE, np.where(place == 0, UPPER, LOWER)).astype(np.int32),
        phase=phase_of_slot[slot_of_op],
        start=start,
        end=end,
    )
