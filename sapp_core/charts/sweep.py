"""Points of a sweep: time against memory with the Pareto front, and the best of every two values as a heat map."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import plotly.graph_objects as go
from plotly.colors import get_colorscale, sample_colorscale, unlabel_rgb

from sapp_core.charts.numbers import memory_scale, memory_text, percent_text, time_text
from sapp_core.charts.theme import Theme, axis, framed, label_on, plain
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.sweep import PointResult, PointStatus, SweepPoint, best_first, pareto_front

_COLOURS = ("#3f8fd2", "#d9822b", "#2a9d74", "#b35fa8", "#8a7a1f", "#c8553d", "#5b6bb5", "#7c8794")
"""Apart for colour-blind readers (after Okabe and Ito), and visible on light and on dark paper."""
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "pentagon", "star", "hexagon", "triangle-down")
_CELL_COLOURS = "Cividis"
_MOST_LIMITS = 4
_MOST_LABELLED_CELLS = 200
_LONGEST_HOVER_LINE, _MOST_HOVER_LINES = 64, 4

STATUS_WORDS = {
    PointStatus.OPTIMAL: "proven optimal",
    PointStatus.FEASIBLE: "fits",
    PointStatus.INFEASIBLE: "does not fit",
    PointStatus.NO_SOLUTION_IN_TIME: "no plan in time",
    PointStatus.REFUSED: "cannot run",
    PointStatus.FAILED: "failed",
}


@dataclass(frozen=True, slots=True)
class Dimension:
    """One of the lists that a grid combines.

    Attributes:
        name: for the reader.
        value: of a point.
        words: the value for the reader.
    """

    name: str
    value: Callable[[SweepPoint], object]
    words: Callable[[SweepPoint], str]


def _limit_words(point: SweepPoint) -> str:
    return "no limit" if point.memory_limit_mb is None else memory_text(point.memory_limit_mb)


DIMENSIONS = (
    Dimension("Schedule", lambda point: point.schedule_name, lambda point: point.schedule_name),
    Dimension("Stages", lambda point: point.num_stages, lambda point: str(point.num_stages)),
    Dimension("Interleave", lambda point: point.num_chunks, lambda point: str(point.num_chunks)),
    Dimension(
        "Micro-batches", lambda point: point.num_micro_batches or 0, lambda point: str(point.num_micro_batches or "–")
    ),
    Dimension("Sequence splits", lambda point: point.num_sequence_splits, lambda point: str(point.num_sequence_splits)),
    Dimension("Memory limit", lambda point: point.memory_limit_mb or float("inf"), _limit_words),
    Dimension("Objective", lambda point: str(point.objective), lambda point: str(point.objective or "even split")),
)


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of a result; less is better.

    Attributes:
        name: for the reader.
        value: of a result; None where it has none.
        text: the value with its unit, in the time unit given.
    """

    name: str
    value: Callable[[PointResult], float | None]
    text: Callable[[float, str], str]


PER_SAMPLE = Measure(
    "Time per sample", lambda result: result.time_per_sample, lambda value, unit: time_text(value, unit, 4)
)
STEP_TIME = Measure("Step time", lambda result: result.step_time, lambda value, unit: time_text(value, unit, 4))
PEAK = Measure("Peak memory", lambda result: result.highest_peak_mb, lambda value, _: memory_text(value))
BUBBLE = Measure("Bubble", lambda result: result.bubble, lambda value, _: percent_text(value))
MEASURES = (PER_SAMPLE, STEP_TIME, PEAK, BUBBLE)


