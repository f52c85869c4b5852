"""The in-flight counts that limit a stage's memory: they make memory linear in the plan.

Memory is highest after some forward, at a count vector that no other vector of the stage exceeds in every chunk. So
`Σ_c n_c · activation(c, s) + parameters(s) + constant ≤ limit`, for each of these vectors n, is exact.
"""

import numpy as np
from numpy.typing import NDArray

from sapp_core.domain.in_flight import in_flight
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.schedule import Schedule, Slot

Vector = tuple[float, ...]
"""Micro-batches in flight, `[chunk]`; a sequence split counts as its share of a micro-batch."""


def peak_vectors(schedule: Schedule) -> tuple[tuple[Vector, ...], ...]:
    """`[stage][i][chunk]`: the Pareto-maximal in-flight vectors of each stage, at least one a stage, largest first."""
    return tuple(_maximal(_after_forwards(slots, schedule.pipeline)) for slots in schedule.slots)


def peak_in_flight(schedule: Schedule) -> tuple[Vector, ...]:
    """`[stage][chunk]`: each chunk's own largest count (not all at the same moment)."""
    return tuple(tuple(_after_forwards(slots, schedule.pipeline).max(axis=0).tolist()) for slots in schedule.slots)


def _after_forwards(slots: tuple[Slot, ...], pipeline: Pipeline) -> NDArray[np.float64]:
    """`[forward][chunk]`."""
    alive = in_flight(slots, pipeline)
    return alive.counts[alive.claims]


def _maximal(vectors: NDArray[np.float64]) -> tuple[Vector, ...]:
    # Only a vector with a larger sum can exceed another one, so every rival of a vector comes before it here.
    ordered = sorted(set(map(tuple, vectors.tolist())), key=lambda v: (-sum(v), v))
    counts = np.array(ordered)
    exceeded = np.zeros(len(ordered), dtype=bool)
    for number, vector in enumerate(counts):
        if not exceeded[number]:
            exceeded[number + 1 :] |= (counts[number + 1 :] <= vector).all(axis=1)
    return tuple(vector for vector, low in zip(ordered, exceeded.tolist(), strict=True) if not low)
