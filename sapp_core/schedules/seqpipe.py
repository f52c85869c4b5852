"""SeqPipe (Seq1F1B): micro-batches are cut along the sequence, and each split runs as its own unit of 1F1B.

Sun et al., "Seq1F1B: Efficient Sequence-Level Pipeline Parallelism for Large Language Model Training"
(arXiv 2406.03488). Causal attention fixes the order inside a micro-batch: forwards take its splits ascending,
backwards descending.
"""

from collections.abc import Iterator

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.schedule import Op, OpKind, Slot, single_slots
from sapp_core.schedules.one_f_one_b import alternate


def seqpipe(pipeline: Pipeline) -> tuple[tuple[Slot, ...], ...]:
    """`[stage][slot]`; stage s warms up with min(S−1−s + K−1, M·K) forwards of splits."""
    stages = pipeline.num_stages
    micro_batches = range(pipeline.num_micro_batches)
    forwards = tuple(_units(OpKind.F, 0, micro_batches, pipeline))
    backwards = tuple(_units(OpKind.B, 0, micro_batches, pipeline))
    extra = pipeline.num_sequence_splits - 1
    return tuple(
        single_slots(alternate(forwards, backwards, warm_up=stages - 1 - stage + extra)) for stage in range(stages)
    )


def seqpipe_vpp(pipeline: Pipeline) -> tuple[tuple[Slot, ...], ...]:
    """`[stage][slot]`, interleaved: groups of S units go through the chunks, warm-up (V−1)S + 2(S−s−1) + K−1.

    With as many micro-batches as stages all forwards come first, as in the reference.
    """
    stages, last = pipeline.num_stages, pipeline.num_chunks - 1
    forwards = tuple(_grouped(OpKind.F, range(last + 1), pipeline))
    backwards = tuple(_grouped(OpKind.B, range(last, -1, -1), pipeline))
    all_first = pipeline.num_micro_batches == stages
    return tuple(
        single_slots(
            alternate(
                forwards,
                backwards,
                warm_up=len(forwards)
                if all_first
                else last * stages + 2 * (stages - 1 - stage) + pipeline.num_sequence_splits - 1,
            )
        )
        for stage in range(stages)
    )


def seqpipe_vpp_problems(pipeline: Pipeline) -> list[str]:
    """Sentences on settings the interleaved form cannot run; empty when it can."""
    stages, count, splits = pipeline.num_stages, pipeline.num_micro_batches, pipeline.num_sequence_splits
    problems = []
    if count % stages:
        below = f"{count - count % stages} or " if count > stages else ""
        problems.append(
            f"num_micro_batches: seqpipe-vpp needs a multiple of the {stages} stages, found {count}; "
            f"take {below}{count - count % stages + stages}."
        )
    if stages % splits:
        divisors = [d for d in range(1, stages + 1) if stages % d == 0]
        nearest = sorted({max(d for d in divisors if d < splits), *[d for d in divisors if d > splits][:1]})
        problems.append(
            f"num_sequence_splits: seqpipe-vpp needs a divisor of the {stages} stages, found {splits}; "
            f"take {' or '.join(map(str, nearest))}."
        )
    return problems


def _units(kind: OpKind, chunk: int, micro_batches: range, pipeline: Pipeline) -> Iterator[Op]:
    splits = range(pipeline.num_sequence_splits)
    order = splits if kind is OpKind.F else reversed(splits)
    turn = tuple(order)
    return (Op(kind, chunk, m, q) for m in micro_batches for q in turn)


def _grouped(kind: OpKind, chunks: range, pipeline: Pipeline) -> Iterator[Op]:
    size = pipeline.num_stages // pipeline.num_sequence_splits
    for first in range(0, pipeline.num_micro_batches, size):
        for chunk in chunks:
            yield from _units(kind, chunk, range(first, first + size), pipeline)
