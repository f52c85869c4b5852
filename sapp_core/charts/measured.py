"""Measured against simulated: both timelines in one lane a stage, and the differences as a table."""

from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from sapp_core.charts.block_traces import bar_traces
from sapp_core.charts.blocks import Blocks, blocks_of
from sapp_core.charts.gantt import MAX_BLOCKS, NUM_BINS, lane_borders
from sapp_core.charts.lanes import Strip
from sapp_core.charts.numbers import time_text
from sapp_core.charts.scene import clipped_window, lane_px, stage_axis, stage_ticks, time_axis
from sapp_core.charts.theme import KIND_TITLES, Figure, Theme, framed, plain
from sapp_core.charts.time_bins import bin_traces
from sapp_core.domain.measured import MeasuredComparison, MeasuredStep
from sapp_core.domain.timeline import Evaluation

Column: TypeAlias = list[int] | list[str] | list[float] | list[float | None]

SIMULATED = Strip(-0.25, 0.5, "simulated")
MEASURED = Strip(0.25, 0.5, "measured")

_NAMED_STRIPS = 16
"""Up to so many stages the axis names both halves of every lane."""
_NAMED_LANE_PX = 28
_LEAST_LANE_PX = 14


def measured_figure(
    evaluation: Evaluation, step: MeasuredStep, theme: Theme, window: tuple[float, float] | None = None
) -> Figure:
    """Both timelines, the simulated one in the upper half of each lane, the measured one in the lower half, on a band.

    As in the timeline, a view of very many blocks shows bins of time.

    Args:
        evaluation: what was simulated.
        step: what was measured.
        theme: colours of the paper.
        window: visible time; None = the longer of the two steps.
    """
    pipeline, unit = evaluation.schedule.pipeline, evaluation.profile.time_unit
    until = step_end(evaluation, step)
    shown = clipped_window(window, until)
    both = [
        (blocks.within(shown), strip)
        for blocks, strip in ((blocks_of(evaluation), SIMULATED), (measured_blocks(evaluation, step), MEASURED))
    ]
    px = _lane_px(pipeline.num_stages)
    traces: list[Any] = []
    if sum(len(blocks) for blocks, _ in both) > MAX_BLOCKS:
        for blocks, strip in both:
            traces += bin_traces(blocks, pipeline, shown, NUM_BINS // 2, unit, strip)
        traces.append(lane_borders(pipeline.num_stages, shown, theme))
    else:
        for blocks, strip in both:
            traces += bar_traces(blocks, pipeline, shown, unit, px, strip)
    _name_once(traces)
    times = [time_text(time, plain(unit, 12)) for time in (evaluation.step_time, step.end)]
    return framed(
        traces,
        theme,
        title="Measured against simulated",
        subtitle=f"above: simulated, {times[0]} · below, on a band: measured, {times[1]}",
        height=150 + px * pipeline.num_stages,
        layout={
            "barmode": "overlay",
            "bargap": 0,
            "plot_bgcolor": theme.lane,
            "shapes": [_band(stage, theme) for stage in range(pipeline.num_stages)],
            "xaxis": time_axis(evaluation, theme, shown) | {"fixedrange": True},
            "yaxis": stage_axis(pipeline.num_stages, theme) | _ticks(pipeline.num_stages),
        },
    )


def step_end(evaluation: Evaluation, step: MeasuredStep) -> float:
    """End of the longer of the two steps."""
    return max(evaluation.step_time, step.end)


def measured_blocks(evaluation: Evaluation, step: MeasuredStep) -> Blocks:
    """The measured ops, where and when they ran."""
    starts, ends = (np.array(times, dtype=np.float64) for times in (step.starts, step.ends))
    return replace(blocks_of(evaluation), start=starts, end=ends).where(~np.isnan(ends))


def difference_table(comparison: MeasuredComparison, unit: str) -> dict[str, Column]:
    """A row for each stage and kind of op; numbers, so that a table can be sorted by them."""
    rows = comparison.kinds
    return {
        "Stage": [row.stage for row in rows],
        "Work": [KIND_TITLES[row.kind] for row in rows],
        "Runs": [row.count for row in rows],
        f"Measured ({unit})": [row.measured for row in rows],
        f"Simulated ({unit})": [row.simulated for row in rows],
        f"Difference ({unit})": [row.difference for row in rows],
        "Difference (%)": [None if row.share is None else 100 * row.share for row in rows],
    }


def idle_table(comparison: MeasuredComparison, unit: str) -> dict[str, Column]:
    """Idle time of each stage, measured and simulated; empty where it was not measured."""
    if comparison.idle is None:
        return {}
    return {
        "Stage": list(range(len(comparison.idle))),
        f"Idle, measured ({unit})": list(comparison.idle),
        f"Idle, simulated ({unit})": list(comparison.simulated_idle),
    }


def _name_once(traces: list[Any]) -> None:
    """One entry in the legend for each kind of work and chunk."""
    named = set()
    for trace in traces:
        if trace.showlegend is not False:
            trace.showlegend = trace.name not in named
            named.add(trace.name)


def _lane_px(num_stages: int) -> int:
    return max(lane_px(num_stages), _NAMED_LANE_PX if num_stages <= _NAMED_STRIPS else _LEAST_LANE_PX)


def _band(stage: int, theme: Theme) -> dict[str, Any]:
    """Behind the measured half of a lane: it tells the halves apart without the colour of blocks."""
    return {
        "type": "rect",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": stage,
        "y1": stage + 0.5,
        "fillcolor": theme.grid,
        "line": {"width": 0},
        "layer": "below",
    }


def _ticks(num_stages: int) -> dict[str, Any]:
    if num_stages > _NAMED_STRIPS:
        return stage_ticks(num_stages)
    return {
        "tickvals": [stage + strip.middle for stage in range(num_stages) for strip in (SIMULATED, MEASURED)],
        "ticktext": [text for stage in range(num_stages) for text in (f"{stage} sim", "meas")],
        "tickfont": {"size": 10},
        # Two digits and a word leave no room for it.
        "title": {"text": ""},
    }
