"""What a simulation finds: when things run, what they keep in memory, where time is lost."""

from dataclasses import dataclass

from sapp_core.domain.costs import ChunkCosts
from sapp_core.domain.plan import Plan
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.schedule import Schedule

MEMORY_ROUNDING_MB = 1e-6
"""A peak this little above its limit is the rounding of a sum, not a plan that does not fit."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """Start and end of every slot.

    Attributes:
        starts: `[stage][slot]`, parallel to the schedule's slots.
        ends: `[stage][slot]`.
        step_time: end of the last slot of one training step.
    """

    starts: tuple[tuple[float, ...], ...]
    ends: tuple[tuple[float, ...], ...]
    step_time: float


@dataclass(frozen=True, slots=True)
class InFlightTimeline:
    """Micro-batches in flight on every stage as a step function.

    Attributes:
        times: `[stage][i]`, ascending, starting at 0.
        counts: `[stage][i][chunk]` from `times[i]` until the next time; a sequence split counts as its share.
    """

    times: tuple[tuple[float, ...], ...]
    counts: tuple[tuple[tuple[float, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class MemoryTimeline:
    """Activation memory of every stage as a step function.

    Attributes:
        times: `[stage][i]`, ascending, starting at 0.
        activation_mb: `[stage][i]`, MiB from `times[i]` until the next time.
    """

    times: tuple[tuple[float, ...], ...]
    activation_mb: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class StageMemory:
    """Memory of one stage at the moment it is highest, MiB.

    Attributes:
        parameter_mb: static memory of its layers.
        constant_mb: the profile's constant.
        activation_mb: `[chunk]`, activations alive at that moment.
    """

    parameter_mb: float
    constant_mb: float
    activation_mb: tuple[float, ...]

    @property
    def total_mb(self) -> float:
        """The peak."""
        return self.parameter_mb + self.constant_mb + sum(self.activation_mb)


@dataclass(frozen=True, slots=True)
class BubbleParts:
    """Stage time not spent on the model's own work, as shares of that work; the parts add up to `total`.

    Attributes:
        ideal: what the schedule costs even with perfectly even cells.
        imbalance: what uneven cells add.
        recompute: what recomputation adds.
        transfer: what transfers between stages add.
    """

    ideal: float
    imbalance: float
    recompute: float
    transfer: float

    @property
    def total(self) -> float:
        """Step time over the model's own work of one stage, less one."""
        return self.ideal + self.imbalance + self.recompute + self.transfer


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One scenario, simulated: all that a page needs to draw it.

    Attributes:
        profile: what was placed.
        schedule: order of work (it carries the pipeline).
        plan: where the layers are.
        costs: of every cell.
        timeline: start and end of every slot.
        memory: activation memory over time.
        peaks: `[stage]`, memory at its highest.
        bubble: where time is lost.
    """

    profile: ModelProfile
    schedule: Schedule
    plan: Plan
    costs: ChunkCosts
    timeline: Timeline
    memory: MemoryTimeline
    peaks: tuple[StageMemory, ...]
    bubble: BubbleParts

    @property
    def step_time(self) -> float:
        """End of the last op, in the profile's time unit."""
        return self.timeline.step_time

    @property
    def peak_memory_mb(self) -> tuple[float, ...]:
        """`[stage]`, MiB."""
        return tuple(peak.total_mb for peak in self.peaks)

    def stages_over(self, limits_mb: tuple[float, ...] | None) -> tuple[int, ...]:
        """Stages whose peak is above their limit (`[stage]`, MiB; None = no limit), rounding forgiven."""
        return over_limit(self.peak_memory_mb, limits_mb)


def over_limit(peak_memory_mb: tuple[float, ...], limits_mb: tuple[float, ...] | None) -> tuple[int, ...]:
    """Stages whose peak is above their limit (both `[stage]`, MiB; None = no limit), rounding forgiven."""
    if limits_mb is None:
        return ()
    return tuple(
        stage
        for stage, (peak, limit) in enumerate(zip(peak_memory_mb, limits_mb, strict=True))
        if peak > limit + MEMORY_ROUNDING_MB
    )
