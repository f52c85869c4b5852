"""Bars of a timeline: one trace for each kind of work and chunk, one bar for each block."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from sapp_core.charts.blocks import ALONE, LOWER, UPPER, Blocks
from sapp_core.charts.lanes import WHOLE_LANE, Strip
from sapp_core.charts.numbers import time_decimals
from sapp_core.charts.scene import activity_name
from sapp_core.charts.theme import KIND_PATTERNS, KIND_TITLES, plain, shade
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.schedule import OP_KINDS, OpKind, Phase

MAX_LABELLED = 1_500
"""Up to so many visible blocks each may carry its micro-batch number; above, only wide ones."""
SHORTEST_LABELLED_PX = 14.0
DRAWING_PX = 1_100.0
"""Width a drawing is laid out for; the labels that fit and the hairline between blocks depend on it, nothing else."""
LABEL_SIZES = (12, 10, 9)
"""Sizes of a block's label, in px, largest first; below the last one a label would help nobody."""
DIGIT_WIDTH = 0.58
"""Width of a digit in parts of the size."""
LABEL_ROOM = 0.25
"""What a label needs beside its digits, in parts of the size."""
HAIRLINE_PX, HAIRLINE_SHARE = 0.8, 0.15
"""Gap after a block, and how much of a short block it may take."""

HEIGHTS = {OpKind.F: 0.84, OpKind.B: 0.66, OpKind.I: 0.66, OpKind.W: 0.66}
"""Of blocks that have their lane to themselves, in parts of it."""
HALF_HEIGHT = 0.4
"""Of blocks that share their lane."""
PHASES = tuple(str(phase) for phase in Phase)
"""Names of a schedule's phases, as hovers say them."""
LABELS: dict[str, Any] = {
    "type": "scatter",
    "mode": "text",
    "hoverinfo": "skip",
    "showlegend": False,
    "cliponaxis": True,
}
"""What the trace of all labels is, as plotly attributes."""


def bar_traces(
    blocks: Blocks,
    pipeline: Pipeline,
    window: tuple[float, float],
    unit: str,
    px_per_lane: float,
    strip: Strip = WHOLE_LANE,
) -> list[Any]:
    """Bars of all visible blocks.

    Args:
        blocks: those inside the window.
        pipeline: whose chunks and splits are named.
        window: visible time; bars end at its edges, hovers tell the whole truth.
        unit: of time.
        px_per_lane: height of a stage's lane; labels have to fit.
        strip: part of the lane they are drawn in.
    """
    px_per_time = DRAWING_PX / (window[1] - window[0])
    traces: list[Any] = []
    for k, kind in enumerate(OP_KINDS):
        for chunk in range(pipeline.num_chunks):
            chosen = (blocks.kind == k) & (blocks.chunk == chunk)
            if not chosen.any():
                continue
            own = blocks.where(chosen)
            # Only the visible part is drawn, so that its label sits in the middle of what can be seen.
            start, end = np.maximum(own.start, window[0]), np.minimum(own.end, window[1])
            hairline = np.minimum(HAIRLINE_SHARE * (end - start), HAIRLINE_PX / px_per_time)
            middle, height = _lanes(own, kind, strip)
            traces.append(
                go.Bar(
                    bar_look(kind, chunk, pipeline, unit, strip),
                    # Plotly writes bases digit by digit: digits that no screen can show only weigh on the page.
                    base=np.round(start, time_decimals(window[1] - window[0])),
                    x=(end - start - hairline).astype(np.float32),
                    y=middle,
                    width=height,
                    customdata=np.column_stack(
                        (own.stage, own.micro_batch, own.start, own.end, own.end - own.start, own.split)
                    ),
                    hovertext=[PHASES[phase] for phase in own.phase.tolist()],
                )
            )
    return [*traces, *_label_trace(blocks, pipeline, window, px_per_lane, strip)]


