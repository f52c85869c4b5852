"""What differs between two candidates, as far as the difference of two numbers means something."""

from dataclasses import dataclass

from sapp_core.comparison.candidate import Candidate
from sapp_core.domain.pipeline import Placement
from sapp_core.domain.plan_difference import cell_changes, stage_changes
from sapp_core.domain.timeline import BubbleParts


@dataclass(frozen=True, slots=True)
class StepChange:
    """The change of the step time, split into what caused it; times in the profiles' unit.

    With `own` for the model's own work of a stage, a step takes own · (1 + bubble). What is not due to the parts of
    the bubble is due to the work itself, so the five causes add up to `after − before`.

    Attributes:
        before: step time of the one.
        after: step time of the other.
        work: time added because a stage has more of the model's own work.
        bubble: time added by each part of the bubble.
    """

    before: float
    after: float
    work: float
    bubble: BubbleParts

    @property
    def total(self) -> float:
        """After less before."""
        return self.after - self.before

    @property
    def share(self) -> float:
        """The change as a share of the time before; 0 where that was 0."""
        return self.after / self.before - 1 if self.before else 0.0


@dataclass(frozen=True, slots=True)
class Moves:
    """Layers that are in another place.

    Attributes:
        layers: how many.
        place: what counts as a place: `cell`, or `stage` where the cells are not the same.
    """

    layers: int
    place: str


@dataclass(frozen=True, slots=True)
class Difference:
    """Another candidate less the base; None where nothing can be subtracted.

    Attributes:
        obstacles: sentences on what cannot be compared, and why.
        step: of the step time.
        bubble: of the parts of the bubble, as shares of the model's own work.
        memory_mb: `[stage]`, of the peaks, MiB.
        moves: of the layers.
    """

    obstacles: tuple[str, ...]
    step: StepChange | None
    bubble: BubbleParts
    memory_mb: tuple[float, ...] | None
    moves: Moves | None


def difference(base: Candidate, other: Candidate) -> Difference:
    """What the other candidate changes against the base."""
    obstacles = []
    first, second = base.scenario, other.scenario
    same_model = _model(base) == _model(other)
    same_unit = first.profile.time_unit == second.profile.time_unit
    if not same_model:
        names = (first.profile.name, second.profile.name)
        which = f"{names[0]} and {names[1]}" if names[0] != names[1] else f"{names[0]}, with other layers"
        obstacles.append(
            f"Different models ({which}): step times and plans are not subtracted. Profiles of the same model need the "
            "same name, layer kinds and numbers of layers."
        )
    if not same_unit:
        obstacles.append(
            f"Different time units ({first.profile.time_unit} and {second.profile.time_unit}): step times are not "
            "subtracted."
        )
    memory = None
    if not (first.profile.has_memory and second.profile.has_memory):
        without = base if not first.profile.has_memory else other
        obstacles.append(f"The profile of {without.name} gives no memory, so memory is not compared.")
    elif first.pipeline.num_stages != second.pipeline.num_stages:
        obstacles.append(
            f"Different numbers of stages ({first.pipeline.num_stages} and {second.pipeline.num_stages}): memory is "
            "compared by the fullest stage, not stage by stage."
        )
    else:
        peaks = zip(base.evaluation.peak_memory_mb, other.evaluation.peak_memory_mb, strict=True)
        memory = tuple(after - before for before, after in peaks)
    return Difference(
        tuple(obstacles),
        _step_change(base, other) if same_model and same_unit else None,
        _less(other.evaluation.bubble, base.evaluation.bubble),
        memory,
        _moves(base, other) if same_model else None,
    )


def _model(candidate: Candidate) -> tuple[object, ...]:
    """What makes a model the same one, whatever its layers cost."""
    profile = candidate.scenario.profile
    return (profile.name, *((layer.name, layer.kind, layer.num_layers) for layer in profile.layers))


def _step_change(base: Candidate, other: Candidate) -> StepChange:
    work, parts = other.own_work, _less(other.evaluation.bubble, base.evaluation.bubble)
    return StepChange(
        base.evaluation.step_time,
        other.evaluation.step_time,
        (work - base.own_work) * (1 + base.evaluation.bubble.total),
        BubbleParts(work * parts.ideal, work * parts.imbalance, work * parts.recompute, work * parts.transfer),
    )


def _less(after: BubbleParts, before: BubbleParts) -> BubbleParts:
    return BubbleParts(
        after.ideal - before.ideal,
        after.imbalance - before.imbalance,
        after.recompute - before.recompute,
        after.transfer - before.transfer,
    )


def _moves(base: Candidate, other: Candidate) -> Moves | None:
    """Of the same model; cell by cell where both have the same cells, else stage by stage."""
    first, second = base.scenario.pipeline, other.scenario.pipeline
    if first.num_stages != second.num_stages:
        return None
    if (first.num_chunks, first.placement) == (second.num_chunks, second.placement):
        changes, place = cell_changes(base.plan, other.plan, second), "cell"
    elif Placement.BIDIRECTIONAL in (first.placement, second.placement):
        return None  # one of them holds every layer twice
    else:
        changes, place = stage_changes(base.plan, other.plan, second), "stage"
    return Moves(sum(max(0, change.moved) for change in changes), place)
