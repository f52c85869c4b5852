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
_LONGEST_NAME = 26
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
    traces: list[go.Bar | go.Scatter] = []
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
                width=0.62,
                marker={
                    "color": look.fill,
                    "line": {"width": 1, "color": theme.background},
                    "pattern": {"shape": look.pattern, "size": 6, "fillmode": "overlay", "fgcolor": look.label},
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
    traces.append(
        go.Scatter(
            mode="text",
            x=[value or 0.0 for value in right],
            y=rows,
            text=[f" {percent_text(bubble.total)}" for bubble in bubbles],
            textposition="middle right",
            textfont={"color": theme.text, "size": 12},
            showlegend=False,
            hoverinfo="skip",
            cliponaxis=False,
        )
    )
    return framed(
        traces,
        theme,
        title="Where time is lost, side by side",
        subtitle="Behind each bar: the whole bubble",
        height=170 + 44 * len(named),
        layout={
            "margin": {"l": 186, "r": 20, "t": 66, "b": 88},
            "barmode": "relative",
            "dragmode": False,
            "xaxis": axis(
                theme,
                "Bubble, in percent of the model's own work",
                {
                    "range": [lowest - 0.01 * span, highest + 0.14 * span],
                    "tickformat": ".0%",
                    "fixedrange": True,
                    "nticks": 8,
                },
            ),
            "yaxis": axis(
                theme,
                "",
                {
                    "range": [len(named) - 0.5, -0.5],
                    "tickvals": rows,
                    "ticktext": [plain(name, _LONGEST_NAME) for name, _ in named],
                    "showgrid": False,
                    "fixedrange": True,
                    "ticksuffix": " ",
                },
            ),
        },
    )
