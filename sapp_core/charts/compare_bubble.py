"""Bubbles of several plans as stacked bars."""

from collections.abc import Sequence

import plotly.graph_objects as go

from sapp_core.charts.numbers import percent_text, signed_percent_text
from sapp_core.charts.theme import Theme, axis, framed, plain, series_look
from sapp_core.domain.timeline import Evaluation

_PARTS = (
    ("Schedule itself", "ideal"),
    ("Uneven stages", "imbalance"),
    ("Recomputation", "recompute"),
    ("Transfers", "transfer"),
)
_ROW_PX = 62
"""Height of a bar with its name."""
_WIDE_ENOUGH = 0.07
"""Part of the chart's width from which a part has room for its number."""


def bubble_comparison_figure(named: Sequence[tuple[str, Evaluation]], theme: Theme) -> go.Figure:
    """One bar for each plan, its parts stacked; parts below zero (a gain) go to the left.

    Args:
        named: (name, evaluation), the first on top.
        theme: colours of the paper.
    """
    rows = list(range(len(named)))
    bubbles = [evaluation.bubble for _, evaluation in named]
    right = [sum(max(0.0, getattr(bubble, part)) for _, part in _PARTS) for bubble in bubbles]
    left = [sum(min(0.0, getattr(bubble, part)) for _, part in _PARTS) for bubble in bubbles]
    lowest, highest = min(0.0, *left), max(right) or 0.01
    span = highest - lowest
    traces: list[go.Bar] = []
    for index, (title, part) in enumerate(_PARTS):
        values = [getattr(bubble, part) for bubble in bubbles]
        if not any(values):
            continue
        look = series_look(index, theme)
        traces.append(
            go.Bar(
                orientation="h",
                name=title,
                y=rows,
                x=values,
                width=0.42,
                marker={
                    "color": look.fill,
                    "line": {"width": 1, "color": theme.background},
                    "pattern": {
                        "shape": look.pattern,
                        "size": 6,
                        "fillmode": "overlay",
                        "fgcolor": look.label,
                        "fgopacity": 0.3,
                    },
                },
                text=[percent_text(value) if abs(value) > _WIDE_ENOUGH * span else "" for value in values],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={"color": look.label, "size": 11},
                hovertext=[signed_percent_text(value) for value in values],
                hovertemplate=title + ": <b>%{hovertext}</b><extra></extra>",
            )
        )
    # Names stand above the bars: beside them they would leave a small screen no room for the bars.
    names = [
        {
            "text": f"{plain(name)}: <b>{percent_text(bubble.total)}</b>",
            "x": 0, "xref": "paper", "xanchor": "left", "y": row, "yshift": 25, "showarrow": False,
            "bgcolor": theme.background, "borderpad": 1, "font": {"size": 12, "color": theme.text},
        }
        for row, (name, _), bubble in zip(rows, named, bubbles, strict=True)
    ]  # fmt: skip
    return framed(
        traces,
        theme,
        title="Where time is lost, side by side",
        subtitle="Above each bar: the whole bubble",
        height=160 + _ROW_PX * len(named),
        layout={
            "margin": {"l": 16, "r": 20, "t": 66, "b": 88},
            "annotations": names,
            "barmode": "relative",
            "dragmode": False,
            "xaxis": axis(
                theme,
                "Bubble, in percent of the model's own work",
                {
                    "range": [lowest - 0.01 * span, highest + 0.04 * span],
                    "tickformat": ".0%",
                    "fixedrange": True,
                    "nticks": 8,
                },
            ),
            "yaxis": axis(
                theme,
                "",
                {
                    "range": [len(named) - 0.6, -0.6],
                    "showticklabels": False,
                    "ticks": "",
                    "showgrid": False,
                    "fixedrange": True,
                },
            ),
        },
    )
