"""Activation memory of every stage over time, and its highest moment."""

from collections.abc import Sequence

from sapp_core.domain.costs import ChunkCosts
from sapp_core.domain.in_flight import alive_after_each_op
from sapp_core.domain.schedule import Schedule
from sapp_core.domain.timeline import InFlightTimeline, MemoryTimeline, StageMemory, Timeline


def in_flight_timeline(schedule: Schedule, timeline: Timeline) -> InFlightTimeline:
    """Micro-batches in flight: claimed when a forward starts, released when a backward ends."""
    times: list[tuple[float, ...]] = []
    counts: list[tuple[tuple[float, ...], ...]] = []
    for stage, slots in enumerate(schedule.slots):
        starts, ends = timeline.starts[stage], timeline.ends[stage]
        at, alive = [0.0], [(0.0,) * schedule.pipeline.num_chunks]
        for step in alive_after_each_op(slots, schedule.pipeline):
            at.append(starts[step.slot] if step.claims else ends[step.slot])
            alive.append(step.counts)
        times.append(tuple(at))
        counts.append(tuple(alive))
    return InFlightTimeline(tuple(times), tuple(counts))


def memory_timeline(schedule: Schedule, costs: ChunkCosts, timeline: Timeline) -> MemoryTimeline:
    """Activation memory as a step function: the micro-batches in flight, each with the activations of its cell."""
    alive = in_flight_timeline(schedule, timeline)
    activation_mb = (
        tuple(_total(counts, _per_chunk(costs, stage)) for counts in stage_counts)
        for stage, stage_counts in enumerate(alive.counts)
    )
    return MemoryTimeline(alive.times, tuple(activation_mb))


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
