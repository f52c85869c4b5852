"""How many micro-batches of each chunk are alive on a stage as it works through its order."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.schedule import OpKind, Slot


@dataclass(frozen=True, slots=True, eq=False)
class InFlight:
    """What is alive on one stage just after each of its ops has claimed or released memory.

    Attributes:
        slots: `[op]`, index of the op's slot on its stage.
        claims: `[op]`, True for a forward, which claims at the slot's start; all others release at its end.
        counts: `[op][chunk]`, micro-batches in flight; a sequence split counts as its share of a micro-batch.
    """

    slots: NDArray[np.intp]
    claims: NDArray[np.bool_]
    counts: NDArray[np.float64]


def in_flight(slots: Sequence[Slot], pipeline: Pipeline) -> InFlight:
    """Walk one stage's order.

    A forward adds its micro-batch, a full backward takes it away, an input gradient leaves the share
    `weight_gradient_memory_share` for its weight gradient. In a slot of two the forward comes first: both are alive.
    """
    ops = [op for slot in slots for op in slot.ops]
    chunks = np.fromiter((op.chunk for op in ops), np.intp, len(ops))
    forwards, fulls, inputs, weights = (
        np.fromiter((op.kind is kind for op in ops), np.bool_, len(ops))
        for kind in (OpKind.F, OpKind.B, OpKind.I, OpKind.W)
    )

    def running(change: NDArray[np.int8]) -> NDArray[np.int64]:
        steps = np.zeros((len(ops), pipeline.num_chunks), dtype=np.int64)
        steps[np.arange(len(ops)), chunks] = change
        return steps.cumsum(axis=0)

    # Whole numbers while adding up, so that no rounding error piles up: forwards alive, weight gradients to come.
    alive = running(forwards.astype(np.int8) - fulls - inputs)
    pending = running(inputs.astype(np.int8) - weights)
    return InFlight(
        slots=np.repeat(np.arange(len(slots)), [len(slot.ops) for slot in slots]),
        claims=forwards,
        counts=(alive + pipeline.weight_gradient_memory_share * pending) / pipeline.num_sequence_splits,
    )
