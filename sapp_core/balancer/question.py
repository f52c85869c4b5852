"""What has to be placed, where, and within which memory: what every program of one run has in common."""

from dataclasses import dataclass

from sapp_core.balancer.ilp import PlacementProgram, Vectors, placement_program
from sapp_core.balancer.sapp_memory import estimated_vectors
from sapp_core.balancer.time_unit import TimeUnit
from sapp_core.domain.costs import ChunkCosts
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import MemoryModel
from sapp_core.domain.schedule import Schedule
from sapp_core.domain.sequence_split import split_along_sequence
from sapp_core.schedules.in_flight import peak_vectors


@dataclass(frozen=True, slots=True)
class Question:
    """A profile to place under a schedule.

    Attributes:
        profile: what.
        schedule: where, and in which order of work.
        vectors: micro-batches in flight, from which memory is counted.
        limits: `[stage]`, MiB; None when memory is not limited.
    """

    profile: ModelProfile
    schedule: Schedule
    vectors: Vectors
    limits: tuple[float, ...] | None

    def program(self, unit: TimeUnit) -> PlacementProgram:
        """Variables, placement rows and memory rows; no objective yet."""
        program = placement_program(self.profile, self.schedule.pipeline, unit)
        if self.limits is not None:
            program.limit_memory(self.vectors, self.limits)
        return program


def question_of(profile: ModelProfile, schedule: Schedule, request: BalanceRequest) -> Question:
    """What a request asks.

    Raises:
        PipelineError: the limits do not fit the stages, or the memory model does not know the schedule.
    """
    profile = split_along_sequence(profile, schedule.pipeline.num_sequence_splits)
    limits = request.limits(schedule.pipeline.num_stages) if profile.has_memory else None
    if request.memory_model is MemoryModel.SAPP:
        return Question(profile, schedule, estimated_vectors(schedule), limits)
    return Question(profile, schedule, peak_vectors(schedule), limits)


def stage_memory(costs: ChunkCosts, vectors: Vectors) -> tuple[float, ...]:
    """`[stage]`, MiB at the highest of the vectors: the memory rows, evaluated for one plan."""
    return tuple(
        parameters
        + costs.constant_mb
        + max(
            sum(alive * row[stage] for alive, row in zip(in_flight, costs.activation_mb, strict=True))
            for in_flight in vectors[stage]
        )
        for stage, parameters in enumerate(costs.parameter_mb)
    )
