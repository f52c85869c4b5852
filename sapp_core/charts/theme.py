"""How every chart looks: two themes, one palette, one frame.

The palette follows Okabe and Ito's advice for colour-blind readers (blue against vermilion) and keeps every forward
lighter than every backward, so that a grey print still tells them apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape as escape_html
from html import unescape as unescape_html
from typing import Any, TypeAlias

import plotly.graph_objects as go

from sapp_core.domain.schedule import OpKind

Figure: TypeAlias = go.Figure
"""What every chart function returns; named here for those who may not import plotly."""

FONT = "'Source Sans', 'Source Sans 3', 'Source Sans Pro', 'Segoe UI', Arial, sans-serif"

DARK_LABEL = "#10202f"
LIGHT_LABEL = "#ffffff"


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours of the paper, not of the data.

    Attributes:
        background: behind everything; also behind a saved picture.
        lane: behind the blocks of a stage, where it waits.
        text: titles, ticks and numbers.
        muted: second lines.
        grid: grid lines.
        line: lines drawn over data.
        alarm: what breaks a limit.
        accent: what the chart is about, where one colour is enough.
        other: what it is compared with; apart from the accent in a grey print too.
    """

    background: str
    lane: str
    text: str
    muted: str
    grid: str
    line: str
    alarm: str
    accent: str
    other: str


LIGHT = Theme(
    background="#ffffff",
    lane="#eef1f4",
    text="#1b2733",
    muted="#55626f",
    grid="#d5dbe1",
    line="#1b2733",
    alarm="#b3001b",
    accent="#1d5fa8",
    other="#b4bdc7",
)
DARK = Theme(
    background="#0e1117",
    lane="#1e242d",
    text="#f2f5f8",
    muted="#a9b4c0",
    grid="#39424d",
    line="#f2f5f8",
    alarm="#ff6b7d",
    accent="#6aaef0",
    other="#5c6773",
)

_MARGINS = {"l": 50, "r": 18, "t": 66, "b": 88}
"""Fixed, in px: measuring labels to find margins would draw every chart several times."""
_SUBTITLE_LINE_PX = 16
_LONGEST_SUBTITLE = 62
"""Letters of a line that a chart on a phone has room for."""
_PART = " · "
_BELOW_AXIS_PX = 56
_LEGEND_ROW_PX = 19
_LEGEND_ROWS = 2
"""That the usual margin has room for."""
_MOST_LEGEND_ROWS = 6

_RANGES = {
    OpKind.F: ("#c3e0f7", "#5fa3dc"),
    OpKind.B: ("#c35520", "#8f360a"),
    OpKind.I: ("#e3a32b", "#b97b0e"),
    OpKind.W: ("#7d5ba6", "#3d2563"),
}
_ACTIVATIONS = ("#86cab7", "#03382d")

KIND_TITLES = {OpKind.F: "Forward", OpKind.B: "Backward", OpKind.I: "Input gradient", OpKind.W: "Weight gradient"}
"""Words for op kinds, as legends and hovers use them."""

KIND_PATTERNS = {OpKind.F: "", OpKind.B: "", OpKind.I: "", OpKind.W: "/"}
"""Hatching that goes with a kind; forward and backward are told apart by height and lightness instead."""


@dataclass(frozen=True, slots=True)
class Shade:
    """Colour of an area and of the text on it."""

    fill: str
    label: str


def shade(kind: OpKind, chunk: int, num_chunks: int) -> Shade:
    """Colour by kind, shade by chunk: later chunks are darker."""
    return _on_range(_RANGES[kind], chunk, num_chunks)


def activation_shade(chunk: int, num_chunks: int) -> Shade:
    """Colour of a chunk's activations; later chunks are darker."""
    return _on_range(_ACTIVATIONS, chunk, num_chunks)


def _on_range(ends: tuple[str, str], index: int, count: int) -> Shade:
    share = (index + 0.5) / count
    first, last = (_channels(end) for end in ends)
    mixed = [round(a + (b - a) * share) for a, b in zip(first, last, strict=True)]
    fill = "#" + "".join(f"{channel:02x}" for channel in mixed)
    return Shade(fill, label_on(fill))


_SERIES = (("#1d5fa8", ""), ("#e3a32b", ""), ("#3f9c86", "/"), ("#c35520", "\\"), ("#7d5ba6", "x"), ("#8a97a5", "."))
"""Fill and hatching of things that are compared, six of them apart for colour-blind readers and in grey print."""


@dataclass(frozen=True, slots=True)
class SeriesLook:
    """How one of several compared things is filled.

    Attributes:
        fill: its colour.
        pattern: hatching of bars, in the colour of the label.
        label: colour of text on the fill.
    """

    fill: str
    pattern: str
    label: str


