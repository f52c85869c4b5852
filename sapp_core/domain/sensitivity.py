"""How a plan's step time and memory follow the numbers of its profile."""

from dataclasses import dataclass
from enum import StrEnum

from sapp_core.domain.profile import RecomputeMode


class Quantity(StrEnum):
    """What a number of a profile says."""

    FORWARD = "forward time"
    BACKWARD = "backward time"
    RECOMPUTE = "recompute time"
    TRANSFER = "transfer time"
    PARAMETERS = "parameter memory"
    ACTIVATIONS = "activation memory"
    CONSTANT = "constant memory"

    @property
    def is_time(self) -> bool:
        """Whether it moves the step time; the others move memory."""
        return self in {Quantity.FORWARD, Quantity.BACKWARD, Quantity.RECOMPUTE, Quantity.TRANSFER}


@dataclass(frozen=True, slots=True)
class ProfileNumber:
    """One resolved number that somebody measured or estimated.

    The backward time is that without recomputation; what a mode adds to it is a number of its own, so that both can
    change alone.

    Attributes:
        quantity: what it says.
        layer: name of the layer kind; empty for what belongs to all stages.
        mode: that a recompute time or an activation memory belongs to.
        value: time in the profile's unit, or MiB; of one layer and one micro-batch.
    """

    quantity: Quantity
    layer: str
    mode: RecomputeMode | None
    value: float

    @property
    def words(self) -> str:
        """The quantity with its mode: `activation memory (full)`; the mode that recomputes nothing is not said."""
        return f"{self.quantity} ({self.mode})" if self.mode not in {None, RecomputeMode.NONE} else str(self.quantity)

    @property
    def sentence(self) -> str:
        """The same with the kind of layer it belongs to: `forward time of Embedding`."""
        return f"{self.words} of {self.layer}" if self.layer else self.words


@dataclass(frozen=True, slots=True)
class Excess:
    """What a stage needs beyond its limit.

    Attributes:
        stage: the one that lacks most.
        mb: MiB it lacks.
    """

    stage: int
    mb: float


@dataclass(frozen=True, slots=True)
class Reaction:
    """What one number does to the same plan.

    Attributes:
        number: the one that changes, alone.
        lower: step time (of a time) or highest peak of all stages in MiB (of a memory), when it is smaller.
        higher: the same when it is larger.
        excess: when it is larger and the plan, which fits as it is, no longer does.
    """

    number: ProfileNumber
    lower: float
    higher: float
    excess: Excess | None = None

    @property
    def swing(self) -> float:
        """How far the two results lie apart."""
        return abs(self.higher - self.lower)


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """What every number of a profile does to a plan, largest swing first.

    Attributes:
        share: by which each number was made smaller and larger.
        step_time: of the plan with the profile as it is.
        peak_mb: highest peak of all stages, MiB.
        times: reactions of the step time.
        memory: reactions of the highest peak.
        idle: numbers that change nothing: their mode is not used, or another stage decides.
        excess: of the plan with the profile as it is, when it does not fit.
    """

    share: float
    step_time: float
    peak_mb: float
    times: tuple[Reaction, ...]
    memory: tuple[Reaction, ...]
    idle: tuple[ProfileNumber, ...]
    excess: Excess | None = None

    def kept(self, reaction: Reaction | None, *, smaller: bool) -> float | None:
        """Step time of the same plan with the number of a reaction changed, or none; None where it does not fit."""
        if self.excess:
            return None
        if reaction is None:
            return self.step_time
        if reaction.excess and not smaller:
            return None
        if reaction.number.quantity.is_time:
            return reaction.lower if smaller else reaction.higher
        return self.step_time
