"""Peak memory of several plans, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from sapp_core.charts.memory import Limit, limit_by_stage
from sapp_core.charts.numbers import memory_scale, memory_text
from sapp_core.charts.scene import stage_ticks
from sapp_core.charts.theme import Theme, axis, framed, plain, series_look
from sapp_core.domain.timeline import MEMORY_ROUNDING_MB, Evaluation

_GROUP_WIDTH = 0.84
"""Of a stage, that its bars take together."""


@dataclass(frozen=True, slots=True)
class MemoryBars:
    """One plan in the chart.

    Attributes:
        name: for the reader.
        evaluation: whose memory.
        limit: what its stages may use.
    """

    name: str
    evaluation: Evaluation
    limit: Limit


def memory_comparison_figure(plans: Sequence[MemoryBars], theme: Theme) -> go.Figure:
    """Peaks of every stage, a bar for each plan; limits as dashed lines, and ▲ over the bars that break theirs.

    Args:
        plans: at least one; up to six are told apart.
        theme: colours of the paper.
    """
    num_stages = max(len(plan.evaluation.peak_memory_mb) for plan in plans)
    limits = [_limits(plan) for plan in plans]
    largest = max(
        [peak for plan in plans for peak in plan.evaluation.peak_memory_mb]
        + [value for limit in limits for value in limit or ()]
    )
    top = 1.12 * (largest or 1.0)
    per_unit, unit = memory_scale(top)
    width = _GROUP_WIDTH / len(plans)
    traces: list[Any] = []
    for index, plan in enumerate(plans):
        traces.append(_bars(index, plan, per_unit, width, len(plans), theme))
    for index, limit in _different(limits):
        traces.append(_limit_line(limit, _limit_name(index, plans, limits), per_unit, theme))
    marks = [_over(index, plan, limits[index], per_unit, width, len(plans), theme) for index, plan in enumerate(plans)]
    traces += [mark for mark in marks if mark is not None]
    return framed(
        traces,
        theme,
        title="Peak memory per stage, side by side",
        subtitle=f"{len(plans)} scenarios" if len(plans) > 1 else "1 scenario",
        height=400,
        layout={
            "barmode": "overlay",
            "dragmode": False,
            "xaxis": axis(
                theme,
                "Stage",
                stage_ticks(num_stages) | {"range": [-0.5, num_stages - 0.5], "showgrid": False, "fixedrange": True},
            ),
            "yaxis": axis(
                theme, f"Memory ({unit})", {"range": [0, top / per_unit], "fixedrange": True, "tickformat": ",~r"}
            ),
        },
    )


def _bars(index: int, plan: MemoryBars, per_unit: float, width: float, count: int, theme: Theme) -> go.Bar:
    look = series_look(index, theme)
    peaks = plan.evaluation.peak_memory_mb
    return go.Bar(
        name=plain(plan.name, 32),
        x=[_place(stage, index, width, count) for stage in range(len(peaks))],
        y=[peak / per_unit for peak in peaks],
        width=0.94 * width,
        marker={
            "color": look.fill,
            "line": {"width": 0},
            "pattern": {
                "shape": look.pattern,
                "size": 6,
                "fillmode": "overlay",
                "fgcolor": look.label,
                "fgopacity": 0.6,
            },
        },
        customdata=list(range(len(peaks))),
        hovertext=[f"{memory_text(peak)} ({peak:,.0f} MiB)" for peak in peaks],
        hovertemplate="stage %{customdata}: <b>%{hovertext}</b><extra>" + plain(plan.name, 32) + "</extra>",
    )


def _place(stage: int, index: int, width: float, count: int) -> float:
    """Middle of a bar on the axis of stages."""
    return stage + (index - (count - 1) / 2) * width


def _limits(plan: MemoryBars) -> list[float] | None:
    """`[stage]`, MiB; None without a limit."""
    limits = limit_by_stage(plan.limit, len(plan.evaluation.peak_memory_mb))
    return None if limits is None else [float(value) for value in limits]


def _different(limits: Sequence[list[float] | None]) -> list[tuple[int, list[float]]]:
    """(plan, `[stage]` limit) of the first plan with each limit."""
    found: list[tuple[int, list[float]]] = []
    for index, values in enumerate(limits):
        if values is None:
            continue
        # The same number on more stages is the same line, drawn once as long as the longest.
        same = [at for at, (_, known) in enumerate(found) if set(known) == set(values) and len(set(values)) == 1]
        if same:
            at = same[0]
            found[at] = (found[at][0], max(found[at][1], values, key=len))
        elif values not in [known for _, known in found]:
            found.append((index, values))
    return found


def _limit_name(index: int, plans: Sequence[MemoryBars], limits: Sequence[list[float] | None]) -> str:
    """`Limit 51.8 GiB`, with the plan's name where plans have different limits."""
    values = set(limits[index] or ())
    amount = f" {memory_text(values.pop())}" if len(values) == 1 else ""
    several = len(_different(limits)) > 1 or any(limit is None for limit in limits)
    return f"Limit{amount}" + (f" ({plain(plans[index].name, 24)})" if several else "")


def _limit_line(limit: list[float], name: str, per_unit: float, theme: Theme) -> go.Scatter:
    return go.Scatter(
        name=name,
        mode="lines",
        x=[stage + side for stage in range(len(limit)) for side in (-0.5, 0.5)],
        y=[value / per_unit for value in limit for _ in range(2)],
        line={"color": theme.alarm, "width": 2, "dash": "dash"},
        hoverinfo="skip",
    )


def _over(
    index: int, plan: MemoryBars, limit: list[float] | None, per_unit: float, width: float, count: int, theme: Theme
) -> go.Scatter | None:
    if limit is None:
        return None
    peaks = plan.evaluation.peak_memory_mb
    over = [stage for stage, peak in enumerate(peaks) if peak > limit[stage] + MEMORY_ROUNDING_MB]
    if not over:
        return None
    return go.Scatter(
        mode="text",
        x=[_place(stage, index, width, count) for stage in over],
        y=[peaks[stage] / per_unit for stage in over],
        text=["▲"] * len(over),
        textposition="top center",
        textfont={"color": theme.alarm, "size": 12},
        hovertext=[f"stage {stage}: {memory_text(peaks[stage] - limit[stage])} over the limit" for stage in over],
        hovertemplate="%{hovertext}<extra>" + plain(plan.name, 32) + "</extra>",
        showlegend=False,
        cliponaxis=False,
    )
