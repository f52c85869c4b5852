"""Timelines with too many blocks to draw: what each stage does most of the time in each bin of time."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from sapp_core.charts.blocks import Blocks
from sapp_core.charts.lanes import WHOLE_LANE, Strip
from sapp_core.charts.scene import activity_name
from sapp_core.charts.theme import plain, shade
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.schedule import OP_KINDS, OpKind


@dataclass(frozen=True, slots=True)
class TimeBins:
    """Occupation of equal bins of a time window.

    Attributes:
        edges: `[bin + 1]`, in the profile's time unit.
        activities: `[activity]` → (position in `OP_KINDS`, chunk), those that occur.
        busiest: `[stage][bin]` → activity that fills most of the bin; −1 where waiting does.
        busy: `[stage][bin]`, share of the bin in which the stage works.
    """

    edges: NDArray[np.float64]
    activities: tuple[tuple[int, int], ...]
    busiest: NDArray[np.int16]
    busy: NDArray[np.float64]


def time_bins(blocks: Blocks, num_stages: int, window: tuple[float, float], num_bins: int) -> TimeBins:
    """Count the work of every stage in equal bins of a window.

    Args:
        blocks: those inside the window.
        num_stages: S; stages without a block only wait.
        window: start and end, in the profile's time unit.
        num_bins: bins the window is cut into.
    """
    edges = np.linspace(*window, num_bins + 1)
    width = (window[1] - window[0]) / num_bins
    keys = blocks.kind.astype(np.int64) * (1 + int(blocks.chunk.max(initial=0))) + blocks.chunk
    found, first = np.unique(keys, return_index=True)
    activities = tuple((int(blocks.kind[i]), int(blocks.chunk[i])) for i in first)
    work = np.zeros((len(found) + 1, num_stages, num_bins))
    for stage in range(num_stages):
        on_stage = blocks.stage == stage
        for a, key in enumerate(found):
            chosen = on_stage & (keys == key)
            if chosen.any():
                work[a + 1, stage] = _work_in_bins(blocks.start[chosen], blocks.end[chosen], edges)
    # Overlapped work of two kinds at once fills the time once.
    busy = np.minimum(work[1:].sum(axis=0) / width, 1.0)
    work[0] = (1.0 - busy) * width
    return TimeBins(edges, activities, (work.argmax(axis=0) - 1).astype(np.int16), busy)


def bin_traces(
    blocks: Blocks,
    pipeline: Pipeline,
    window: tuple[float, float],
    num_bins: int,
    unit: str,
    strip: Strip = WHOLE_LANE,
) -> list[go.Heatmap]:
    """One heat map for each kind of work and chunk, coloured where that work fills most of a bin.

    The strip is the whole lane, or one half of it.
    """
    bins = time_bins(blocks, pipeline.num_stages, window, num_bins)
    # A heat map has no gaps between its rows: for half a lane every other row is empty.
    empty = [] if strip.share == 1 else [np.full_like(bins.busy, np.nan)]
    middles = (bins.edges[:-1] + bins.edges[1:]) / 2
    traces = []
    for a, (k, chunk) in enumerate(bins.activities):
        traces.append(
            go.Heatmap(
                bin_look(OP_KINDS[k], chunk, pipeline, unit, strip),
                x0=middles[0],
                dx=middles[1] - middles[0],
                z=_interleaved(np.where(bins.busiest == a, bins.busy, np.nan), *empty).astype(np.float32),
            )
        )
    return traces


def bin_look(kind: OpKind, chunk: int, pipeline: Pipeline, unit: str, strip: Strip = WHOLE_LANE) -> dict[str, Any]:
    """What the heat map of a kind of work and chunk is without its numbers, as plotly attributes."""
    colour = shade(kind, chunk, pipeline.num_chunks).fill
    name = activity_name(kind, chunk, pipeline)
    return {
        "type": "heatmap",
        "y0": strip.middle,
        "dy": 1 if strip.share == 1 else 0.5,
        "name": name,
        "colorscale": [[0, colour], [1, colour]],
        "zmin": 0,
        "zmax": 1,
        "showscale": False,
        "showlegend": True,
        "hoverongaps": False,
        "hovertemplate": (
            f"{strip.name and f'{strip.name}, '}mostly <b>{name}</b><br>"
            f"stage %{{y:.0f}} at %{{x:,.7~r}} {plain(unit)}<br>"
            "busy %{z:.0%} of this moment<extra></extra>"
        ),
    }


def _interleaved(*grids: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of all grids in turn: the first of each, the second of each, and so on."""
    return np.stack(grids, axis=1).reshape(-1, grids[0].shape[1])


def _work_in_bins(
    starts: NDArray[np.float64], ends: NDArray[np.float64], edges: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Time that disjoint intervals, in order, spend in each bin: differences of the work done up to each edge."""
    times = np.column_stack((starts, ends)).ravel()
    done = np.repeat(np.concatenate(([0.0], np.cumsum(ends - starts))), 2)[1:-1]
    return np.diff(np.interp(edges, times, done))
