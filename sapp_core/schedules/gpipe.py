"""GPipe: all forwards, then all backwards.

Huang et al., "GPipe: Efficient Training of Giant Neural Networks using Pipeline Parallelism" (arXiv 1811.06965).
"""

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.schedule import Op, OpKind, Slot, single_slots


def gpipe(pipeline: Pipeline) -> tuple[tuple[Slot, ...], ...]:
    """`[stage][slot]`; every stage has the same order."""
    order = single_slots(Op(kind, 0, m) for kind in (OpKind.F, OpKind.B) for m in range(pipeline.num_micro_batches))
    return (order,) * pipeline.num_stages
