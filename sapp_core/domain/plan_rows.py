"""A plan as rows of numbers that a person can edit: one for each virtual stage and layer kind, in model order."""

from dataclasses import dataclass

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Plan, placed
from sapp_core.domain.profile import MODES, ModelProfile


@dataclass(frozen=True, slots=True)
class RowPlace:
    """What a row is about.

    Attributes:
        virtual_stage: number in model order.
        cells: (chunk, stage) of those that hold it, two in a bidirectional pipeline.
        layer: the kind.
    """

    virtual_stage: int
    cells: tuple[tuple[int, int], ...]
    layer: str


Counts = tuple[tuple[int, ...], ...]
"""`[row][i]`, layers under the i-th mode that the profile offers."""


def row_places(profile: ModelProfile, pipeline: Pipeline) -> tuple[RowPlace, ...]:
    """The rows of every plan of a profile."""
    return tuple(
        RowPlace(v, pipeline.cells(v), layer.name) for v in range(pipeline.num_virtual_stages) for layer in profile.body
    )


def plan_counts(plan: Plan, profile: ModelProfile, pipeline: Pipeline) -> Counts:
    """The numbers of a legal plan."""
    layers = {layer.name: layer for layer in plan.layers}
    counts = []
    for place in row_places(profile, pipeline):
        chunk, stage = place.cells[0]
        counts.append(tuple(layers[place.layer].counts[MODES.index(mode)][chunk][stage] for mode in profile.modes))
    return tuple(counts)


def plan_from_counts(counts: Counts, profile: ModelProfile, pipeline: Pipeline) -> Plan:
    """The plan that the numbers say.

    Raises:
        PlanError: they place too many or too few layers of a kind, or the kinds are out of order.
    """
    places = row_places(profile, pipeline)
    layers = []
    for layer in profile.body:
        entries = [
            (mode, chunk, stage, count)
            for place, row in zip(places, counts, strict=True)
            if place.layer == layer.name
            for mode, count in zip(profile.modes, row, strict=True)
            for chunk, stage in place.cells
        ]
        layers.append(placed(layer.name, pipeline, entries))
    plan = Plan(tuple(layers))
    plan.check(profile, pipeline)
    return plan
