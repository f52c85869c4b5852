"""What one stage can do, listed, for profiles with a single body kind.

A cell's times depend on how many layers it holds and on their backward time together. So a stage has a short list of
patterns that matter: for each number of layers in its cells, the backward times that no other choice of recompute
modes within the stage's memory beats in every cell.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice, product, takewhile

import numpy as np
from numpy.typing import NDArray

from sapp_core.balancer.plan_space import PlanSpace
from sapp_core.domain.profile import MODES
from sapp_core.domain.timeline import MEMORY_ROUNDING_MB

Floats = NDArray[np.float64]

MOST = 20_000
"""Patterns of all stages together; with more, the program would take longer than it helps."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One way to fill a stage.

    Attributes:
        layers: `[chunk]`, layers in its cells.
        backward: `[chunk]`, their backward time together, recomputation included.
        modes: `[chunk][mode]`, layers under each of the profile's modes.
    """

    layers: tuple[int, ...]
    backward: tuple[float, ...]
    modes: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Filling:
    """Layers of one cell and their modes, none of which is beaten in backward time and memory.

    Attributes:
        backward: time of all layers.
        activation_mb: of all layers for one micro-batch.
        modes: `[mode]`, layers.
    """

    backward: float
    activation_mb: float
    modes: tuple[int, ...]


def applies(space: PlanSpace) -> bool:
    """Whether stages are independent but for the number of layers: one body kind, one cell a stage."""
    return len(space.per_kind) == 1 and space.question.schedule.pipeline.num_chunks == 1


def stage_patterns(
    space: PlanSpace, step_time: float, stopped: Callable[[], bool] = lambda: False
) -> tuple[tuple[Pattern, ...], ...] | None:
    """`[stage]`, all patterns that a plan faster than a step time can use; None when there are too many.

    Args:
        space: of plans, for which `applies` holds.
        step_time: of the best plan known.
        stopped: asked before each pattern; True ends the listing, with None.
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
    fillings = _fillings(space, most)
    found: list[tuple[Pattern, ...]] = []
    left = MOST
    for stage in range(pipeline.num_stages):
        listed = takewhile(lambda _: not stopped(), _patterns(space, stage, range(fewest, most + 1), fillings))
        patterns = tuple(islice(listed, left + 1))
        left -= len(patterns)
        if left < 0 or stopped():
            return None
        found.append(patterns)
    return tuple(found)


def _modes(space: PlanSpace) -> list[int]:
    return [MODES.index(mode) for mode in space.question.profile.modes]


def _fillings(space: PlanSpace, most: int) -> list[list[Filling]]:
    """`[layers]`, the fillings of a cell with so many layers: those with one layer less, and one more layer."""
    (layer,) = space.question.profile.body
    modes = _modes(space)
    table = [[Filling(0.0, 0.0, (0,) * len(modes))]]
    for _ in range(most):
        grown = [
            Filling(
                filling.backward + layer.backward_time[r],
                filling.activation_mb + (layer.activation_mb[r] or 0.0),
                tuple(count + (i == mode) for i, count in enumerate(filling.modes)),
            )
            for filling in table[-1]
            for mode, r in enumerate(modes)
        ]
        grown.sort(key=lambda filling: (filling.backward, filling.activation_mb))
        kept: list[Filling] = []
        for filling in grown:
            if not kept or filling.activation_mb < kept[-1].activation_mb:
                kept.append(filling)
        table.append(kept)
    return table


def _patterns(space: PlanSpace, stage: int, allowed: range, fillings: list[list[Filling]]) -> Iterator[Pattern]:
    """Patterns of one stage with an allowed number of layers."""
    question = space.question
    pipeline = question.schedule.pipeline
    chunks = range(pipeline.num_chunks)
    cells = [pipeline.virtual_stage(chunk, stage) for chunk in chunks]
    if question.limits is None:
        in_flight, limit = np.zeros((1, len(chunks))), np.inf
    else:
        in_flight, limit = np.array(question.vectors[stage]), question.limits[stage] + MEMORY_ROUNDING_MB
    profile = question.profile
    (layer,) = profile.body
    static, ends = profile.constant_mb, np.zeros(len(chunks))
    for layers, v in ((profile.head, 0), (profile.tail, pipeline.num_virtual_stages - 1)):
        if v in cells:
            static += sum(other.num_layers * other.parameter_mb for other in layers)
            ends[cells.index(v)] += sum(other.num_layers * (other.activation_mb[0] or 0.0) for other in layers)
    for counts in product(*(range(int(space.least[v]), allowed.stop) for v in cells)):
        if sum(counts) in allowed:
            room = limit - static - sum(counts) * layer.parameter_mb - in_flight @ ends
            yield from _within(room, in_flight, counts, [fillings[count] for count in counts])


def _within(
    room: Floats, in_flight: Floats, counts: tuple[int, ...], choices: list[list[Filling]]
) -> Iterator[Pattern]:
    """Combinations of fillings that keep every memory row and are not beaten in all cells."""
    combined: list[tuple[tuple[Filling, ...], Floats]] = [((), np.zeros(len(room)))]
    smallest = [np.array([filling.activation_mb for filling in fillings]).min() for fillings in choices]
    for chunk, fillings in enumerate(choices):
        to_come = in_flight[:, chunk + 1 :] @ np.array(smallest[chunk + 1 :])
        combined = [
            ((*taken, filling), used)
            for taken, before in combined
            for filling in fillings
            if (used := before + in_flight[:, chunk] * filling.activation_mb) is not None
            and bool((used + to_come <= room).all())
        ]
    kept: list[tuple[float, ...]] = []
    for taken, _ in sorted(combined, key=lambda item: tuple(filling.backward for filling in item[0])):
        backward = tuple(filling.backward for filling in taken)
        if not any(all(a <= b for a, b in zip(other, backward, strict=True)) for other in kept):
            kept.append(backward)
            yield Pattern(counts, backward, tuple(filling.modes for filling in taken))
