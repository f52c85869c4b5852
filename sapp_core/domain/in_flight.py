"""How many micro-batches of each chunk are alive on a stage as it works through its order."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.schedule import OpKind, Slot


class Alive(NamedTuple):
    """What is alive just after one op has claimed or released memory.

    Attributes:
        slot: index of the op's slot on its stage.
        claims: True for a forward, which claims at the slot's start; all others release at its end.
        counts: `[chunk]`, micro-batches in flight; a sequence split counts as its share of a micro-batch.
    """

    slot: int
    claims: bool
    counts: tuple[float, ...]


def alive_after_each_op(slots: Sequence[Slot], pipeline: Pipeline) -> Iterator[Alive]:
    """Walk one stage's order.

    A forward adds its micro-batch, a full backward takes it away, an input gradient leaves the share
    `weight_gradient_memory_share` for its weight gradient. In a slot of two the forward comes first: both are alive.
    """
    splits, kept = pipeline.num_sequence_splits, pipeline.weight_gradient_memory_share
    # Whole numbers while walking, so that no rounding error piles up: forwards alive, and weight gradients to come.
    alive, pending = [0] * pipeline.num_chunks, [0] * pipeline.num_chunks
    counts = [0.0] * pipeline.num_chunks
    for index, slot in enumerate(slots):
        for op in slot.ops:
            if op.kind is OpKind.F:
                alive[op.chunk] += 1
            elif op.kind is OpKind.W:
                pending[op.chunk] -= 1
            else:
                alive[op.chunk] -= 1
                pending[op.chunk] += op.kind is OpKind.I
            counts[op.chunk] = (alive[op.chunk] + kept * pending[op.chunk]) / splits
            yield Alive(index, op.kind is OpKind.F, tuple(counts))
