"""Memory of every stage: at its peak, part by part, and as it rises and falls through the step."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from sapp_core.charts.numbers import memory_scale, memory_text
from sapp_core.charts.scene import scenario_line, stage_ticks
from sapp_core.charts.theme import LIGHT_LABEL, Theme, activation_shade, axis, framed, label_on
from sapp_core.domain.timeline import MEMORY_ROUNDING_MB, Evaluation

Limit = float | tuple[float, ...] | None
"""Memory limit in MiB: one for all stages, one `[stage]`, or none."""

STATIC = "#5c6b7a"
"""Colour of memory that does not depend on the schedule."""
_CONSTANT = "#a3aebb"
_TALL_ENOUGH = 0.1
"""Part of the chart's height from which a bar has room for its number."""


def memory_figure(
    evaluation: Evaluation,
    theme: Theme,
    limit: Limit,
    reference: Evaluation | None = None,
    reference_name: str = "Even split",
) -> go.Figure:
    """Peak memory of every stage, stacked into parameters, constant and the activations of each chunk.

    What lies above the limit is hatched in the alarm colour and marked with ▲ and the excess.

    Args:
        evaluation: whose memory.
        theme: colours of the paper.
        limit: the line that no bar may cross.
        reference: another plan of the same sizes whose peaks are shown as dashes.
        reference_name: what the reader calls it.
    """
    stages = np.arange(evaluation.schedule.pipeline.num_stages)
    peaks = np.array(evaluation.peak_memory_mb)
    limits = limit_by_stage(limit, len(stages))
    others = np.array(reference.peak_memory_mb if reference else ())
    largest = float(max([*peaks, *(limits if limits is not None else ())], default=0.0))
    # The other plan may need many times as much; it must not squash the bars that matter.
    top = 1.12 * (min(max([largest, *others]), 1.6 * largest) or 1.0)
    per_unit, unit = memory_scale(top)
    parts = _parts(evaluation)
    traces: list[Any] = [
        _part(name, stages, np.array(values), per_unit, colour, pattern, theme)
        for name, values, colour, pattern in parts
    ]
    if len(others):
        traces.append(_dashes(reference_name, stages, others, top, per_unit, theme))
    if limits is not None:
        traces += _limit_traces(stages, peaks, limits, per_unit, theme)
    tops = [
        label_on(next((colour for _, values, colour, _ in reversed(parts) if values[stage]), STATIC))
        for stage in stages.tolist()
    ]
    traces.append(_totals(stages, peaks, limits, tops, top, per_unit, theme))
    return framed(
        traces,
        theme,
        title="Peak memory per stage",
        subtitle=scenario_line(evaluation),
        height=400,
        layout={
            "barmode": "stack",
            "bargap": 0.22,
            "dragmode": False,
            "xaxis": axis(theme, "Stage", stage_ticks(len(stages)) | {"showgrid": False, "fixedrange": True}),
            "yaxis": axis(
                theme,
                f"Memory ({unit})",
                {"range": [0, top / per_unit], "fixedrange": True, "tickformat": ",~r"},
            ),
        },
    )


def limit_by_stage(limit: Limit, num_stages: int) -> NDArray[np.float64] | None:
    """`[stage]` limits in MiB, None without a limit."""
    if limit is None:
        return None
    return np.broadcast_to(np.asarray(limit, dtype=np.float64), (num_stages,))


def _parts(evaluation: Evaluation) -> list[tuple[str, Sequence[float], str, str]]:
    """(name, `[stage]` MiB, colour, hatching) from the bottom up; parts that are nowhere are left out."""
    num_chunks = evaluation.schedule.pipeline.num_chunks
    parts: list[tuple[str, Sequence[float], str, str]] = [
        ("Parameters", [peak.parameter_mb for peak in evaluation.peaks], STATIC, ""),
        ("Constant", [peak.constant_mb for peak in evaluation.peaks], _CONSTANT, "/"),
    ]
    for chunk in range(num_chunks):
        name = "Activations" + (f", chunk {chunk}" if num_chunks > 1 else "")
        values = [peak.activation_mb[chunk] for peak in evaluation.peaks]
        parts.append((name, values, activation_shade(chunk, num_chunks).fill, ""))
    return [part for part in parts if any(part[1])]


