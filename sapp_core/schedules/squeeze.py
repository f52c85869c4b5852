"""Squeezing a building block: a list scheduler that repeats the block and closes its gaps, within a memory cap.

A block repeated M times leaves stages idle while the pipeline fills and drains. So stages do not wait for the block's
slots: each takes the op that comes first in the block; when its data is not there yet, the next one that can start
("squeezing and reordering", Qi et al., arXiv 2405.15362, section 3). Memory is reserved: a forward may overtake only if
all ops before it in the block still fit into the cap. The block's own order therefore always stays possible, and no
stage can wait for ever.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from heapq import heappop, heappush
from itertools import accumulate, pairwise
from math import inf

from sapp_core.domain.schedule import OpKind
from sapp_core.schedules.building_block import BuildingBlock

KINDS = (OpKind.F, OpKind.I, OpKind.W)
"""Passes of a chunk. A stage numbers its passes `kind · V + chunk`; each runs its micro-batches in ascending order."""

StageOrder = list[int]
"""Passes of one stage, in order."""

NOTHING = -1
LATE = 1 << 40
"""Added to the slot of what should come after everything else."""


class WeightGradients(StrEnum):
    """When a stage runs its weight gradients.

    `BLOCK`: where the block has them, until the stage's last forward. `FILL`: only when the stage would idle or has no
    memory for the next forward (Qi et al., "Zero Bubble Pipeline Parallelism", arXiv 2401.10241).
    """

    BLOCK = "block"
    FILL = "fill"


@dataclass(frozen=True, slots=True)
class OpTimes:
    """How long every pass takes, and data from stage to stage.

    Attributes:
        passes: `[pass][stage]`.
        p2p_time: delay of data that crosses stages.
    """

    passes: tuple[tuple[float, ...], ...]
    p2p_time: float = 0.0

    @property
    def num_stages(self) -> int:
        """S."""
        return len(self.passes[0])

    @property
    def num_chunks(self) -> int:
        """V: 1, or 2 in a V placement."""
        return len(self.passes) // len(KINDS)


def squeeze(
    block: BuildingBlock, num_micro_batches: int, cap: int, times: OpTimes, weight_gradients: WeightGradients
) -> list[StageOrder]:
    """Order of every stage.

    Args:
        block: the order to follow.
        num_micro_batches: how often it repeats.
        cap: chunk activations in flight that each stage has room for, at least the block's own peak.
        times: of the ops; they decide what is ready when.
        weight_gradients: when they run.
    """
    starts = zip(*block.forward, *block.input_gradient, *block.weight_gradient, strict=True)
    stages = [_Stage(of_stage, block.period, num_micro_batches, cap) for of_stage in starts]
    if weight_gradients is WeightGradients.FILL:
        for stage in stages:
            stage.postpone_weight_gradients()
    follows = followers(times)
    stages[0].arrivals[0] = [0.0] * num_micro_batches
    wake_ups = [(0.0, 0)]
    while wake_ups:
        now, number = heappop(wake_ups)
        stage = stages[number]
        if stage.busy_until > now:
            continue
        pass_ = stage.choose(now)
        if pass_ == NOTHING:
            continue
        stage.run(pass_)
        end = stage.busy_until = now + times.passes[pass_][number]
        heappush(wake_ups, (end, number))
        for receiver, received, delay in follows[pass_][number]:
            stages[receiver].arrivals[received].append(end + delay)
            if receiver != number and stages[receiver].busy_until <= end + delay:
                heappush(wake_ups, (end + delay, receiver))
    return [stage.order for stage in stages]


def finish_time(orders: Sequence[StageOrder], times: OpTimes) -> float:
    """When the last op ends if every stage keeps its order and starts each op as soon as it can."""
    follows = followers(times)
    arrivals: list[list[list[float]]] = [[[] for _ in times.passes] for _ in orders]
    arrivals[0][0] = [0.0] * len(orders[0])
    done = [[0] * len(times.passes) for _ in orders]
    position, clock = [0] * len(orders), [0.0] * len(orders)
    waiting = [0]
    while waiting:
        number = waiting.pop()
        order, now = orders[number], clock[number]
        for index in range(position[number], len(order)):
            pass_ = order[index]
            ready, micro_batch = arrivals[number][pass_], done[number][pass_]
            if micro_batch == len(ready):
                position[number] = index
                break
            now = max(now, ready[micro_batch]) + times.passes[pass_][number]
            done[number][pass_] += 1
            for receiver, received, delay in follows[pass_][number]:
                arrivals[receiver][received].append(now + delay)
                if receiver != number:
                    waiting.append(receiver)
        else:
            position[number] = len(order)
        clock[number] = now
    return max(clock)


def followers(times: OpTimes) -> list[list[list[tuple[int, int, float]]]]:
    """`[pass][stage]` → (stage, pass, delay) of each op that needs its result."""
    chunks, down = times.num_chunks, range(times.num_stages)
    forwards = [(chunk, stage) for chunk in range(chunks) for stage in (down[::-1] if chunk else down)]
    input_gradients = [(chunks + chunk, stage) for chunk, stage in reversed(forwards)]
    follows: list[list[list[tuple[int, int, float]]]] = [[[] for _ in down] for _ in times.passes]
    for (pass_, stage), (next_pass, next_stage) in pairwise(forwards + input_gradients):
        follows[pass_][stage].append((next_stage, next_pass, times.p2p_time if stage != next_stage else 0.0))
    for pass_, stage in input_gradients:
        follows[pass_][stage].append((stage, pass_ + chunks, 0.0))
    return follows


class _Stage:
    """What one stage has done, what has arrived, and which slot of the block each pass is at."""

    def __init__(self, starts: Sequence[int], period: int, num_micro_batches: int, cap: int) -> None:
        passes = range(len(starts))
        self.slot: list[float] = list(starts)
        self.arrivals: list[list[float]] = [[] for _ in passes]
        self.done = [0 for _ in passes]
        self.order: StageOrder = []
        self.busy_until = 0.0
        self.in_flight = 0
        self.period = period
        self.num_micro_batches = num_micro_batches
        self.cap = cap
        self.chunks = len(starts) // len(KINDS)
        self.forwards = range(self.chunks)
        self.weight_gradients = range(2 * self.chunks, 3 * self.chunks)

    def postpone_weight_gradients(self) -> None:
        """Let them come after all else."""
        for pass_ in self.weight_gradients:
            self.slot[pass_] += LATE

    def run(self, pass_: int) -> None:
        """Count the next micro-batch of a pass as done."""
        self.order.append(pass_)
        self.done[pass_] += 1
        self.slot[pass_] += self.period
        if self.done[pass_] == self.num_micro_batches:
            self.slot[pass_] = inf
            if pass_ in self.forwards and all(self.done[p] == self.num_micro_batches for p in self.forwards):
                self.postpone_weight_gradients()
        if pass_ in self.forwards:
            self.in_flight += 1
        elif pass_ in self.weight_gradients:
            self.in_flight -= 1

    def choose(self, now: float) -> int:
        """The pass to run now; NOTHING to wait."""
        first = self.slot.index(min(self.slot))
        if self._has_arrived(first, now):
            full = first in self.forwards and self.in_flight == self.cap
            return self._oldest_weight_gradient() if full else first
        for pass_ in sorted(range(len(self.slot)), key=self.slot.__getitem__):
            if self._has_arrived(pass_, now) and (pass_ not in self.forwards or self._may_overtake(pass_)):
                return pass_
        return NOTHING

    def _has_arrived(self, pass_: int, now: float) -> bool:
        arrivals, done = self.arrivals[pass_], self.done[pass_]
        return done < len(arrivals) and arrivals[done] <= now

    def _oldest_weight_gradient(self) -> int:
        """There is one whenever memory is full: without those put off, the block stays within the cap."""
        pending = [p for p in self.weight_gradients if self.done[p] < len(self.arrivals[p])]
        return min(pending, key=self.slot.__getitem__)

    def _may_overtake(self, forward: int) -> bool:
        """Whether a forward done now leaves room for all that comes before it in the block."""
        in_flight = self.in_flight + 1
        if in_flight > self.cap:
            return False
        overtaken = sorted(
            (slot, change)
            for passes, change in ((self.forwards, 1), (self.weight_gradients, -1))
            for pass_ in passes
            if pass_ != forward
            for slot in self._slots_before(pass_, self.slot[forward])
        )
        return max(accumulate((change for _, change in overtaken), initial=in_flight)) <= self.cap

    def _slots_before(self, pass_: int, limit: float) -> range:
        slot, left = self.slot[pass_], self.num_micro_batches - self.done[pass_]
        if slot >= limit:
            return range(0)
        return range(int(slot), min(int(limit), int(slot) + left * self.period), self.period)
