"""How a balancing run closes in: the best value found and what is proven, over the seconds of the run."""

from collections.abc import Sequence

import plotly.graph_objects as go

from sapp_core.charts.theme import Theme, axis, framed, plain
from sapp_core.domain.result import Progress


def progress_figure(trace: Sequence[Progress], seconds: float, theme: Theme, value: str, subject: str) -> go.Figure:
    """Best value and proven bound as steps; between them lies what is still open.

    Args:
        trace: of the run, in order.
        seconds: where the lines end.
        theme: colours of the paper.
        value: what is minimised, with its unit.
        subject: which model under which schedule.
    """
    end = max([seconds, *(progress.seconds for progress in trace)])
    bounds = [(progress.seconds, progress.bound) for progress in trace if progress.bound is not None]
    bests = [(progress.seconds, progress.best) for progress in trace if progress.best is not None]
    return framed(
        [
            _steps("Proven lower bound", bounds, end, theme.muted, "dot"),
            _steps("Best found", bests, end, theme.accent, "solid"),
        ],
        theme,
        title="Search",
        subtitle=f"{plain(subject)} · {plain(value)} over the seconds of the run",
        height=280,
        layout={
            "margin": {"l": 84, "r": 18, "t": 66, "b": 88},
            "dragmode": False,
            "xaxis": axis(theme, "Seconds", {"range": [0, end or 1], "fixedrange": True, "nticks": 8}),
            "yaxis": axis(theme, "", {"tickformat": ",.6~r", "fixedrange": True, "nticks": 6}),
        },
    )


def _steps(name: str, points: Sequence[tuple[float, float]], end: float, colour: str, dash: str) -> go.Scatter:
    held = [*points, (end, points[-1][1])] if points else []
    return go.Scatter(
        name=name,
        x=[second for second, _ in held],
        y=[value for _, value in held],
        mode="lines",
        line={"shape": "hv", "width": 2, "color": colour, "dash": dash},
        hovertemplate="%{x:.1f} s: <b>%{y:,.7~r}</b><extra>" + name + "</extra>",
        showlegend=True,
    )
