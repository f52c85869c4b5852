"""A timeline in two parts for a browser that draws it by itself: the blocks as bytes, and how they are to look.

The browser picks the blocks of a window of time, exactly as `gantt_figure` does, and puts their arrays into the looks
given here; so pages, pictures and reports show the same.
"""

import json
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs, get_plotlyjs_version

from sapp_core.charts import block_traces
from sapp_core.charts.block_traces import HALF_HEIGHT, HEIGHTS, bar_look
from sapp_core.charts.blocks import ALONE, LOWER, UPPER, Blocks
from sapp_core.charts.gantt import MAX_BLOCKS, NUM_BINS, framed_timeline, lane_borders, phase_lines
from sapp_core.charts.scene import lane_px
from sapp_core.charts.theme import Theme, shade
from sapp_core.charts.time_bins import bin_look
from sapp_core.domain.schedule import OP_KINDS
from sapp_core.domain.timeline import Evaluation

_ALIGNMENT = 8
_COLUMNS = {
    "stage": np.uint16,
    "kind": np.uint8,
    "chunk": np.uint16,
    "micro_batch": np.uint32,
    "split": np.uint16,
    "half": np.uint8,
    "phase": np.uint8,
    "start": np.float64,
    "end": np.float64,
}


@dataclass(frozen=True, slots=True)
class PlotlyScript:
    """The plotting library that a browser loads.

    Attributes:
        version: of plotly.js.
        text: its minified source.
    """

    version: str
    text: str


def plotly_script() -> PlotlyScript:
    """The plotly.js that came with plotly; it is read from disk, nothing is fetched."""
    return PlotlyScript(get_plotlyjs_version(), get_plotlyjs())


def packed_blocks(blocks: Blocks, name: str) -> bytes:
    """Blocks as a header in JSON and one little-endian array after the other.

    The first four bytes are the length of the header, an unsigned integer. The header holds `name`, `count` and
    `columns`: pairs of a column's name and its type as JavaScript's typed arrays call it, without "Array". Header and
    arrays each begin at a multiple of eight bytes.

    Args:
        blocks: to pack.
        name: by which the browser knows them.
    """
    types = {column: f"{'Float' if np.dtype(kind).kind == 'f' else 'Uint'}{8 * np.dtype(kind).itemsize}"
             for column, kind in _COLUMNS.items()}  # fmt: skip
    header = json.dumps({"name": name, "count": len(blocks), "columns": list(types.items())}).encode()
    parts = [len(header).to_bytes(4, "little") + bytes(4), header]
    parts += [
        getattr(blocks, column).astype(np.dtype(kind).newbyteorder("<")).tobytes() for column, kind in _COLUMNS.items()
    ]
    return b"".join(part + bytes(-len(part) % _ALIGNMENT) for part in parts)


def timeline_look(evaluation: Evaluation, blocks: Blocks, theme: Theme, until: float = 0.0) -> str:
    """Everything about a timeline but its blocks, as JSON.

    Args:
        evaluation: what is drawn.
        blocks: all of its blocks.
        theme: colours of the paper.
        until: where the time axis ends at least.
    """
    pipeline = evaluation.schedule.pipeline
    unit = evaluation.profile.time_unit
    end = max(evaluation.step_time, until)
    keys = np.flatnonzero(np.bincount(blocks.kind * pipeline.num_chunks + blocks.chunk))
    activities = [divmod(key, pipeline.num_chunks) for key in keys.tolist()]
    bars = [bar_look(OP_KINDS[k], chunk, pipeline, unit) for k, chunk in activities]
    lines = phase_lines(blocks, evaluation.step_time, pipeline.num_stages, theme)
    # Plotly's own writer knows what to do with arrays and with what is not a number.
    figure = framed_timeline([*(go.Bar(bar) for bar in bars), *lines], evaluation, theme, (0.0, end))
    borders = lane_borders(pipeline.num_stages, (0.0, end), theme)
    frame = json.loads(go.Figure([borders, *lines], figure.layout).to_json())
    look = {
        "end": end,
        "num_stages": pipeline.num_stages,
        "activities": [
            {
                "kind": k,
                "chunk": chunk,
                "bar": bar,
                "bins": bin_look(OP_KINDS[k], chunk, pipeline, unit),
                "height": HEIGHTS[OP_KINDS[k]],
                "label": shade(OP_KINDS[k], chunk, pipeline.num_chunks).label,
            }
            for (k, chunk), bar in zip(activities, bars, strict=True)
        ],
        "labels": block_traces.LABELS,
        "borders": frame["data"][0],
        "lines": frame["data"][1:],
        "layout": frame["layout"],
        "phases": block_traces.PHASES,
        "half_height": HALF_HEIGHT,
        "half_shifts": [{ALONE: 0.0, UPPER: -HALF_HEIGHT / 2, LOWER: HALF_HEIGHT / 2}[half] for half in range(3)],
        "splits": pipeline.num_sequence_splits > 1,
        "lane_px": lane_px(pipeline.num_stages),
        "max_blocks": MAX_BLOCKS,
        "num_bins": NUM_BINS,
        "max_labelled": block_traces.MAX_LABELLED,
        "shortest_labelled_px": block_traces.SHORTEST_LABELLED_PX,
        "label_sizes": block_traces.LABEL_SIZES,
        "digit_width": block_traces.DIGIT_WIDTH,
        "label_room": block_traces.LABEL_ROOM,
        "hairline_px": block_traces.HAIRLINE_PX,
        "hairline_share": block_traces.HAIRLINE_SHARE,
    }
    return json.dumps(look)
