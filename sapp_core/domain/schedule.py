"""The order of work on every stage: no times."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from sapp_core.domain.pipeline import Pipeline


class OpKind(StrEnum):
    """Forward, full backward, and the two halves a backward can be split into (input and weight gradient)."""

    F = "F"
    B = "B"
    I = "I"
    W = "W"


OP_KINDS: tuple[OpKind, ...] = tuple(OpKind)
"""All kinds; the index `k` of every `[k]` is a position in this tuple."""


@dataclass(frozen=True, slots=True)
class Op:
    """One piece of work of one stage. In a bidirectional pipeline micro-batches are counted per chunk (direction)."""

    kind: OpKind
    chunk: int
    micro_batch: int
    sequence_split: int = 0

    @property
    def label(self) -> str:
        """Kind, chunk and micro-batch as text, and the split if it is not the first: `F0.3`, `F0.3.1`."""
        return f"{self.kind}{self.chunk}.{self.micro_batch}" + (
            f".{self.sequence_split}" if self.sequence_split else ""
        )


@dataclass(frozen=True, slots=True)
class Slot:
    """One op, or two that start together (an overlapped forward and backward, the forward first)."""

    ops: tuple[Op, ...]


class Phase(StrEnum):
    """The three phases of a stage's work."""

    WARM_UP = "warm-up"
    STEADY = "steady"
    COOL_DOWN = "cool-down"


@dataclass(frozen=True, slots=True)
class Schedule:
    """What each stage does, in order.

    Attributes:
        name: of the schedule family, as registered.
        pipeline: the sizes it was made for.
        slots: `[stage]`, each a sequence of slots.
    """

    name: str
    pipeline: Pipeline
    slots: tuple[tuple[Slot, ...], ...]

    @property
    def num_ops(self) -> int:
        """Ops of all stages together."""
        return sum(len(slot.ops) for stage in self.slots for slot in stage)

    def tokens(self) -> tuple[tuple[str, ...], ...]:
        """`[stage][slot]` as text: `F0.3` (chunk 0, micro-batch 3), `F0.3.1` (split 1), `F0.3+B1.2` (overlapped)."""
        splits = self.pipeline.num_sequence_splits > 1
        return tuple(tuple(_token(slot, splits=splits) for slot in stage) for stage in self.slots)

    def phases(self) -> tuple[tuple[int, int], ...]:
        """`[stage]` → (slots of the warm-up, slots before the cool-down).

        The warm-up ends before a stage's first backward, the cool-down starts after its last forward.
        """
        return tuple(_phase_limits(stage) for stage in self.slots)


def single_slots(ops: Iterable[Op]) -> tuple[Slot, ...]:
    """One slot for each op: the order of a stage that overlaps nothing."""
    return tuple(Slot((op,)) for op in ops)


def phase_of(slot_index: int, limits: tuple[int, int]) -> Phase:
    """Phase of a stage's slot, given that stage's entry of `Schedule.phases`."""
    warm_up, before_cool_down = limits
    if slot_index < warm_up:
        return Phase.WARM_UP
    return Phase.STEADY if slot_index < before_cool_down else Phase.COOL_DOWN


def _token(slot: Slot, *, splits: bool) -> str:
    return "+".join(
        f"{op.kind}{op.chunk}.{op.micro_batch}" + (f".{op.sequence_split}" if splits else "") for op in slot.ops
    )


def _phase_limits(stage: tuple[Slot, ...]) -> tuple[int, int]:
    backward = (i for i, slot in enumerate(stage) if any(op.kind is not OpKind.F for op in slot.ops))
    warm_up = next(backward, len(stage))
    after_it = (i for i in range(len(stage), 0, -1) if any(op.kind is OpKind.F for op in stage[i - 1].ops))
    before_cool_down = next(after_it, 0)
    # Without a steady phase (GPipe) both limits meet where the backwards begin.
    return warm_up, max(warm_up, before_cool_down)