def _part(
    name: str,
    stages: NDArray[np.int_],
    mb: NDArray[np.float64],
    per_unit: float,
    colour: str,
    pattern: str,
    theme: Theme,
) -> go.Bar:
    return go.Bar(
        name=name,
        x=stages,
        y=mb / per_unit,
        marker={
            "color": colour,
            "line": {"width": 0.8, "color": theme.background},
            "pattern": {"shape": pattern, "size": 6, "fillmode": "overlay", "fgcolor": LIGHT_LABEL},
        },
        hovertext=[memory_text(value) for value in mb.tolist()],
        customdata=mb,
        hovertemplate=f"stage %{{x}}<br>{name}: <b>%{{hovertext}}</b> (%{{customdata:,.0f}} MiB)<extra></extra>",
    )


def _dashes(
    name: str, stages: NDArray[np.int_], mb: NDArray[np.float64], top: float, per_unit: float, theme: Theme
) -> go.Scatter:
    """Peaks of the other plan; those above the top of the chart as arrows at its edge."""
    beyond = mb > top
    return go.Scatter(
        name=name,
        mode="markers",
        x=stages,
        y=np.where(beyond, 0.97 * top, mb) / per_unit,
        marker={
            "symbol": np.where(beyond, "arrow-bar-up-open", "line-ew").tolist(),
            "size": np.where(beyond, 10, 16),
            "line": {"width": 2.5, "color": theme.text},
            "color": theme.text,
        },
        hovertext=[memory_text(value) for value in mb.tolist()],
        hovertemplate=f"stage %{{x}}<br>{name.lower()}: <b>%{{hovertext}}</b><extra></extra>",
    )


def _limit_traces(
    stages: NDArray[np.int_],
    peaks: NDArray[np.float64],
    limits: NDArray[np.float64],
    per_unit: float,
    theme: Theme,
) -> list[Any]:
    same = bool((limits == limits[0]).all())
    line = go.Scatter(
        name=f"Limit {memory_text(limits[0])}" if same else "Limit",
        mode="lines",
        x=np.repeat(stages, 2) + np.tile([-0.5, 0.5], len(stages)),
        y=np.repeat(limits, 2) / per_unit,
        line={"color": theme.alarm, "width": 2, "dash": "dash"},
        hoverinfo="skip",
    )
    over = peaks > limits + MEMORY_ROUNDING_MB
    if not over.any():
        return [line]
    excess = (peaks - limits)[over]
    hatched = go.Bar(
        name="Over the limit",
        x=stages[over],
        base=(limits[over] / per_unit),
        y=excess / per_unit,
        marker={
            "color": "rgba(0,0,0,0)",
            "line": {"width": 2, "color": theme.alarm},
            "pattern": {"shape": "/", "size": 9, "solidity": 0.35, "fgcolor": theme.alarm, "bgcolor": theme.background},
        },
        hovertext=[memory_text(value) for value in excess.tolist()],
        hovertemplate="stage %{x} is <b>%{hovertext}</b> over the limit<extra></extra>",
    )
    return [hatched, line]


def _totals(
    stages: NDArray[np.int_],
    peaks: NDArray[np.float64],
    limits: NDArray[np.float64] | None,
    inside: list[str],
    top: float,
    per_unit: float,
    theme: Theme,
) -> go.Scatter:
    """The number in the top of each bar; above a bar that breaks its limit a mark and the excess."""
    decimals = 0 if per_unit == 1 else 1
    texts, places, colours = [], [], []
    limited = (peaks if limits is None else limits).tolist()
    for peak, limit, readable in zip(peaks.tolist(), limited, inside, strict=True):
        if peak > limit + MEMORY_ROUNDING_MB:
            text, place, colour = f"▲ +{(peak - limit) / per_unit:,.{decimals}f}", "top center", theme.alarm
        elif peak > _TALL_ENOUGH * top:
            text, place, colour = f"{peak / per_unit:,.{decimals}f}", "bottom center", readable
        else:
            text, place, colour = f"{peak / per_unit:,.{decimals}f}", "top center", theme.text
        texts.append(text)
        places.append(place)
        colours.append(colour)
    return go.Scatter(
        mode="text",
        x=stages,
        y=peaks / per_unit,
        text=texts,
        textposition=places,
        textfont={"size": 12, "color": colours},
        showlegend=False,
        hoverinfo="skip",
        cliponaxis=False,
    )
