"""1F1B: after its warm-up a stage alternates one forward and one backward, so activations stay bounded by the stages.

Narayanan et al., "Memory-Efficient Pipeline-Parallel DNN Training" (PipeDream-Flush, arXiv 2006.09503).
"""

from collections.abc import Iterator, Sequence

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.schedule import Op, OpKind, Slot, single_slots


def one_f_one_b(pipeline: Pipeline) -> tuple[tuple[Slot, ...], ...]:
    """`[stage][slot]`; stage s warms up with min(S−1−s, M) forwards."""
    micro_batches = range(pipeline.num_micro_batches)
    forwards = tuple(Op(OpKind.F, 0, m) for m in micro_batches)
    backwards = tuple(Op(OpKind.B, 0, m) for m in micro_batches)
    return tuple(
        single_slots(alternate(forwards, backwards, warm_up=pipeline.num_stages - 1 - stage))
        for stage in range(pipeline.num_stages)
    )


def alternate(forwards: Sequence[Op], backwards: Sequence[Op], warm_up: int) -> Iterator[Op]:
    """Warm-up forwards (capped by all of them), then F B F B …, then the backwards that are left."""
    warm_up = min(warm_up, len(forwards))
    yield from forwards[:warm_up]
    steady = len(forwards) - warm_up
    for forward, backward in zip(forwards[warm_up:], backwards, strict=False):
        yield forward
        yield backward
    yield from backwards[steady:]
