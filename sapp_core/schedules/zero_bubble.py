"""Zero-bubble schedules: split backwards, whose weight gradients fill bubbles, under a cap of activation memory.

One chunk a stage: ZB-1p and ZB-2p (Qi et al., "Zero Bubble Pipeline Parallelism", arXiv 2401.10241). Two chunks in a V
placement: ZB-V, V-Half and V-Min (Qi et al., "Pipeline Parallelism with Controllable Memory", arXiv 2405.15362, with
the V-shaped building blocks and the caps). An activation is in flight from its F to the end of its W.

The planner squeezes the building block in several ways and keeps the order that ends first. It looks at times: a
generator plans for ops of equal length without transfers; `plan` does it again for others.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from types import MappingProxyType

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.schedule import OP_KINDS, Op, Slot
from sapp_core.schedules.building_block import building_block
from sapp_core.schedules.squeeze import KINDS, OpTimes, StageOrder, WeightGradients, finish_time, squeeze

STEADY = 64
"""Ways to plan are compared on 2S micro-batches, which fill and drain the pipeline, and this many in between."""


@dataclass(frozen=True, slots=True)
class ZeroBubbleRule:
    """What makes one of these schedules.

    Attributes:
        offsets: of the building block's legs, (F, I) or (F0, F1, I1, I0).
        cap: S → chunk activations in flight that every stage has room for.
    """

    offsets: tuple[int, ...]
    cap: Callable[[int], int]


ZB_1P = ZeroBubbleRule((1, 2), lambda stages: stages)
ZB_2P = ZeroBubbleRule((3, 3), lambda stages: 2 * stages)
ZBV = ZeroBubbleRule((4, 2, 4, 2), lambda stages: 2 * stages)
V_HALF = ZeroBubbleRule((2, 1, 2, 1), lambda stages: 2 * ((stages + 2) // 2))
V_MIN = ZeroBubbleRule((1, 1, 1, 1), lambda stages: 2 * ((stages + 4) // 3))

PLANNED: Mapping[str, ZeroBubbleRule] = MappingProxyType(
    {"zb-1p": ZB_1P, "zb-2p": ZB_2P, "zbv": ZBV, "v-half": V_HALF, "v-min": V_MIN}
)
"""By name, the schedules whose order `plan` can make again for a plan's own times."""


def zb_1p(pipeline: Pipeline) -> tuple[tuple[Slot, ...], ...]:
    """`[stage][slot]`; the memory of 1F1B on every stage: S micro-batches."""
    return plan(ZB_1P, pipeline, _unit_times(pipeline))


def zb_2p(pipeline: Pipeline) -> tuple[tuple[Slot, ...], ...]:
    """`[stage][slot]`; twice the memory of 1F1B, 2S micro-batches: slower transfers hardly delay it."""
    return plan(ZB_2P, pipeline, _unit_times(pipeline))


def zbv(pipeline: Pipeline) -> tuple[tuple[Slot, ...], ...]:
    """`[stage][slot]`; the memory of 1F1B, 2S chunks of half a stage each, and no bubble but filling and draining.

    From M = 2S − 1 on it is the order of PyTorch's `ZBVZeroBubble`; for fewer micro-batches that one leaves holes.
    """
    stages, micro_batches = pipeline.num_stages, pipeline.num_micro_batches
    if micro_batches < 2 * stages - 1:
        return plan(ZBV, pipeline, _unit_times(pipeline))
    return _slots([_zbv_by_rule(stage, stages, micro_batches) for stage in range(stages)], pipeline)


def v_half(pipeline: Pipeline) -> tuple[tuple[Slot, ...], ...]:
    """`[stage][slot]`; half the memory of 1F1B: ⌊(S+2)/2⌋ micro-batches, which is twice as many chunks."""
    return plan(V_HALF, pipeline, _unit_times(pipeline))


def v_min(pipeline: Pipeline) -> tuple[tuple[Slot, ...], ...]:
    """`[stage][slot]`; a third of the memory of 1F1B: ⌊(S+4)/3⌋ micro-batches, which is twice as many chunks."""
    return plan(V_MIN, pipeline, _unit_times(pipeline))


def plan(rule: ZeroBubbleRule, pipeline: Pipeline, times: OpTimes) -> tuple[tuple[Slot, ...], ...]:
    """`[stage][slot]`, the best order found for ops of these times.

    The block is squeezed not only with the times asked for. For ops of equal length its slots fit together best, and
    without transfers no stage puts a long op before data that comes a little later.

    Args:
        rule: offsets and cap.
        pipeline: its sizes; chunks and placement are the rule's.
        times: of the ops, in any unit, and of transfers, in the same one.
    """
    cap = rule.cap(pipeline.num_stages)
    block = building_block(pipeline.num_stages, rule.offsets, cap)
    micro_batches = pipeline.num_micro_batches
    few = min(micro_batches, 2 * pipeline.num_stages + STEADY)
    views = dict.fromkeys((_unit_times(pipeline), replace(times, p2p_time=0.0), times))

    tried = [(way, squeeze(block, few, cap, *way)) for way in product(views, WeightGradients)]
    # Of orders that end together this takes the first: as regular as the block, it suffers least from late data.
    way, orders = min(tried, key=lambda trial: finish_time(trial[1], times))
    return _slots(orders if few == micro_batches else squeeze(block, micro_batches, cap, *way), pipeline)


def op_times(durations: Sequence[Sequence[Sequence[float]]], p2p_time: float) -> OpTimes:
    """Times for `plan` from `[kind][chunk][stage]`, kinds as in `OP_KINDS` (full backwards do not occur)."""
    by_kind = (durations[OP_KINDS.index(kind)] for kind in KINDS)
    return OpTimes(tuple(tuple(map(float, stages)) for chunks in by_kind for stages in chunks), float(p2p_time))


def _unit_times(pipeline: Pipeline) -> OpTimes:
    return OpTimes(((1.0,) * pipeline.num_stages,) * (len(KINDS) * pipeline.num_chunks))


def _zbv_by_rule(stage: int, num_stages: int, num_micro_batches: int) -> StageOrder:
    """PyTorch's order of one stage, for M ≥ 2S − 1."""
    f0, f1, i0, i1, w0, w1 = range(6)
    below = num_stages - stage
    # Chunk 0 is ahead of chunk 1 by the way down and up again, so its forwards end earlier.
    steady = num_micro_batches - num_stages
    with_forward = steady - below + 1
    warm_up = [f0] * (2 * below - 1) + [f1, f0] * stage + [f1, i1, w1] * below
    middle = [f0, i0, w0, f1, i1, w1] * with_forward + [i0, w0, f1, i1, w1] * (steady - with_forward)
    cool_down = [i0, i1] * stage + [i0, w0] * below + [w1] * stage + [w0] * stage
    return warm_up + middle + cool_down


def _slots(orders: Sequence[StageOrder], pipeline: Pipeline) -> tuple[tuple[Slot, ...], ...]:
    """Every pass runs its micro-batches in ascending order."""
    micro_batches, chunks = range(pipeline.num_micro_batches), range(pipeline.num_chunks)
    by_pass = [[Slot((Op(kind, chunk, m),)) for m in micro_batches] for kind in KINDS for chunk in chunks]

    def of_stage(order: StageOrder) -> tuple[Slot, ...]:
        upcoming = [iter(slots) for slots in by_pass]
        return tuple(next(upcoming[pass_]) for pass_ in order)

    return tuple(map(of_stage, orders))
