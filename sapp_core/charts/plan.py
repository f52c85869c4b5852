"""Where the layers are and what they recompute: as a picture and as a table."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from sapp_core.charts.scene import scenario_line, stage_ticks
from sapp_core.charts.theme import Theme, axis, framed, label_on, plain
from sapp_core.domain.profile import MODES, LayerProfile, RecomputeMode
from sapp_core.domain.timeline import Evaluation

_MODE_FILLS = ("#cfe3c8", "#8fc9b5", "#5aa0b8", "#4269a0", "#3a2f74")
_ENDS_FILL = "#a3aebb"
_KIND_PATTERNS = ("", "/", ".", "-", "+")

MODE_TITLES = {
    RecomputeMode.NONE: "no recomputation",
    RecomputeMode.SELECT: "select",
    RecomputeMode.COMM: "comm",
    RecomputeMode.BOTH: "both (select + comm)",
    RecomputeMode.FULL: "full recomputation",
}


def plan_figure(evaluation: Evaluation, theme: Theme) -> go.Figure:
    """Layers of every cell, stacked by layer kind and recompute mode; the chunks of a stage stand side by side.

    Colour tells the mode (darker = more is recomputed), hatching the layer kind.
    """
    pipeline = evaluation.schedule.pipeline
    cells = [(chunk, stage) for stage in range(pipeline.num_stages) for chunk in range(pipeline.num_chunks)]
    width = 0.84 / pipeline.num_chunks
    places = np.array([stage + width * (chunk - (pipeline.num_chunks - 1) / 2) for chunk, stage in cells])
    traces: list[Any] = []

    def add(name: str, counts: list[int], fill: str, pattern: str) -> None:
        if not any(counts):
            return
        there = np.array(counts) > 0
        traces.append(
            go.Bar(
                name=name,
                x=places[there],
                y=np.array(counts)[there],
                width=0.92 * width,
                marker={
                    "color": fill,
                    "line": {"width": 0.6, "color": theme.background},
                    "pattern": {
                        "shape": pattern,
                        "size": 7,
                        "fillmode": "overlay",
                        "fgcolor": label_on(fill),
                        "fgopacity": 0.35,
                    },
                },
                text=[str(count) for count in counts if count],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={"color": label_on(fill), "size": 12},
                customdata=np.array(cells)[there],
                hovertemplate=(
                    f"stage %{{customdata[1]}}, chunk %{{customdata[0]}}<br><b>%{{y}}</b> × {name}<extra></extra>"
                ),
            )
        )

    def add_ends(layers: tuple[LayerProfile, ...], virtual_stage: int) -> None:
        holders = pipeline.cells(virtual_stage)
        for layer in layers:
            counts = [layer.num_layers if cell in holders else 0 for cell in cells]
            add(f"{plain(layer.name, 28)} ({layer.kind.lower()})", counts, _ENDS_FILL, "x")

    several = len(evaluation.plan.layers) > 1
    add_ends(evaluation.profile.head, 0)
    for index, layer in enumerate(evaluation.plan.layers):
        for mode, mode_cells, fill in zip(MODES, layer.counts, _MODE_FILLS, strict=True):
            name = f"{plain(layer.name, 28)}, {MODE_TITLES[mode]}" if several else MODE_TITLES[mode]
            counts = [mode_cells[chunk][stage] for chunk, stage in cells]
            add(name, counts, fill, _KIND_PATTERNS[index % len(_KIND_PATTERNS)])
    add_ends(evaluation.profile.tail, pipeline.num_virtual_stages - 1)

    return framed(
        traces,
        theme,
        title="Layers per stage" + (", chunks side by side" if pipeline.num_chunks > 1 else ""),
        subtitle=scenario_line(evaluation),
        height=380,
        layout={
            "barmode": "stack",
            "dragmode": False,
            "xaxis": axis(theme, "Stage", stage_ticks(pipeline.num_stages) | {"showgrid": False, "fixedrange": True}),
            "yaxis": axis(theme, "Layers", {"fixedrange": True, "rangemode": "tozero"}),
        },
    )


def plan_table(evaluation: Evaluation) -> dict[str, list[str | int]]:
    """The plan as columns: a row for each chunk, layer kind and mode in use, a column for each stage, and the sums.

    Returns:
        Column name → values, all of the same length; the last row holds the sum of each stage.
    """
    pipeline = evaluation.schedule.pipeline
    stages = range(pipeline.num_stages)
    keys: list[tuple[str, str, str]] = []
    rows: list[list[int]] = []
    for chunk in range(pipeline.num_chunks):
        for layer in evaluation.plan.layers:
            for mode, cells in zip(MODES, layer.counts, strict=True):
                if any(cells[chunk]):
                    keys.append((str(chunk), layer.name, str(mode)))
                    rows.append(list(cells[chunk]))
    keys.append(("all", "all", "all"))
    rows.append([sum(row[stage] for row in rows) for stage in stages])
    table: dict[str, list[str | int]] = {
        name: [key[i] for key in keys] for i, name in enumerate(("Chunk", "Layer kind", "Recompute"))
    }
    table |= {f"Stage {stage}": [row[stage] for row in rows] for stage in stages}
    table["Sum"] = [sum(row) for row in rows]
    return table
