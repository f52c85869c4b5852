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
    kind_index = {kind: k for k, kind in enumerate(OP_KINDS)}
    rows = []
    for s, (slots, (warm_up, before_cool_down)) in enumerate(zip(schedule.slots, schedule.phases(), strict=True)):
        for i, slot in enumerate(slots):
            slot_phase = 0 if i < warm_up else 1 if i < before_cool_down else 2
            places = (ALONE,) if len(slot.ops) == 1 else (UPPER, LOWER)
            rows += [
                (s, kind_index[op.kind], op.chunk, op.micro_batch, op.sequence_split, place, slot_phase, i)
                for op, place in zip(slot.ops, places, strict=True)
            ]
    table = np.array(rows, dtype=np.int32).reshape(-1, 8)
    first_slot = np.cumsum([0, *(len(slots) for slots in schedule.slots)])
    position = first_slot[table[:, 0]] + table[:, 7]
    starts, ends = (
        np.fromiter(chain.from_iterable(times), dtype=np.float64)[position]
        for times in (evaluation.timeline.starts, evaluation.timeline.ends)
    )
    stage, kind, chunk, micro_batch, split, half, phase = (np.ascontiguousarray(column) for column in table.T[:7])
    return Blocks(stage, kind, chunk, micro_batch, split, half, phase, starts, ends)
