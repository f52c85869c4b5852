"""Where a training step loses time."""

from collections.abc import Sequence

import plotly.graph_objects as go

from sapp_core.charts.numbers import signed_percent_text, time_text
from sapp_core.charts.scene import scenario_line
from sapp_core.charts.theme import Theme, axis, framed, plain
from sapp_core.domain.timeline import Evaluation

_PARTS = ("Schedule itself", "Uneven stages", "Recomputation", "Transfers", "All of it")


def bubble_figure(named: Sequence[tuple[str, Evaluation]], theme: Theme) -> go.Figure:
    """The bubble of one or more plans as a waterfall: part after part, in percent of the model's own work and in time.

    Args:
        named: (name, evaluation) of each plan; the last one is the one that matters and gives the subtitle.
        theme: colours of the paper.
    """
    fills = [theme.other] * (len(named) - 1) + [theme.accent]
    traces = [_waterfall(name, evaluation, fill, theme) for (name, evaluation), fill in zip(named, fills, strict=True)]
    ends = [bound for _, evaluation in named for bound in _bounds(evaluation)]
    span = max(ends) - min(ends) or 1.0
    return framed(
        traces,
        theme,
        title="Where time is lost",
        subtitle=scenario_line(named[-1][1]),
        height=150 + (28 + 32 * len(named)) * len(_PARTS),
        layout={
            "margin": {"l": 112, "r": 16, "t": 66, "b": 84},
            "dragmode": False,
            "waterfallmode": "group",
            "waterfallgap": 0.25,
            "xaxis": axis(
                theme,
                "Time beyond the model's own work",
                # Room for the numbers behind the longest bar.
                {
                    "range": [min(ends) - 0.02 * span, max(ends) + 0.32 * span],
                    "tickformat": ".0%",
                    "fixedrange": True,
                    "nticks": 8,
                },
            ),
            "yaxis": axis(
                theme, "", {"autorange": "reversed", "showgrid": False, "fixedrange": True, "ticksuffix": " "}
            ),
        },
    )


def _waterfall(name: str, evaluation: Evaluation, fill: str, theme: Theme) -> go.Waterfall:
    parts = _shares(evaluation)
    own_work = evaluation.step_time / (1 + evaluation.bubble.total)
    unit = plain(evaluation.profile.time_unit, 12)
    look = {"marker": {"color": fill, "line": {"width": 0}}}
    return go.Waterfall(
        orientation="h",
        name=plain(name),
        y=_PARTS,
        x=parts,
        measure=["relative"] * 4 + ["total"],
        text=[f"{signed_percent_text(part)}<br>{time_text(part * own_work, unit, digits=5)}" for part in parts],
        textposition="outside",
        textfont={"color": theme.text, "size": 11},
        cliponaxis=False,
        increasing=look,
        decreasing=look,
        totals=look,
        connector={"line": {"color": theme.muted, "width": 1, "dash": "dot"}},
        hovertemplate="%{y}: <b>%{text}</b><extra>" + plain(name) + "</extra>",
    )


def _shares(evaluation: Evaluation) -> list[float]:
    bubble = evaluation.bubble
    return [bubble.ideal, bubble.imbalance, bubble.recompute, bubble.transfer, bubble.total]


def _bounds(evaluation: Evaluation) -> list[float]:
    """Every place where a bar of the waterfall starts or ends."""
    reached = [0.0]
    for part in _shares(evaluation)[:-1]:
        reached.append(reached[-1] + part)
    return reached
