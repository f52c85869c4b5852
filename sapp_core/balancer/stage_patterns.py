"""What one stage can do, listed, for profiles with a single body kind and one cell a stage.

Times depend on how many layers a stage holds and on their backward time together. So its list is short: for each number
of layers, the choice of recompute modes within its memory that takes least time.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sapp_core.balancer.plan_space import PlanSpace
from sapp_core.domain.profile import MODES
from sapp_core.domain.timeline import MEMORY_ROUNDING_MB


@dataclass(frozen=True, slots=True)
class Pattern:
    """One way to fill a stage.

    Attributes:
        layers: in its cell.
        backward: time of all of them, recomputation included.
        activation_mb: of all of them for one micro-batch.
        modes: `[mode]`, layers under each of the profile's modes.
    """

    layers: int
    backward: float
    activation_mb: float
    modes: tuple[int, ...]


def applies(space: PlanSpace) -> bool:
    """Whether stages are independent but for the number of layers: one body kind, one cell a stage."""
    return len(space.per_kind) == 1 and space.question.schedule.pipeline.num_chunks == 1


def stage_patterns(
    space: PlanSpace, step_time: float, stopped: Callable[[], bool] = lambda: False
) -> tuple[tuple[Pattern, ...], ...] | None:
    """`[stage]`, the patterns that a plan faster than a step time can use.

    Args:
        space: of plans, for which `applies` holds.
        step_time: of the best plan known.
        stopped: asked before each number of layers; True ends the listing, with None.
    """
    pipeline = space.question.schedule.pipeline
    (layer,) = space.question.profile.body
    # A stage works on one thing at a time, so its work alone must be done within the step. Pairs that overlap take
    # at least as long as the longer of the two.
    times = [layer.forward_time + layer.backward_time[r] for r in _modes(space)]
    least_work = pipeline.num_micro_batches * min(times) * (1 - pipeline.overlap_efficiency / 2)
    total = int(space.per_kind[0])
    most = total if least_work <= 0 else min(total, int(step_time / least_work))
    # The other stages can take no more than `most` each.
    fewest = max(0, total - most * (pipeline.num_stages - 1))
    found: list[list[Pattern]] = [[] for _ in range(pipeline.num_stages)]
    fillings = [Pattern(0, 0.0, 0.0, (0,) * len(times))]
    for count in range(most + 1):
        if stopped():
            return None
        if count:
            fillings = _one_more(space, fillings)
        for stage, patterns in enumerate(found):
            if max(fewest, int(space.least[stage])) <= count <= space.most[stage]:
                patterns.extend(_quickest_within(space, stage, fillings))
    return tuple(map(tuple, found))


def _modes(space: PlanSpace) -> list[int]:
    return [MODES.index(mode) for mode in space.question.profile.modes]


def _one_more(space: PlanSpace, patterns: list[Pattern]) -> list[Pattern]:
    """Patterns with one layer more, the quickest first; none is beaten by another."""
    (layer,) = space.question.profile.body
    grown = [
        Pattern(
            pattern.layers + 1,
            pattern.backward + layer.backward_time[r],
            pattern.activation_mb + (layer.activation_mb[r] or 0.0),
            tuple(count + (i == mode) for i, count in enumerate(pattern.modes)),
        )
        for pattern in patterns
        for mode, r in enumerate(_modes(space))
    ]
    kept: list[Pattern] = []
    for pattern in sorted(grown, key=lambda pattern: (pattern.backward, pattern.activation_mb)):
        if not kept or pattern.activation_mb < kept[-1].activation_mb:
            kept.append(pattern)
    return kept


def _quickest_within(space: PlanSpace, stage: int, patterns: list[Pattern]) -> list[Pattern]:
    """The quickest of some patterns, given in this order, that keeps the memory rows of a stage; none if none does."""
    memory = space.memory[:, space.cell == stage]
    rows = memory.any(axis=1)
    used = np.array([pattern.modes for pattern in patterns]) @ memory[rows].T
    fitting = np.flatnonzero((used <= space.room[rows] + MEMORY_ROUNDING_MB).all(axis=1))
    return [patterns[number] for number in fitting[:1]]