def pareto_figure(
    results: Sequence[PointResult], profile: ModelProfile, theme: Theme, measure: Measure = PER_SAMPLE
) -> go.Figure:
    """Time of every point against the peak memory of its fullest stage.

    Points that fit are filled, one shape and colour a schedule; what does not fit is a cross. The line is the Pareto
    front, with a ring around its points: nothing that fits is both faster and smaller. The custom data of a point is
    its place in `results`.

    Args:
        results: of points.
        profile: that was swept.
        theme: colours of the paper.
        measure: of time.
    """
    numbers = [(index, result) for index, result in enumerate(results) if measure.value(result) is not None]
    largest = max((result.highest_peak_mb or 0.0 for _, result in numbers), default=0.0)
    limits = _drawn_limits(numbers)
    # The axis reaches the limits too.
    scale, unit = memory_scale(max((largest, *limits)))
    time_unit = plain(profile.time_unit, 12)

    def scatter(name: str, chosen: list[tuple[int, PointResult]], marker: dict[str, Any]) -> go.Scatter:
        return go.Scatter(
            name=name,
            x=[(result.highest_peak_mb or 0.0) / scale for _, result in chosen],
            y=[measure.value(result) for _, result in chosen],
            mode="markers",
            marker=marker,
            customdata=[index for index, _ in chosen],
            hovertext=[point_words(result, time_unit) for _, result in chosen],
            hovertemplate="%{hovertext}<extra></extra>",
            selected={"marker": {"opacity": 1.0, "size": 15}},
            unselected={"marker": {"opacity": 0.75}},
            showlegend=True,
        )

    traces: list[Any] = []
    front = pareto_front(results, measure.value)
    if front:
        traces.append(
            go.Scatter(
                name="Pareto front",
                x=[(result.highest_peak_mb or 0.0) / scale for result in front],
                y=[measure.value(result) for result in front],
                mode="lines+markers",
                line={"shape": "hv", "color": theme.line, "width": 1.6},
                marker={"symbol": "circle-open", "size": 20, "color": theme.line, "line": {"width": 1.6}},
                hoverinfo="skip",
                showlegend=True,
            )
        )
    outline = {"width": 1, "color": theme.background}
    names = sorted({result.point.schedule_name for _, result in numbers})
    for place, name in enumerate(names):
        chosen = [(i, result) for i, result in numbers if result.fits and result.point.schedule_name == name]
        if chosen:
            # Smaller from schedule to schedule: equal points stay visible below each other.
            size = max(8, 13 - place)
            symbol, colour = _SYMBOLS[place % len(_SYMBOLS)], _COLOURS[place % len(_COLOURS)]
            traces.append(scatter(name, chosen, {"symbol": symbol, "color": colour, "size": size, "line": outline}))
    # Under the others and last to be hovered: the same plan may fit under another limit, and then that counts.
    crosses = [(i, result) for i, result in numbers if not result.fits]
    if crosses:
        cross = {"symbol": "x-thin", "size": 9, "line": {"width": 1.8, "color": theme.alarm}}
        traces.append(scatter("Does not fit (even split)", crosses, cross).update(zorder=-1))
    shapes, notes = _limit_lines(limits, scale, theme)
    return framed(
        traces,
        theme,
        title="Time against peak memory",
        subtitle=_counts_line(results, profile),
        height=460,
        layout={
            "margin": {"l": 84, "r": 18, "t": 66, "b": 96},
            "xaxis": axis(theme, f"Peak memory of the fullest stage ({unit})", {"rangemode": "normal", "nticks": 10}),
            "yaxis": axis(theme, f"{measure.name} ({time_unit})", {"tickformat": ",.6~r", "nticks": 8}),
            "shapes": shapes,
            "annotations": notes,
            "hovermode": "closest",
            "dragmode": False,
        },
    )


def heat_map_figure(
    results: Sequence[PointResult],
    profile: ModelProfile,
    theme: Theme,
    across: Dimension,
    down: Dimension,
    measure: Measure = PER_SAMPLE,
) -> go.Figure:
    """The best number for every two values: of all points that fit and have both.

    The custom data of a cell is the place of its point in `results`; of a cell where nothing fits, that of the point
    which is best without fitting, or else of any: its sentences say why.

    Args:
        results: of points.
        profile: that was swept.
        theme: colours of the paper.
        across: values of the x axis.
        down: values of the y axis.
        measure: what is best when it is smallest.
    """
    columns, rows = (_values(results, dimension) for dimension in (across, down))
    places = {result.point: index for index, result in enumerate(results)}
    best: dict[tuple[str, str], PointResult] = {}
    for result in sorted(best_first(results), key=lambda found: _rank(found, measure)):
        best.setdefault((across.words(result.point), down.words(result.point)), result)
    unit = plain(profile.time_unit, 12)
    cells = [(column, row, best[column, row]) for row in rows for column in columns if (column, row) in best]
    numbers = {(column, row): _fitting_value(result, measure) for column, row, result in cells}
    table = [[numbers.get((column, row)) for column in columns] for row in rows]
    values = [numbers[column, row] for column, row, _ in cells]
    labelled = len(columns) * len(rows) <= _MOST_LABELLED_CELLS
    return framed(
        [
            go.Heatmap(
                x=[plain(column) for column in columns],
                y=[plain(row) for row in rows],
                z=table,
                hoverinfo="skip",
                colorscale=_CELL_COLOURS,
                reversescale=True,
                xgap=2,
                ygap=2,
                showscale=False,
                showlegend=False,
            ),
            # Cells of a heat map cannot be selected; an unseen point in the middle of each can, from the whole cell.
            go.Scatter(
                x=[plain(column) for column, _, _ in cells],
                y=[plain(row) for _, row, _ in cells],
                # Plotly's own labels of cells are too faint in the middle of the scale.
                mode="markers+text" if labelled else "markers",
                text=["×" if value is None else measure.text(value, unit) for value in values],
                textposition="middle center",
                textfont={"color": _label_colours(values, theme)},
                cliponaxis=True,
                marker={"size": 12, "opacity": 0},
                selected={"marker": {"opacity": 0}},
                unselected={"marker": {"opacity": 0}},
                customdata=[places[result.point] for _, _, result in cells],
                hovertext=[point_words(result, unit) for _, _, result in cells],
                hovertemplate="%{hovertext}<extra></extra>",
                showlegend=False,
            ),
        ],
        theme,
        title=f"Best {measure.name[0].lower()}{measure.name[1:]}",
        subtitle=f"lighter is better, ×: nothing fits · {plain(profile.name, 28)}",
        height=min(900, max(300, 180 + 34 * len(rows))),
        layout={
            "margin": {"l": 110, "r": 18, "t": 66, "b": 66},
            "plot_bgcolor": theme.lane,
            "dragmode": False,
            "hovermode": "closest",
            "hoverdistance": -1,
            "xaxis": axis(theme, across.name, {"type": "category", "showgrid": False, "fixedrange": True}),
            "yaxis": axis(
                theme, down.name, {"type": "category", "showgrid": False, "fixedrange": True, "autorange": "reversed"}
            ),
        },
    )


