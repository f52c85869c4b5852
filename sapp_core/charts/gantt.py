"""The timeline of a training step: who computes what, when, and where a stage waits."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from sapp_core.charts.block_traces import bar_traces
from sapp_core.charts.blocks import Blocks, blocks_of
from sapp_core.charts.scene import clipped_window, lane_px, scenario_line, stage_axis, time_axis
from sapp_core.charts.theme import Theme, framed
from sapp_core.charts.time_bins import bin_traces
from sapp_core.domain.timeline import Evaluation

MAX_BLOCKS = 4_000
"""Above so many visible blocks a browser draws too slowly; bins of time are shown instead."""
NUM_BINS = 1_300


def gantt_figure(
    evaluation: Evaluation,
    theme: Theme,
    window: tuple[float, float] | None = None,
    until: float = 0.0,
    num_bins: int = NUM_BINS,
    max_blocks: int = MAX_BLOCKS,
) -> go.Figure:
    """Timeline of all stages, stage 0 on top.

    Forward and backward differ by colour, lightness and height, chunks by shade; two stepped lines part warm-up,
    steady phase and cool-down. A view of more than `max_blocks` blocks shows what each stage does most of the time
    in each of `num_bins` bins of time, of which the usual number is all that a screen could resolve.

    Args:
        evaluation: what to draw.
        theme: colours of the paper.
        window: visible time; None = the whole step.
        until: where the time axis ends at least, for a comparison with a longer step.
        num_bins: columns of a view with too many blocks.
        max_blocks: most blocks that are drawn one by one; `MAX_BLOCKS` or less.
    """
    shown = clipped_window(window, max(evaluation.step_time, until))
    pipeline = evaluation.schedule.pipeline
    blocks = blocks_of(evaluation)
    visible = blocks.within(shown)
    if len(visible) > max_blocks:
        traces = [
            *bin_traces(visible, pipeline, shown, num_bins, evaluation.profile.time_unit),
            lane_borders(pipeline.num_stages, shown, theme),
        ]
    else:
        traces = bar_traces(visible, pipeline, shown, evaluation.profile.time_unit, lane_px(pipeline.num_stages))
    lines = phase_lines(blocks, evaluation.step_time, pipeline.num_stages, theme)
    return framed_timeline([*traces, *lines], evaluation, theme, shown)


def framed_timeline(
    traces: Sequence[Any], evaluation: Evaluation, theme: Theme, window: tuple[float, float]
) -> go.Figure:
    """Traces in the frame that all timelines have."""
    num_stages = evaluation.schedule.pipeline.num_stages
    return framed(
        traces,
        theme,
        title="Pipeline timeline",
        subtitle=scenario_line(evaluation),
        height=150 + lane_px(num_stages) * num_stages,
        layout={
            "barmode": "overlay",
            "bargap": 0,
            "plot_bgcolor": theme.lane,
            "dragmode": "select",
            "selectdirection": "h",
            "xaxis": time_axis(evaluation, theme, window),
            "yaxis": stage_axis(num_stages, theme),
        },
    )


def lane_borders(num_stages: int, window: tuple[float, float], theme: Theme) -> go.Scatter:
    """Lines between the lanes of a heat map; gaps of its own would make it three times as slow."""
    borders = np.arange(num_stages - 1) + 0.5
    return go.Scatter(
        x=np.tile([*window, np.nan], len(borders)),
        y=np.repeat(borders, 3),
        mode="lines",
        line={"color": theme.lane, "width": 3},
        hoverinfo="skip",
        showlegend=False,
    )


def phase_lines(blocks: Blocks, step_time: float, num_stages: int, theme: Theme) -> list[Any]:
    """Two stepped lines through all stages: where the warm-up ends and where the cool-down starts."""
    y = np.repeat(np.arange(num_stages), 2) + np.tile([-0.5, 0.5], num_stages)
    lines = []
    for phase, name, dash in ((1, "Warm-up end", "solid"), (2, "Cool-down start", "dot")):
        starts = np.full(num_stages, step_time)
        later = blocks.phase >= phase
        np.minimum.at(starts, blocks.stage[later], blocks.start[later])
        lines.append(
            go.Scatter(
                x=np.repeat(starts, 2),
                y=y,
                mode="lines",
                name=name,
                line={"color": theme.line, "width": 2, "dash": dash},
                hoverinfo="skip",
            )
        )
    return lines