def bar_look(kind: OpKind, chunk: int, pipeline: Pipeline, unit: str, strip: Strip = WHOLE_LANE) -> dict[str, Any]:
    """What all bars of a kind of work and chunk have in common, as plotly attributes."""
    colours = shade(kind, chunk, pipeline.num_chunks)
    return {
        "type": "bar",
        "orientation": "h",
        "name": activity_name(kind, chunk, pipeline),
        "hovertemplate": _hover(kind, chunk, unit, strip.name, splits=pipeline.num_sequence_splits > 1),
        "marker": {
            "color": colours.fill,
            "line": {"width": 0},
            # Over the fill, so that a label can be read on it.
            "pattern": {
                "shape": KIND_PATTERNS[kind],
                "size": 5,
                "fillmode": "overlay",
                "fgcolor": colours.label,
                "fgopacity": 0.35,
            },
        },
    }


def _lanes(
    blocks: Blocks, kind: OpKind, strip: Strip
) -> tuple[NDArray[np.floating[Any]], float | NDArray[np.floating[Any]]]:
    """Middle and height of each block; overlapped blocks share the strip, the first above the second."""
    alone = blocks.half == ALONE
    if alone.all():
        return blocks.stage + strip.middle, HEIGHTS[kind] * strip.share
    shift = np.select([blocks.half == UPPER, blocks.half == LOWER], [-HALF_HEIGHT / 2, HALF_HEIGHT / 2], 0.0)
    return (
        blocks.stage + strip.middle + shift * strip.share,
        np.where(alone, HEIGHTS[kind], HALF_HEIGHT) * strip.share,
    )


def _label_trace(
    blocks: Blocks, pipeline: Pipeline, window: tuple[float, float], px_per_lane: float, strip: Strip
) -> list[go.Scatter]:
    """Micro-batch numbers in the blocks that have room for them."""
    start, end = np.maximum(blocks.start, window[0]), np.minimum(blocks.end, window[1])
    width = (end - start) * (DRAWING_PX / (window[1] - window[0]))
    texts = blocks.micro_batch.astype(np.str_)
    if pipeline.num_sequence_splits > 1:
        texts = np.char.add(np.char.add(texts, "."), blocks.split.astype(np.str_))
    middle, height = (np.zeros(len(blocks)) for _ in range(2))
    for k, kind in enumerate(OP_KINDS):
        of_kind = blocks.kind == k
        middle[of_kind], height[of_kind] = _lanes(blocks.where(of_kind), kind, strip)
    size = np.zeros(len(blocks), dtype=np.int8)
    for candidate in LABEL_SIZES:
        fits = (np.char.str_len(texts) * DIGIT_WIDTH * candidate + LABEL_ROOM * candidate <= width) & (
            candidate + 1 <= height * px_per_lane
        )
        size[fits & (size == 0)] = candidate
    if len(blocks) > MAX_LABELLED:
        size[width < SHORTEST_LABELLED_PX] = 0
    if not size.any():
        return []
    shown = size > 0
    colours = {
        (k, chunk): shade(kind, chunk, pipeline.num_chunks).label
        for k, kind in enumerate(OP_KINDS)
        for chunk in range(pipeline.num_chunks)
    }
    return [
        go.Scatter(
            LABELS,
            x=((start + end) / 2)[shown].astype(np.float32),
            y=middle[shown].astype(np.float32),
            text=texts[shown],
            textfont={
                "size": size[shown],
                "color": [
                    colours[key] for key in zip(blocks.kind[shown].tolist(), blocks.chunk[shown].tolist(), strict=True)
                ],
            },
        )
    ]


def _hover(kind: OpKind, chunk: int, unit: str, source: str, *, splits: bool) -> str:
    split = ", split %{customdata[5]}" if splits else ""
    time = plain(unit)
    return (
        f"<b>{KIND_TITLES[kind]}</b>{source and f', {source},'} of micro-batch %{{customdata[1]}}{split}<br>"
        f"stage %{{customdata[0]}}, chunk {chunk}, %{{hovertext}}<br>"
        f"%{{customdata[2]:,.7~r}} → %{{customdata[3]:,.7~r}} {time}<br>"
        f"takes %{{customdata[4]:,.7~r}} {time}<extra></extra>"
    )