def _label_colours(values: Sequence[float | None], theme: Theme) -> list[str]:
    """Colours of labels that can be read on the cells of these values, in their order."""
    known = [value for value in values if value is not None]
    if not known:
        return [theme.text] * len(values)
    smallest, span = min(known), max(known) - min(known)
    # As Plotly does it: a single value has the middle of the scale, the smallest of several its lightest end.
    shares = [1 - (value - smallest) / span if span else 0.5 for value in known]
    fills = iter(sample_colorscale(get_colorscale(_CELL_COLOURS), shares))
    return [theme.text if value is None else label_on(_hexadecimal(next(fills))) for value in values]


def _hexadecimal(rgb: str) -> str:
    return "#" + "".join(f"{round(channel):02x}" for channel in unlabel_rgb(rgb))


def point_words(result: PointResult, unit: str) -> str:
    """A point and what was found there, in lines for a hover."""
    point = result.point
    sizes = f"{point.num_stages} stages × {point.num_chunks} chunk{'' if point.num_chunks == 1 else 's'}"
    work = f"{point.num_micro_batches or '–'} micro-batches"
    if point.num_sequence_splits > 1:
        work += f" × {point.num_sequence_splits} splits"
    if point.data_parallel is not None and point.data_parallel > 1:
        work += f", {point.data_parallel} pipelines"
    how = str(point.objective) if point.objective else f"even split, {result.recompute or 'no'} recomputation"
    lines = [f"<b>{plain(point.schedule_name)}</b> · {sizes}", work, f"limit {_limit_words(point)} · {how}"]
    if result.step_time is not None:
        lines.append(f"step {time_text(result.step_time, unit)} · peak {memory_text(result.highest_peak_mb or 0.0)}")
    lines.append(f"<b>{STATUS_WORDS[result.status]}</b>")
    if not result.fits:
        lines += [plain(line, _LONGEST_HOVER_LINE + 1) for line in _hover_lines(" ".join(result.sentences))]
    return "<br>".join(lines)


def _hover_lines(text: str) -> list[str]:
    lines = wrap(text, _LONGEST_HOVER_LINE)
    return lines if len(lines) <= _MOST_HOVER_LINES else [*lines[: _MOST_HOVER_LINES - 1], "… (the table has it all)"]


def _fitting_value(result: PointResult, measure: Measure) -> float | None:
    return measure.value(result) if result.fits else None


def _rank(result: PointResult, measure: Measure) -> tuple[bool, float]:
    """What fits first, then what is smallest; what has no number last."""
    value = measure.value(result)
    return not result.fits, float("inf") if value is None else value


def _drawn_limits(numbers: list[tuple[int, PointResult]]) -> list[float]:
    """All limits in MiB, unless there are too many to read."""
    limits = sorted({limit for _, result in numbers if (limit := result.point.memory_limit_mb) is not None})
    return limits if len(limits) <= _MOST_LIMITS else []


def _limit_lines(limits: list[float], scale: float, theme: Theme) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A line with its label for each limit."""
    lines = [
        {
            "type": "line",
            "x0": limit / scale,
            "x1": limit / scale,
            "y0": 0,
            "y1": 1,
            "yref": "paper",
            "line": {"color": theme.alarm, "width": 1.4, "dash": "dash"},
            "layer": "below",
            "name": "Memory limit",
            "showlegend": place == 0,
        }
        for place, limit in enumerate(limits)
    ]
    notes = [
        {
            "x": limit / scale,
            "y": 1,
            "yref": "paper",
            "yanchor": "bottom",
            "text": memory_text(limit),
            "showarrow": False,
            "font": {"size": 11, "color": theme.alarm},
        }
        for limit in limits
    ]
    return lines, notes


def _counts_line(results: Sequence[PointResult], profile: ModelProfile) -> str:
    fitting = sum(result.fits for result in results)
    parts = [plain(profile.name, 24), f"{fitting:,} of {len(results):,} points fit"]
    refused = sum(result.status is PointStatus.REFUSED for result in results)
    if refused:
        parts.append(f"{refused:,} cannot run")
    return " · ".join(parts)


def _values(results: Sequence[PointResult], dimension: Dimension) -> list[str]:
    """Words of all values, in the order of the values."""
    words = {dimension.value(result.point): dimension.words(result.point) for result in best_first(results)}
    return [words[value] for value in sorted(words, key=lambda value: (isinstance(value, str), value))]
