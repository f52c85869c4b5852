"""Activation memory of every stage over time, and its highest moment."""

import numpy as np
from numpy.typing import NDArray

from sapp_core.domain.costs import ChunkCosts
from sapp_core.domain.timeline import InFlightTimeline, MemoryTimeline, StageMemory, Timeline
from sapp_core.simulator.engine import PreparedSchedule


def in_flight_timeline(prepared: PreparedSchedule, timeline: Timeline) -> InFlightTimeline:
    """Micro-batches in flight: claimed when a forward starts, released when a backward ends."""
    counts = (((0.0,) * alive.counts.shape[1], *map(tuple, alive.counts.tolist())) for alive in prepared.in_flight)
    return InFlightTimeline(_times(prepared, timeline), tuple(counts))


def memory_timeline(prepared: PreparedSchedule, costs: ChunkCosts, timeline: Timeline) -> MemoryTimeline:
    """Activation memory as a step function: the micro-batches in flight, each with the activations of its cell."""
    activation_mb = (
        (0.0, *_held(alive.counts, _per_chunk(costs, stage)).tolist()) for stage, alive in enumerate(prepared.in_flight)
    )
    return MemoryTimeline(_times(prepared, timeline), tuple(activation_mb))


def peaks(prepared: PreparedSchedule, costs: ChunkCosts) -> tuple[StageMemory, ...]:
    """`[stage]`, memory at the moment it is highest. It depends on the order of work only, not on times."""
    found = []
    for stage, alive in enumerate(prepared.in_flight):
        activations = _per_chunk(costs, stage)
        counts = alive.counts[alive.claims]
        held = _held(counts, activations)
        highest = max(map(tuple, counts[held == held.max()].tolist()))
        found.append(
            StageMemory(
                parameter_mb=costs.parameter_mb[stage],
                constant_mb=costs.constant_mb,
                activation_mb=tuple(n * a for n, a in zip(highest, activations, strict=True)),
            )
        )
    return tuple(found)


def _times(prepared: PreparedSchedule, timeline: Timeline) -> tuple[tuple[float, ...], ...]:
    """`[stage][i]`: 0, then when each op claims or releases."""
    return tuple(
        (0.0, *np.where(alive.claims, np.array(starts)[alive.slots], np.array(ends)[alive.slots]).tolist())
        for alive, starts, ends in zip(prepared.in_flight, timeline.starts, timeline.ends, strict=True)
    )


def _per_chunk(costs: ChunkCosts, stage: int) -> tuple[float, ...]:
    return tuple(row[stage] for row in costs.activation_mb)


def _held(counts: NDArray[np.float64], activations: tuple[float, ...]) -> NDArray[np.float64]:
    """`[op]`, MiB. Chunk after chunk, as a sum of plain numbers would be: equal to the last digit."""
    held = np.zeros(len(counts))
    for alive, activation in zip(counts.T, activations, strict=True):
        held += alive * activation
    return held