def series_look(index: int, theme: Theme) -> SeriesLook:
    """Look of the thing at a place in a comparison; the first one is the accent of the theme."""
    fill, pattern = _SERIES[index % len(_SERIES)]
    fill = theme.accent if index % len(_SERIES) == 0 else fill
    return SeriesLook(fill, pattern, label_on(fill))


def label_on(fill: str) -> str:
    """Colour of a label that can be read on a fill."""
    return max((DARK_LABEL, LIGHT_LABEL), key=lambda label: contrast(label, fill))


def contrast(first: str, second: str) -> float:
    """Contrast ratio of two colours as WCAG 2.2 defines it: 1 (same) to 21 (black on white)."""
    darker, lighter = sorted((_luminance(first), _luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


def _channels(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


def _luminance(colour: str) -> float:
    linear = [
        value / 12.92 if (value := channel / 255) <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for channel in _channels(colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def plain(text: str, longest: int = 60) -> str:
    """Text from a file for a figure: no markup, no template, no endless line."""
    short = text if len(text) <= longest else text[: longest - 1] + "…"
    # Plotly reads a few HTML tags and, in hovers, %{variables}.
    return escape_html(short, quote=False).replace("%{", "%&#123;")


def framed(
    traces: Sequence[Any], theme: Theme, *, title: str, subtitle: str, height: int, layout: dict[str, Any]
) -> Figure:
    """A figure in the common frame: title above, legend below, room for the axes.

    Args:
        traces: plotly traces.
        theme: colours of the paper.
        title: what the chart shows.
        subtitle: of which scenario; a long one takes two lines.
        height: in pixels, of the whole figure; a legend that is long on a narrow screen adds to it, and so does a
            second line of the subtitle.
        layout: what this chart adds to the common layout or changes in it.
    """
    named = sum(1 for trace in traces if trace.showlegend is not False)
    # A narrow screen has room for two entries a row.
    more = _LEGEND_ROW_PX * max(0, min(_MOST_LEGEND_ROWS, (named + 1) // 2) - _LEGEND_ROWS)
    lines = _subtitle_lines(subtitle)
    common: dict[str, Any] = {
        "template": "none",
        "height": height + more + _SUBTITLE_LINE_PX * (len(lines) - 1),
        "margin": _MARGINS | {"b": _MARGINS["b"] + more},
        "paper_bgcolor": theme.background,
        "plot_bgcolor": theme.background,
        "font": {"family": FONT, "size": 13, "color": theme.text},
        "title": {
            "text": f"{title}<br><span style='font-size:12.5px;color:{theme.muted}'>{'<br>'.join(lines)}</span>",
            "font": {"size": 17, "color": theme.text},
            "x": 0,
            "xanchor": "left",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 22, "l": 8},
        },
        "legend": {
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            # In px: by default a legend of more rows than half the plot scrolls.
            "maxheight": 400,
            # Just below the axis title; on a narrow screen a legend of several rows pushes the axis up.
            "y": -_BELOW_AXIS_PX / (height - _MARGINS["t"] - _MARGINS["b"]),
            "yanchor": "top",
            "font": {"size": 11},
            "traceorder": "normal",
            "itemclick": False,
            "itemdoubleclick": False,
        },
        "hoverlabel": {"font": {"family": FONT, "size": 13}, "align": "left"},
    }
    whole = common | layout
    margin = whole["margin"]
    whole["margin"] = margin | {"t": margin["t"] + _SUBTITLE_LINE_PX * (len(lines) - 1)}
    return go.Figure(data=list(traces), layout=whole)


def _subtitle_lines(subtitle: str) -> list[str]:
    """One line, or two of about the same length, broken between two parts: no chart can measure text in advance."""
    parts = subtitle.split(_PART)
    if len(unescape_html(subtitle)) <= _LONGEST_SUBTITLE or len(parts) == 1:
        return [subtitle]
    broken = [(_PART.join(parts[:place]), _PART.join(parts[place:])) for place in range(1, len(parts))]
    return list(min(broken, key=lambda lines: max(len(unescape_html(line)) for line in lines)))


def axis(theme: Theme, title: str, options: dict[str, Any]) -> dict[str, Any]:
    """An axis in the theme's colours, with what this chart adds or changes."""
    common: dict[str, Any] = {
        "gridcolor": theme.grid,
        "linecolor": theme.grid,
        "tickcolor": theme.grid,
        "zeroline": False,
        "title": {"text": title, "font": {"size": 13, "color": theme.muted}, "standoff": 6},
    }
    return common | options
