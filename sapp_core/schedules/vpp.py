"""Interleaved 1F1B (virtual pipeline parallelism): each stage holds several chunks and takes micro-batches in groups.

Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM" (arXiv 2104.04473).
The less-memory form starts its backwards earlier, as the SAPP simulator does: lower peak, more bubbles.
"""

from collections.abc import Iterator

from sapp_core.domain.pipeline import Pipeline, Remainder
from sapp_core.domain.schedule import Op, OpKind, Slot, single_slots
from sapp_core.schedules.one_f_one_b import alternate


def vpp(pipeline: Pipeline) -> tuple[tuple[Slot, ...], ...]:
    """`[stage][slot]`; warm-up 2(S−s−1) + (V−1)·(first group)."""
    return _interleaved(pipeline, steps_per_stage=2)


def vpp_less_memory(pipeline: Pipeline) -> tuple[tuple[Slot, ...], ...]:
    """`[stage][slot]`; warm-up (S−s−1) + (V−1)·(first group)."""
    return _interleaved(pipeline, steps_per_stage=1)


def groups(pipeline: Pipeline) -> tuple[range, ...]:
    """Micro-batches that go through the chunks together.

    Groups have `group_size` micro-batches (S when not set). What is left over makes a short last group, or
    makes the first group longer; fewer micro-batches than one group are one group.
    """
    count = pipeline.num_micro_batches
    size = min(pipeline.group_size or pipeline.num_stages, count)
    first = size + count % size if pipeline.remainder is Remainder.FIRST else size
    starts = (0, *range(first, count, size))
    return tuple(range(a, b) for a, b in zip(starts, (*starts[1:], count), strict=True))


def _interleaved(pipeline: Pipeline, steps_per_stage: int) -> tuple[tuple[Slot, ...], ...]:
    last = pipeline.num_chunks - 1
    forwards = tuple(_grouped(OpKind.F, pipeline, range(last + 1)))
    backwards = tuple(_grouped(OpKind.B, pipeline, range(last, -1, -1)))
    first_group = len(groups(pipeline)[0])
    return tuple(
        single_slots(
            alternate(
                forwards,
                backwards,
                warm_up=steps_per_stage * (pipeline.num_stages - 1 - stage) + last * first_group,
            )
        )
        for stage in range(pipeline.num_stages)
    )


def _grouped(kind: OpKind, pipeline: Pipeline, chunks: range) -> Iterator[Op]:
    return (Op(kind, chunk, m) for group in groups(pipeline) for chunk in chunks for m in group)


def group_problems(pipeline: Pipeline) -> list[str]:
    """Sentences on a group size that cannot run; empty when it can."""
    stages, count, size = pipeline.num_stages, pipeline.num_micro_batches, pipeline.group_size
    if size is None or stages <= size <= count:
        return []
    legal = (
        f"choose from {stages} to {count}"
        if count >= stages
        else f"leave it out, or take at least {stages} micro-batches"
    )
    rule = f"must lie between the number of stages ({stages}) and the number of micro-batches ({count})"
    return [f"group_size: {rule}, found {size}; {legal}."]


def vpp_problems(pipeline: Pipeline) -> list[str]:
    """Sentences on settings whose order would wait for itself; empty when it runs.

    A short last group of r micro-batches leaves too few forwards between the last full group and the first
    backwards when 1 ≤ r ≤ 2S − g − 3 (2 ≤ r with two chunks), g being the group size. The bound was found by running
    every combination of S ≤ 12, V ≤ 6, S ≤ g ≤ 2S+2, g ≤ M ≤ 2g, where it is exact; the longer first group
    (`remainder: first`) never has the problem.
    """
    problems = group_problems(pipeline)
    if problems or pipeline.remainder is Remainder.FIRST or pipeline.num_chunks == 1:
        return problems
    stages, count = pipeline.num_stages, pipeline.num_micro_batches
    size = pipeline.group_size or stages
    shortest, longest = (2 if pipeline.num_chunks == 2 else 1), 2 * stages - size - 3
    rest = count % size
    if count < size or not shortest <= rest <= longest:
        return []
    below, above = count - rest + shortest - 1, count - rest + longest + 1
    found = f"{count} leaves a last group of {rest}, with which {stages} stages of {pipeline.num_chunks} chunks would"
    return [f"num_micro_batches: {found} wait for each other; take {below} or {above}, or set remainder to first."]
