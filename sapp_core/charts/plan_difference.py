"""What differs between two plans, as sentences and as a table."""

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Plan
from sapp_core.domain.plan_difference import Change, cell_changes, stage_changes
from sapp_core.domain.profile import RecomputeMode

MODE_WORDS = {
    RecomputeMode.NONE: "without recomputation",
    RecomputeMode.SELECT: "recomputed in part (select)",
    RecomputeMode.COMM: "recomputed in part (comm)",
    RecomputeMode.BOTH: "recomputed in part (both)",
    RecomputeMode.FULL: "recomputed fully",
}
"""What is said of layers in a mode."""


def difference_sentences(before: Plan, after: Plan, pipeline: Pipeline) -> tuple[str, ...]:
    """One for each stage and layer kind that differs, as `Stage 3: 4 → 3 layers; 2 → 0 recomputed fully`."""
    several = len(before.layers) > 1
    return tuple(_sentence(change, several=several) for change in stage_changes(before, after, pipeline))


def difference_table(before: Plan, after: Plan, pipeline: Pipeline) -> dict[str, list[str | int]]:
    """The same cell by cell, in model order, as columns: a row for each cell and layer kind that differs."""
    changes = cell_changes(before, after, pipeline)
    table: dict[str, list[str | int]] = {
        "Virtual stage": [pipeline.virtual_stage(change.chunk or 0, change.stage) for change in changes],
        "Stage": [change.stage for change in changes],
        "Chunk": [change.chunk or 0 for change in changes],
    }
    if len(before.layers) > 1:
        table["Layer kind"] = [change.layer for change in changes]
    table["Layers"] = [_arrow(sum(change.before), sum(change.after)) for change in changes]
    table["Recomputation"] = [
        ", ".join(f"{mode} {old} → {new}" for mode, old, new in change.modes) for change in changes
    ]
    return table


def _sentence(change: Change, *, several: bool) -> str:
    parts = []
    layers = f"{change.layer} layers" if several else "layers"
    if change.moved:
        parts.append(f"{sum(change.before)} → {sum(change.after)} {layers}")
    recomputed = [
        f"{old} → {new} {MODE_WORDS[mode]}" for mode, old, new in change.modes if mode is not RecomputeMode.NONE
    ]
    if recomputed and not change.moved and several:
        recomputed[0] = f"{recomputed[0]} ({layers})"
    return f"Stage {change.stage}: {'; '.join((*parts, *recomputed))}."


def _arrow(before: int, after: int) -> str:
    return str(before) if before == after else f"{before} → {after}"
