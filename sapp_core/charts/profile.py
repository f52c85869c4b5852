"""What the layer kinds of a profile cost, as small bars."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from sapp_core.charts.numbers import memory_scale
from sapp_core.charts.theme import Figure, Shade, Theme, activation_shade, axis, framed, plain, shade
from sapp_core.domain.profile import MODES, ModelProfile, RecomputeMode
from sapp_core.domain.schedule import OpKind

_BAR_PX = 13
_GAP_PX = 16
_MOST_KINDS = 40
"""Layer kinds that are drawn: more make no picture; the table has them all."""


def profile_times(profile: ModelProfile, theme: Theme) -> Figure:
    """Forward, and backward under each recompute mode, of one layer of each kind."""
    unit = plain(profile.time_unit)
    layers = profile.layers[:_MOST_KINDS]
    series: list[_Series] = [("Forward", shade(OpKind.F, 0, 1), "", [layer.forward_time for layer in layers])]
    for i, mode in enumerate(profile.modes):
        values = [
            layer.backward_time[MODES.index(mode)] if mode in _modes_of(layer.activation_mb) or i == 0 else None
            for layer in layers
        ]
        series.append((f"Backward, {mode}", shade(OpKind.B, i, len(profile.modes)), _PATTERNS[i], values))
    return _bars(profile, theme, series, "Time of one layer", f"one micro-batch, {unit}", f"Time, {unit}", 1.0, unit)


def profile_memory(profile: ModelProfile, theme: Theme) -> Figure:
    """Parameters, and activations under each recompute mode, of one layer of each kind."""
    layers = profile.layers[:_MOST_KINDS]
    known = [value for layer in layers for value in (layer.parameter_mb, *layer.activation_mb) if value is not None]
    size, unit = memory_scale(max(known, default=0.0))
    series: list[_Series] = [
        ("Parameters", Shade(theme.other, theme.text), "", [layer.parameter_mb for layer in layers])
    ]
    for i, mode in enumerate(profile.modes):
        kept = [layer.activation_mb[MODES.index(mode)] for layer in layers]
        series.append((f"Activations, {mode}", activation_shade(i, len(profile.modes)), _PATTERNS[i], kept))
    said = "activations of one micro-batch"
    return _bars(profile, theme, series, "Memory of one layer", said, f"Memory, {unit}", size, unit)


_Series = tuple[str, Shade, str, Sequence[float | None]]
_PATTERNS = ("", "/", ".", "x", "\\")
"""Hatching by place of the mode, so that colour is not the only sign."""


def _modes_of(activation_mb: Sequence[float | None]) -> tuple[RecomputeMode, ...]:
    return tuple(mode for mode, value in zip(MODES, activation_mb, strict=True) if value is not None)


def _bars(
    profile: ModelProfile,
    theme: Theme,
    series: Sequence[_Series],
    title: str,
    subtitle: str,
    axis_title: str,
    size: float,
    unit: str,
) -> Figure:
    layers = profile.layers[:_MOST_KINDS]
    places = list(range(len(layers)))
    traces: list[Any] = [
        go.Bar(
            x=[None if value is None else value / size for value in values],
            y=places,
            orientation="h",
            name=name,
            marker={
                "color": colour.fill,
                "pattern": {"shape": pattern, "fillmode": "overlay", "fgcolor": theme.background, "size": 5},
            },
            hovertemplate=f"{name}: %{{x:,.6~g}} {unit}<extra></extra>",
        )
        for name, colour, pattern, values in series
    ]
    more = f"; the first {_MOST_KINDS} of {len(profile.layers)} kinds" if len(layers) < len(profile.layers) else ""
    return framed(
        traces,
        theme,
        title=title,
        subtitle=f"{plain(profile.name)}, {subtitle}{more}",
        height=170 + len(layers) * (_GAP_PX + _BAR_PX * len(series)),
        layout={
            "barmode": "group",
            "bargap": _GAP_PX / (_GAP_PX + _BAR_PX * len(series)),
            "xaxis": axis(theme, axis_title, {"rangemode": "tozero", "fixedrange": True}),
            "yaxis": axis(
                theme,
                "",
                {
                    "autorange": "reversed",
                    "fixedrange": True,
                    "showgrid": False,
                    "tickvals": places,
                    "ticktext": [plain(layer.name, 18) for layer in layers],
                },
            ),
            "margin": {"l": 130, "r": 18, "t": 66, "b": 108},
        },
    )
