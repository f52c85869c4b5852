"""Where the layers go: how many layers of each kind sit in each cell under each recompute mode."""

from collections.abc import Iterable
from dataclasses import dataclass

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.profile import MODES, ModelProfile, RecomputeMode
from sapp_core.errors import PlanError

Cells = tuple[tuple[int, ...], ...]
"""Whole numbers as `[chunk][stage]`."""


@dataclass(frozen=True, slots=True)
class LayerPlacement:
    """Placement of one body kind.

    Attributes:
        name: of the layer kind.
        counts: `[r][chunk][stage]`, one entry for each of `MODES`, zeros where a mode is not used.
    """

    name: str
    counts: tuple[Cells, ...]

    def total(self, chunk: int, stage: int) -> int:
        """Layers of this kind in one cell, whatever their mode."""
        return sum(mode[chunk][stage] for mode in self.counts)


@dataclass(frozen=True, slots=True)
class Plan:
    """A placement for every body kind of a profile, in model order (`[ℓ]`)."""

    layers: tuple[LayerPlacement, ...]

    def check(self, profile: ModelProfile, pipeline: Pipeline) -> None:
        """Accept a plan that places every layer of the profile exactly once, in model order, in offered modes.

        Raises:
            PlanError: with all that is wrong; each sentence says which kind is off and by how many.
        """
        names = tuple(layer.name for layer in profile.body)
        if tuple(layer.name for layer in self.layers) != names:
            found = ", ".join(layer.name for layer in self.layers) or "none"
            raise PlanError(f"plan: needs the layer kinds {', '.join(names)} in this order, found {found}.")
        problems = [problem for layer in self.layers for problem in _shape_problems(layer, pipeline)]
        if not problems:
            problems = [*_count_problems(self, profile, pipeline), *_order_problems(self, pipeline)]
        if problems:
            raise PlanError(*problems)

    def as_dict(self) -> dict[str, dict[str, list[list[int]]]]:
        """`{layer: {mode: [chunk][stage]}}`: what plan files and `--json` carry."""
        return {
            layer.name: {
                str(mode): [list(row) for row in cells] for mode, cells in zip(MODES, layer.counts, strict=True)
            }
            for layer in self.layers
        }


def placed(name: str, pipeline: Pipeline, entries: Iterable[tuple[RecomputeMode, int, int, int]]) -> LayerPlacement:
    """A placement from (mode, chunk, stage, count) entries; entries of the same cell and mode add up."""
    counts = [[[0] * pipeline.num_stages for _ in range(pipeline.num_chunks)] for _ in MODES]
    for mode, chunk, stage, count in entries:
        counts[MODES.index(mode)][chunk][stage] += count
    return LayerPlacement(name, tuple(tuple(tuple(row) for row in cells) for cells in counts))


def even_split(profile: ModelProfile, pipeline: Pipeline, mode: RecomputeMode | None = None) -> Plan:
    """The plan a framework makes by default: equal runs of layers, all in one mode.

    Every virtual stage gets ⌊n/v⌋ of all n body layers; what is left over goes one each to the earliest
    virtual stages that hold neither head nor tail, and then to the earliest others.

    Args:
        profile: what to place.
        pipeline: where.
        mode: None = the least recomputation that the profile offers.
    """
    chosen = profile.modes[0] if mode is None else mode
    count = pipeline.num_virtual_stages
    base, left = divmod(profile.num_body_layers, count)
    with_ends = ({0} if profile.head else set()) | ({count - 1} if profile.tail else set())
    favoured = sorted(range(count), key=lambda v: (v in with_ends, v))[:left]
    room = [base + (v in favoured) for v in range(count)]

    layers = []
    v = 0
    for layer in profile.body:
        entries = []
        remaining = layer.num_layers
        while remaining:
            taken = min(remaining, room[v])
            entries += [(chosen, chunk, stage, taken) for chunk, stage in pipeline.cells(v)]
            room[v] -= taken
            remaining -= taken
            if remaining:
                v += 1
        layers.append(placed(layer.name, pipeline, entries))
    return Plan(tuple(layers))


def _shape_problems(layer: LayerPlacement, pipeline: Pipeline) -> list[str]:
    wanted = (len(MODES), pipeline.num_chunks, pipeline.num_stages)
    if len(layer.counts) != wanted[0]:
        return [f"plan of {layer.name}: needs counts for {wanted[0]} recompute modes, found {len(layer.counts)}."]
    problems = []
    for mode, cells in zip(MODES, layer.counts, strict=True):
        if len(cells) != wanted[1]:
            problems.append(f"plan of {layer.name}, mode {mode}: needs {wanted[1]} chunks, found {len(cells)}.")
        problems += [
            f"plan of {layer.name}, mode {mode}, chunk {c}: needs {wanted[2]} stages, found {len(row)}."
            for c, row in enumerate(cells)
            if len(row) != wanted[2]
        ]
        problems += [
            f"plan of {layer.name}, mode {mode}, chunk {c}, stage {s}: a count cannot be negative, found {count}."
            for c, row in enumerate(cells)
            for s, count in enumerate(row)
            if count < 0
        ]
    return problems


def _count_problems(plan: Plan, profile: ModelProfile, pipeline: Pipeline) -> list[str]:
    problems = []
    for layer, placement in zip(profile.body, plan.layers, strict=True):
        for mode, cells in zip(MODES, placement.counts, strict=True):
            if mode not in profile.modes and any(any(row) for row in cells):
                problems.append(
                    f"plan of {layer.name}: mode {mode} is not offered by the profile; it offers "
                    f"{', '.join(profile.modes)}."
                )
        total = 0
        for v in range(pipeline.num_virtual_stages):
            cell, *twins = pipeline.cells(v)
            total += placement.total(*cell)
            problems += [
                f"plan of {layer.name}: both copies of virtual stage {v} must be equal, cells {cell} and {twin} differ."
                for twin in twins
                if any(cells[cell[0]][cell[1]] != cells[twin[0]][twin[1]] for cells in placement.counts)
            ]
        if total != layer.num_layers:
            off = "missing" if total < layer.num_layers else "too many"
            problems.append(
                f"plan of {layer.name}: places {total} layers, the profile has {layer.num_layers}: "
                f"{abs(total - layer.num_layers)} {off}."
            )
    return problems


def _order_problems(plan: Plan, pipeline: Pipeline) -> list[str]:
    """Kinds must follow each other along the virtual stages; one cell may end one kind and start the next."""
    problems = []
    for before, after in zip(plan.layers, plan.layers[1:], strict=False):
        last = max((v for v in range(pipeline.num_virtual_stages) if before.total(*pipeline.cells(v)[0])), default=0)
        first = min(
            (v for v in range(pipeline.num_virtual_stages) if after.total(*pipeline.cells(v)[0])),
            default=last,
        )
        if first < last:
            problems.append(
                f"plan: all {before.name} layers come before {after.name} layers, but virtual stage {first} "
                f"holds {after.name} and virtual stage {last} still holds {before.name}."
            )
    return problems
