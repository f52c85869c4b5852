"""What differs between two plans of the same profile and pipeline."""

from dataclasses import dataclass

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import LayerPlacement, Plan
from sapp_core.domain.profile import MODES, RecomputeMode


@dataclass(frozen=True, slots=True)
class Change:
    """Layers of one kind in one place, where the plans differ.

    Attributes:
        layer: the kind.
        stage: where.
        chunk: where; None = on the whole stage.
        before: `[r]`, layers under each mode in one plan.
        after: `[r]`, in the other.
    """

    layer: str
    stage: int
    chunk: int | None
    before: tuple[int, ...]
    after: tuple[int, ...]

    @property
    def moved(self) -> int:
        """Layers that came (above 0) or went."""
        return sum(self.after) - sum(self.before)

    @property
    def modes(self) -> tuple[tuple[RecomputeMode, int, int], ...]:
        """(mode, before, after) of the modes whose layers differ in number."""
        return tuple(
            (mode, before, after)
            for mode, before, after in zip(MODES, self.before, self.after, strict=True)
            if before != after
        )


def stage_changes(before: Plan, after: Plan, pipeline: Pipeline) -> tuple[Change, ...]:
    """The stages that hold other layers or recompute others, in order; kinds in model order.

    Args:
        before: a legal plan.
        after: another one for the same profile and pipeline.
        pipeline: of both.
    """

    def counts(layer: LayerPlacement, stage: int) -> tuple[int, ...]:
        return tuple(sum(row[stage] for row in cells) for cells in layer.counts)

    return tuple(
        Change(old.name, stage, None, counts(old, stage), counts(new, stage))
        for stage in range(pipeline.num_stages)
        for old, new in zip(before.layers, after.layers, strict=True)
        if counts(old, stage) != counts(new, stage)
    )


def cell_changes(before: Plan, after: Plan, pipeline: Pipeline) -> tuple[Change, ...]:
    """The same cell by cell, in model order; of two copies of a virtual stage the first one speaks for both."""

    def counts(layer: LayerPlacement, chunk: int, stage: int) -> tuple[int, ...]:
        return tuple(cells[chunk][stage] for cells in layer.counts)

    places = [pipeline.cells(v)[0] for v in range(pipeline.num_virtual_stages)]
    return tuple(
        Change(old.name, stage, chunk, counts(old, chunk, stage), counts(new, chunk, stage))
        for chunk, stage in places
        for old, new in zip(before.layers, after.layers, strict=True)
        if counts(old, chunk, stage) != counts(new, chunk, stage)
    )
