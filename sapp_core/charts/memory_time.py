"""Memory of every stage through the step: a lane for each stage, as in the timeline."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from sapp_core.charts.lanes import MAX_STEPS, Steps, area, height, steps_in_window
from sapp_core.charts.memory import STATIC, Limit, limit_by_stage
from sapp_core.charts.numbers import memory_text
from sapp_core.charts.scene import clipped_window, lane_px, scenario_line, stage_axis, time_axis
from sapp_core.charts.theme import Theme, activation_shade, framed, plain
from sapp_core.domain.timeline import MEMORY_ROUNDING_MB, Evaluation


def memory_over_time_figure(
    evaluation: Evaluation,
    theme: Theme,
    limit: Limit,
    window: tuple[float, float] | None = None,
    most_steps: int = MAX_STEPS,
) -> go.Figure:
    """Static memory and activations of every stage as steps over time; stage 0 on top.

    All lanes share one scale: the height of a lane is the largest limit, or the highest peak if that is above it.

    Args:
        evaluation: whose memory.
        theme: colours of the paper.
        limit: drawn as a line in each lane; what lies above is filled in the alarm colour.
        window: visible time; None = the whole step.
        most_steps: changes of a lane that are drawn one by one; more are drawn as the highest of each bin of time.
    """
    shown = clipped_window(window, evaluation.step_time)
    num_stages = evaluation.schedule.pipeline.num_stages
    static = np.array([peak.parameter_mb + peak.constant_mb for peak in evaluation.peaks])
    limits = limit_by_stage(limit, num_stages)
    steps = [_steps(evaluation, stage, static[stage], shown, most_steps) for stage in range(num_stages)]
    scale = max([*evaluation.peak_memory_mb, *(() if limits is None else limits)], default=0.0) or 1.0

    floor = [np.zeros_like(lane.levels) for lane in steps]
    bases = [np.full_like(lane.levels, static[lane.stage]) for lane in steps]
    totals = [lane.levels for lane in steps]
    traces: list[Any] = [
        area("Parameters and constant", STATIC, steps, floor, bases, scale),
        area("Activations", activation_shade(0, 1).fill, steps, bases, totals, scale),
    ]
    if limits is not None:
        ceilings = [np.full_like(lane.levels, limits[lane.stage]) for lane in steps]
        excess = [np.maximum(total, ceiling) for total, ceiling in zip(totals, ceilings, strict=True)]
        if any((top > ceiling + MEMORY_ROUNDING_MB).any() for top, ceiling in zip(excess, ceilings, strict=True)):
            traces.append(area("Over the limit", theme.alarm, steps, ceilings, excess, scale))
        traces.append(_limit_lines(limits, shown, scale, theme))
    traces.append(_hover_line(evaluation, steps, static, scale, theme))
    return framed(
        traces,
        theme,
        title="Memory over time",
        subtitle=scenario_line(evaluation),
        height=150 + lane_px(num_stages) * num_stages,
        layout={
            "plot_bgcolor": theme.lane,
            "dragmode": False,
            "hovermode": "closest",
            "xaxis": time_axis(evaluation, theme, shown) | {"fixedrange": True},
            "yaxis": stage_axis(num_stages, theme),
        },
    )


def _steps(evaluation: Evaluation, stage: int, static_mb: float, window: tuple[float, float], most: int) -> Steps:
    """The part of a stage's memory that lies in the window, MiB."""
    levels = np.array(evaluation.memory.activation_mb[stage]) + static_mb
    return steps_in_window(stage, evaluation.memory.times[stage], levels, window, most)


def _limit_lines(limits: NDArray[np.float64], window: tuple[float, float], scale: float, theme: Theme) -> go.Scatter:
    same = bool((limits == limits[0]).all())
    return go.Scatter(
        name=f"Limit {memory_text(limits[0])}" if same else "Limit",
        x=np.tile([*window, np.nan], len(limits)),
        y=np.repeat([height(stage, limit, scale) for stage, limit in enumerate(limits.tolist())], 3),
        mode="lines",
        line={"color": theme.alarm, "width": 1.5, "dash": "dash"},
        hoverinfo="skip",
    )


def _hover_line(
    evaluation: Evaluation, steps: list[Steps], static: NDArray[np.float64], scale: float, theme: Theme
) -> go.Scatter:
    """The line along the top of every lane; it carries the numbers."""
    unit = plain(evaluation.profile.time_unit, 12)
    # A lane has one edge more than levels, and a gap keeps it apart from the next one.
    stages = np.concatenate([np.full(len(lane.edges) + 1, lane.stage) for lane in steps])
    edges = np.concatenate([np.append(lane.edges, np.nan) for lane in steps])
    levels = np.concatenate([np.append(lane.levels, [lane.levels[-1]] * 2) for lane in steps])
    tops = stages + height(0, levels, scale)
    return go.Scatter(
        name="Memory in use",
        x=edges,
        y=np.where(np.isnan(edges), np.nan, tops).astype(np.float32),
        customdata=np.column_stack((stages, levels, levels - static[stages])).astype(np.float32),
        mode="lines",
        line={"shape": "hv", "width": 1, "color": theme.line},
        hovertemplate=(
            f"stage %{{customdata[0]}} from %{{x:,.7~r}} {unit}<br><b>%{{customdata[1]:,.0f}} MiB</b>, "
            "of which activations %{customdata[2]:,.0f} MiB<extra></extra>"
        ),
        showlegend=False,
    )
