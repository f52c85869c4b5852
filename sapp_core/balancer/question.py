"""What has to be placed, where, and within which memory: what every program of one run has in common."""

from dataclasses import dataclass

from sapp_core.balancer.ilp import PlacementProgram, Vectors, placement_program
from sapp_core.balancer.pins import pin_problems, pinned_layers
from sapp_core.balancer.request import BalanceRequest, Pin
from sapp_core.balancer.sapp_memory import estimated_vectors
from sapp_core.balancer.time_unit import TimeUnit
from sapp_core.domain.costs import ChunkCosts
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.result import MemoryModel
from sapp_core.domain.schedule import Schedule
from sapp_core.domain.sequence_split import split_along_sequence
from sapp_core.errors import PipelineError, PlanError
from sapp_core.schedules.in_flight import peak_vectors


@dataclass(frozen=True, slots=True)
class Question:
    """A profile to place under a schedule.

    Attributes:
        profile: what.
        schedule: where, and in which order of work.
        vectors: micro-batches in flight, from which memory is counted.
        limits: `[stage]`, MiB; None when memory is not limited.
        pinned: cells that must hold a given number of layers.
    """

    profile: ModelProfile
    schedule: Schedule
    vectors: Vectors
    limits: tuple[float, ...] | None
    pinned: tuple[Pin, ...] = ()

    @property
    def pinned_layers(self) -> dict[int, int]:
        """Virtual stage → layers it must hold."""
        return pinned_layers(self.pinned, self.schedule.pipeline)

    def placement(self, unit: TimeUnit) -> PlacementProgram:
        """Variables, placement rows and pins: all plans, whatever their memory."""
        program = placement_program(self.profile, self.schedule.pipeline, unit)
        for v, layers in self.pinned_layers.items():
            program.pin(v, layers)
        return program

    def program(self, unit: TimeUnit) -> PlacementProgram:
        """The same with memory rows; no objective yet."""
        program = self.placement(unit)
        if self.limits is not None:
            program.limit_memory(self.vectors, self.limits)
        return program


def question_of(profile: ModelProfile, schedule: Schedule, request: BalanceRequest) -> Question:
    """What a request asks.

    Raises:
        PipelineError: the limits do not fit the stages, no plan keeps the pins, the start is no plan of this profile
            on this pipeline, or the memory model does not know the schedule.
    """
    pipeline = schedule.pipeline
    profile = split_along_sequence(profile, pipeline.num_sequence_splits)
    problems = pin_problems(request.pinned, profile, pipeline)
    if request.start is not None:
        try:
            request.start.check(profile, pipeline)
        except PlanError as error:
            problems += [f"start: {problem}" for problem in error.problems]
    if problems:
        raise PipelineError(*problems)
    limits = request.limits(pipeline.num_stages) if profile.has_memory else None
    vectors = estimated_vectors(schedule) if request.memory_model is MemoryModel.SAPP else peak_vectors(schedule)
    return Question(profile, schedule, vectors, limits, request.pinned)


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
