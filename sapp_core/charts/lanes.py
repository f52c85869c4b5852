"""Step functions drawn in lanes, one lane a stage, all on one scale."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Strip:
    """The part of every stage's lane that some blocks are drawn in.

    Attributes:
        middle: from the middle of the lane, in lanes; below it is positive.
        share: of the lane's height.
        name: for hovers, where a chart has several strips.
    """

    middle: float = 0.0
    share: float = 1.0
    name: str = ""


WHOLE_LANE = Strip()

MAX_STEPS = 600
"""A stage whose value changes more often is drawn as the highest value in each of so many bins of time."""
LANE_HEIGHT = 0.88


@dataclass(frozen=True, slots=True)
class Steps:
    """One stage's value as steps: `levels[i]` holds from `edges[i]` to `edges[i + 1]`."""

    stage: int
    edges: Floats
    levels: Floats


def steps_in_window(stage: int, times: Sequence[float], levels: Floats, window: tuple[float, float]) -> Steps:
    """The part of a step function that lies in a window.

    Args:
        stage: whose lane it is.
        times: ascending, starting at 0.
        levels: from each of the times until the next.
        window: visible time.
    """
    at = np.array(times)
    inside = at[(at > window[0]) & (at < window[1])]
    if len(inside) > MAX_STEPS:
        edges = np.linspace(*window, MAX_STEPS + 1)
        before = np.maximum(np.searchsorted(at, edges, side="right") - 1, 0)
        # The highest of what a bin starts with, what happens in it, and what it hands on: no peak gets lost.
        highest = np.maximum.reduceat(levels, before)[:-1]
        return Steps(stage, edges, np.maximum(highest, levels[before[1:]]))
    edges = np.concatenate(([window[0]], inside, [window[1]]))
    return Steps(stage, edges, levels[np.maximum(np.searchsorted(at, edges[:-1], side="right") - 1, 0)])


def height(stage: int, value: Floats | float, scale: float) -> Floats:
    """Where a value lies in its lane; lanes grow upwards, stage numbers downwards."""
    return stage + LANE_HEIGHT * (0.5 - np.asarray(value, dtype=np.float64) / scale)


def area(
    name: str, colour: str, steps: Sequence[Steps], lower: Sequence[Floats], upper: Sequence[Floats], scale: float
) -> go.Scatter:
    """The area between two step functions of every stage: one polygon a lane, all in one trace."""
    xs: list[Floats] = []
    ys: list[Floats] = []
    gap = np.array([np.nan])
    for lane, low, high in zip(steps, lower, upper, strict=True):
        along = np.repeat(lane.edges, 2)[1:-1]
        xs += [along, along[::-1], gap]
        ys += [np.repeat(height(lane.stage, high, scale), 2), np.repeat(height(lane.stage, low, scale), 2)[::-1], gap]
    return go.Scatter(
        name=name,
        x=np.concatenate(xs),
        y=np.concatenate(ys).astype(np.float32),
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=colour,
        hoverinfo="skip",
    )
