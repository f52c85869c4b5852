"""Activation memory of every stage over time, and its highest moment."""

from collections.abc import Sequence

from sapp_core.domain.costs import ChunkCosts
from sapp_core.domain.in_flight import alive_after_each_op
from sapp_core.domain.schedule import Schedule
from sapp_core.domain.timeline import MemoryTimeline, StageMemory, Timeline


def memory_timeline(schedule: Schedule, costs: ChunkCosts, timeline: Timeline) -> MemoryTimeline:
    """Activation memory as a step function: claimed when a forward starts, released when a backward ends."""
    times: list[tuple[float, ...]] = []
    activation_mb: list[tuple[float, ...]] = []
    for stage, slots in enumerate(schedule.slots):
        starts, ends, activations = timeline.starts[stage], timeline.ends[stage], _per_chunk(costs, stage)
        at, held = [0.0], [0.0]
        for step in alive_after_each_op(slots, schedule.pipeline):
            at.append(starts[step.slot] if step.claims else ends[step.slot])
            held.append(_total(step.counts, activations))
        times.append(tuple(at))
        activation_mb.append(tuple(held))
    return MemoryTimeline(tuple(times), tuple(activation_mb))


def peaks(schedule: Schedule, costs: ChunkCosts) -> tuple[StageMemory, ...]:
    """`[stage]`, memory at the moment it is highest. It depends on the order of work only, not on times."""
    found = []
    for stage, slots in enumerate(schedule.slots):
        activations = _per_chunk(costs, stage)
        counts = {step.counts for step in alive_after_each_op(slots, schedule.pipeline) if step.claims}
        highest = max(counts, key=lambda vector: (_total(vector, activations), vector))
        found.append(
            StageMemory(
                parameter_mb=costs.parameter_mb[stage],
                constant_mb=costs.constant_mb,
                activation_mb=tuple(n * a for n, a in zip(highest, activations, strict=True)),
            )
        )
    return tuple(found)


def _per_chunk(costs: ChunkCosts, stage: int) -> tuple[float, ...]:
    return tuple(row[stage] for row in costs.activation_mb)


def _total(counts: Sequence[float], activations: Sequence[float]) -> float:
    return sum(n * a for n, a in zip(counts, activations, strict=True))
