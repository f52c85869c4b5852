"""Building blocks: one micro-batch's passes over all stages, repeated every period, make a whole schedule.

Qi et al., "Pipeline Parallelism with Controllable Memory" (arXiv 2405.15362). Time is counted in slots of one op. A
micro-batch runs through *legs*: its forwards chunk by chunk, then its input gradients back. Each leg passes the stages
one after the other, `offset` slots apart, and after the turn at its end the next leg comes back the other way. The
offsets decide how long activations live, hence the memory: a micro-batch's lifespan divided by the period is the
number of micro-batches in flight.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

Slots = tuple[tuple[int, ...], ...]
"""`[chunk][stage]`, slots after the micro-batch's first forward."""


@dataclass(frozen=True, slots=True)
class BuildingBlock:
    """When each pass of the first micro-batch starts; the m-th one's start `m · period` slots later.

    Attributes:
        period: slots from one micro-batch to the next: three passes for each chunk.
        forward: start of F.
        input_gradient: start of I.
        weight_gradient: start of W, in the first free slot after its I.
    """

    period: int
    forward: Slots
    input_gradient: Slots
    weight_gradient: Slots


def building_block(num_stages: int, offsets: Sequence[int], cap: int) -> BuildingBlock:
    """The block with these offsets that uses a memory cap best.

    What is free is how many slots a micro-batch rests at each turn. No two passes of a stage may fall on the same slot
    of the period, and no more than `cap` chunk activations may be in flight. Among the turns that allow it, the one at
    the loss takes what memory is left, because a wait there is a reserve against late data; the others are short.

    Args:
        num_stages: S.
        offsets: slots from stage to stage, of each leg: (F, I), or (F0, F1, I1, I0) in a V placement.
        cap: chunk activations in flight that each stage has room for.

    Raises:
        ValueError: no block fits; the caps of `zero_bubble` leave room for one at every number of stages.
    """
    num_chunks = len(offsets) // 2
    period = 3 * num_chunks
    at_loss = num_chunks - 1

    def preference(turns: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
        return -turns[at_loss], sum(turns), turns

    for turns in sorted(product(range(1, period + 1), repeat=len(offsets) - 1), key=preference):
        legs = _legs(num_stages, offsets, turns)
        if _collides(legs, period):
            continue
        block = _with_weight_gradients(legs, period)
        if peak(block) <= cap:
            return block
    raise ValueError(f"no building block of offsets {tuple(offsets)} fits {cap} activations on {num_stages} stages")


def peak(block: BuildingBlock) -> int:
    """Most chunk activations in flight on any stage, from F to the end of W, when the block repeats for ever."""
    return max(
        # Each lifespan that began up to now, less those whose W came before now.
        sum((now - start) // block.period - (now - end) // block.period for start, end in lifespans)
        for lifespans in _lifespans(block)
        for now, _ in lifespans
    )


def _lifespans(block: BuildingBlock) -> Iterator[tuple[tuple[int, int], ...]]:
    """`[stage][chunk]`, slots of F and W."""
    for stage in range(len(block.forward[0])):
        yield tuple(
            (starts[stage], ends[stage]) for starts, ends in zip(block.forward, block.weight_gradient, strict=True)
        )


def _legs(num_stages: int, offsets: Sequence[int], turns: tuple[int, ...]) -> Slots:
    """`[leg][stage]`, start of each pass; legs go up and down the stages in turn."""
    legs, start = [], 0
    for number, (offset, turn) in enumerate(zip(offsets, (*turns, 0), strict=True)):
        passes = tuple(start + offset * step for step in range(num_stages))
        legs.append(passes if number % 2 == 0 else passes[::-1])
        start += offset * (num_stages - 1) + turn
    return tuple(legs)


def _collides(legs: Slots, period: int) -> bool:
    # A leg moves by its offset from stage to stage, so after `period` stages all slots of the period are back.
    stages = list(zip(*legs, strict=True))[:period]
    return any(len({start % period for start in stage}) < len(stage) for stage in stages)


def _with_weight_gradients(legs: Slots, period: int) -> BuildingBlock:
    num_chunks = len(legs) // 2
    forward, input_gradient = legs[:num_chunks], legs[: num_chunks - 1 : -1]
    weight_gradient = []
    for stage in zip(*legs, strict=True):
        taken = {start % period for start in stage}
        starts = []
        for start in stage[num_chunks:]:
            free = next(slot for slot in range(start + 1, start + period) if slot % period not in taken)
            taken.add(free % period)
            starts.append(free)
        weight_gradient.append(tuple(reversed(starts)))
    return BuildingBlock(period, forward, input_gradient, tuple(zip(*weight_gradient, strict=True)))
