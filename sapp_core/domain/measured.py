"""Op times that somebody measured, and how they differ from simulated ones. Times are in the profile's unit."""

from dataclasses import dataclass

from sapp_core.domain.schedule import Op, OpKind


@dataclass(frozen=True, slots=True)
class Sample:
    """One measured run of one op.

    Attributes:
        stage: that ran it.
        kind: of the op.
        duration: of this run.
        op: which one; None = the source only says its stage and kind.
        start: when; None = the source does not say.
    """

    stage: int
    kind: OpKind
    duration: float
    op: Op | None = None
    start: float | None = None


@dataclass(frozen=True, slots=True)
class MeasuredStep:
    """One measured training step, from its first op on.

    Attributes:
        starts: `[op]`, ops stage by stage in the order of their schedule; None = not measured.
        ends: `[op]`.
    """

    starts: tuple[float | None, ...]
    ends: tuple[float | None, ...]

    @property
    def end(self) -> float:
        """End of the last measured op."""
        return max(end for end in self.ends if end is not None)

    @property
    def complete(self) -> bool:
        """Whether every op was measured."""
        return None not in self.ends


@dataclass(frozen=True, slots=True)
class KindDifference:
    """Ops of one kind on one stage.

    Attributes:
        stage: of the ops.
        kind: of the ops.
        count: runs measured.
        measured: their median duration.
        simulated: median duration of the same ops; where the source does not say which ops, the mean of all.
    """

    stage: int
    kind: OpKind
    count: int
    measured: float
    simulated: float

    @property
    def difference(self) -> float:
        """Measured less simulated."""
        return self.measured - self.simulated

    @property
    def share(self) -> float | None:
        """The difference as a share of the simulated time; None where that is 0."""
        return self.difference / self.simulated if self.simulated else None


@dataclass(frozen=True, slots=True)
class MeasuredComparison:
    """Measured against simulated.

    Attributes:
        kinds: a row for each stage and kind measured, by stage.
        step: a measured step to draw: of several the one of median length; None = the source has no starts.
        num_steps: steps measured; 0 without starts.
        step_time: of the measured step; None unless every op was measured.
        simulated_step_time: of the simulated step.
        idle: `[stage]`, time of the measured step without an op; None as for `step_time`.
        simulated_idle: `[stage]`, of the simulated step.
        notes: what a reader should know, a sentence each.
    """

    kinds: tuple[KindDifference, ...]
    step: MeasuredStep | None
    num_steps: int
    step_time: float | None
    simulated_step_time: float
    idle: tuple[float, ...] | None
    simulated_idle: tuple[float, ...]
    notes: tuple[str, ...]
