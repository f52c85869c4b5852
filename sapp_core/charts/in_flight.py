"""Micro-batches in flight on every stage through the step: a lane for each stage, as in the timeline."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from sapp_core.charts.lanes import Floats, Steps, area, height, steps_in_window
from sapp_core.charts.numbers import count_text
from sapp_core.charts.scene import clipped_window, lane_px, scenario_line, stage_axis, time_axis
from sapp_core.charts.theme import Theme, activation_shade, framed, plain
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.timeline import Evaluation, InFlightTimeline


@dataclass(frozen=True, slots=True)
class Most:
    """What the fullest stage keeps at a time.

    Attributes:
        chunks: micro-batches of any of its chunks.
        micro_batches: the same in micro-batches of a stage's whole share of one model.
    """

    chunks: float
    micro_batches: float


def most_in_flight(evaluation: Evaluation) -> Most:
    """Of a model whose cells all keep 1 MiB (`unit_profile`)."""
    pipeline = evaluation.schedule.pipeline
    chunks = max(sum(peak.activation_mb) for peak in evaluation.peaks)
    return Most(chunks, chunks * pipeline.num_stages / pipeline.num_virtual_stages)


def in_flight_figure(
    evaluation: Evaluation,
    in_flight: InFlightTimeline,
    theme: Theme,
    window: tuple[float, float] | None = None,
    until: float = 0.0,
) -> go.Figure:
    """Counts of all chunks stacked, stage 0 on top; a lane is as high as the largest count of any stage.

    Args:
        evaluation: whose order and times.
        in_flight: its counts over time.
        theme: colours of the paper.
        window: visible time; None = the whole step.
        until: where the time axis ends at least, for a comparison with a longer step.
    """
    shown = clipped_window(window, max(evaluation.step_time, until))
    pipeline = evaluation.schedule.pipeline
    totals = [np.cumsum(np.array(counts), axis=1) for counts in in_flight.counts]
    scale = max(float(stacked[:, -1].max()) for stacked in totals) or 1.0

    def lanes(chunk: int) -> list[Steps]:
        return [
            steps_in_window(stage, in_flight.times[stage], stacked[:, chunk], shown)
            for stage, stacked in enumerate(totals)
        ]

    traces: list[Any] = []
    below: list[Floats] = []
    steps: list[Steps] = []
    for chunk in range(pipeline.num_chunks):
        steps = lanes(chunk)
        below = below or [np.zeros_like(lane.levels) for lane in steps]
        tops = [lane.levels for lane in steps]
        name = f"Chunk {chunk}" if pipeline.num_chunks > 1 else "In flight"
        traces.append(area(name, activation_shade(chunk, pipeline.num_chunks).fill, steps, below, tops, scale))
        below = tops
    traces.append(_hover_line(evaluation, steps, scale, theme))
    return framed(
        traces,
        theme,
        title=f"In flight over time, at most {count_text(scale)} on a stage",
        subtitle=scenario_line(evaluation),
        height=150 + lane_px(pipeline.num_stages) * pipeline.num_stages,
        layout={
            "plot_bgcolor": theme.lane,
            "dragmode": False,
            "hovermode": "closest",
            "xaxis": time_axis(evaluation, theme, shown) | {"fixedrange": True},
            "yaxis": stage_axis(pipeline.num_stages, theme),
        },
    )


def in_flight_table(pipeline: Pipeline, peaks: Sequence[Sequence[float]]) -> dict[str, list[int | float]]:
    """The most in flight of each chunk as columns, a row for each stage.

    Args:
        pipeline: whose chunks.
        peaks: `[stage][chunk]`.
    """
    table: dict[str, list[int | float]] = {"Stage": list(range(pipeline.num_stages))}
    return table | {f"Chunk {chunk}": [stage[chunk] for stage in peaks] for chunk in range(pipeline.num_chunks)}


def _hover_line(evaluation: Evaluation, steps: list[Steps], scale: float, theme: Theme) -> go.Scatter:
    """The line along the top of every lane; it carries the numbers."""
    unit = plain(evaluation.profile.time_unit, 12)
    stages = np.concatenate([np.full(len(lane.edges) + 1, lane.stage) for lane in steps])
    levels = np.concatenate([np.append(lane.levels, [lane.levels[-1]] * 2) for lane in steps])
    edges = np.concatenate([np.append(lane.edges, np.nan) for lane in steps])
    return go.Scatter(
        name="In flight",
        x=edges,
        y=np.where(np.isnan(edges), np.nan, stages + height(0, levels, scale)).astype(np.float32),
        customdata=np.column_stack((stages, levels)),
        mode="lines",
        line={"shape": "hv", "width": 1, "color": theme.line},
        hovertemplate=f"stage %{{customdata[0]}} from %{{x:,.7~r}} {unit}<br><b>%{{customdata[1]:,.4~r}} in flight</b>"
        "<extra></extra>",
        showlegend=False,
    )
