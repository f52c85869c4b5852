"""Interleaved zero bubble: interleaved 1F1B with split backwards, whose weight gradients fill the bubbles.

Qi et al., "Zero Bubble Pipeline Parallelism" (arXiv 2401.10241), in the form of PyTorch's `InterleavedZeroBubble`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.schedule import Op, OpKind, Slot, single_slots
from sapp_core.schedules.vpp import vpp_less_memory


def interleaved_zb(pipeline: Pipeline) -> tuple[tuple[Slot, ...], ...]:
    """`[stage][slot]`; the order of less-memory VPP, each B becomes I, and stage s is s weight gradients behind.

    Without a `group_size`, micro-batches go in ⌊M/S⌋ equal groups, as in PyTorch; when that does not come out even,
    in groups of S with a `remainder`, which PyTorch refuses.
    """
    rounds = max(1, pipeline.num_micro_batches // pipeline.num_stages)
    size, rest = divmod(pipeline.num_micro_batches, rounds)
    if pipeline.group_size is None and rest == 0:
        pipeline = replace(pipeline, group_size=size)
    return tuple(
        single_slots(_split((op for slot in slots for op in slot.ops), behind=stage))
        for stage, slots in enumerate(vpp_less_memory(pipeline))
    )


def _split(ops: Iterable[Op], behind: int) -> Iterator[Op]:
    """Each backward as I, and W of the one `behind` places before it; the last ones at the end."""
    waiting: list[Op] = []
    for op in ops:
        if op.kind is OpKind.F:
            yield op
            continue
        yield replace(op, kind=OpKind.I)
        waiting.append(replace(op, kind=OpKind.W))
        if len(waiting) > behind:
            yield waiting.pop(0)
    yield from waiting
