"""What every cell costs: profile times plan."""

from dataclasses import dataclass

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Plan
from sapp_core.domain.profile import MODES, LayerProfile, ModelProfile

Grid = tuple[tuple[float, ...], ...]
"""Numbers as `[chunk][stage]`."""


@dataclass(frozen=True, slots=True)
class ChunkCosts:
    """Time and memory of every cell for one whole micro-batch (all its sequence splits together).

    Attributes:
        forward: `[chunk][stage]`, time of the forward.
        backward: `[chunk][stage]`, time of the full backward without recomputation.
        recompute: `[chunk][stage]`, time the recompute modes add to the backward.
        activation_mb: `[chunk][stage]`, kept from forward to backward, MiB.
        parameter_mb: `[stage]`, static memory of all cells of the stage, MiB.
        constant_mb: on every stage, MiB.
    """

    forward: Grid
    backward: Grid
    recompute: Grid
    activation_mb: Grid
    parameter_mb: tuple[float, ...]
    constant_mb: float


def chunk_costs(profile: ModelProfile, plan: Plan, pipeline: Pipeline) -> ChunkCosts:
    """Costs of every cell under a plan; head and tail sit in the cells of the first and last virtual stage.

    Raises:
        PlanError: the plan does not fit profile and pipeline.
    """
    plan.check(profile, pipeline)
    shape = range(pipeline.num_chunks), range(pipeline.num_stages)
    forward, backward, recompute, activation, parameter = (
        [[0.0 for _ in shape[1]] for _ in shape[0]] for _ in range(5)
    )

    def add(layer: LayerProfile, r: int, count: int, chunk: int, stage: int) -> None:
        forward[chunk][stage] += count * layer.forward_time
        backward[chunk][stage] += count * layer.backward_time[0]
        recompute[chunk][stage] += count * (layer.backward_time[r] - layer.backward_time[0])
        activation[chunk][stage] += count * (layer.activation_mb[r] or 0.0)
        parameter[chunk][stage] += count * layer.parameter_mb

    for layers, v in ((profile.head, 0), (profile.tail, pipeline.num_virtual_stages - 1)):
        for layer in layers:
            for chunk, stage in pipeline.cells(v):
                add(layer, 0, layer.num_layers, chunk, stage)
    for layer, placement in zip(profile.body, plan.layers, strict=True):
        for r in range(len(MODES)):
            for chunk in shape[0]:
                for stage in shape[1]:
                    if count := placement.counts[r][chunk][stage]:
                        add(layer, r, count, chunk, stage)

    def grid(rows: list[list[float]]) -> Grid:
        return tuple(tuple(row) for row in rows)

    return ChunkCosts(
        forward=grid(forward),
        backward=grid(backward),
        recompute=grid(recompute),
        activation_mb=grid(activation),
        parameter_mb=tuple(sum(parameter[chunk][stage] for chunk in shape[0]) for stage in shape[1]),
        constant_mb=profile.constant_mb,
    )
