"""What several charts say in the same words and draw on the same axes."""

from typing import Any

from sapp_core.charts.numbers import time_text
from sapp_core.charts.theme import KIND_TITLES, Theme, axis, plain
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.schedule import OpKind
from sapp_core.domain.timeline import Evaluation


def scenario_line(evaluation: Evaluation) -> str:
    """One line: which model, which schedule, which sizes, how long a step takes."""
    pipeline = evaluation.schedule.pipeline
    sizes = f"{pipeline.num_stages} stages"
    if pipeline.num_chunks > 1:
        sizes += f" × {pipeline.num_chunks} chunks"
    work = f"{pipeline.num_micro_batches} micro-batches"
    if pipeline.num_sequence_splits > 1:
        work += f" × {pipeline.num_sequence_splits} splits"
    if any(len(slot.ops) > 1 for slots in evaluation.schedule.slots for slot in slots):
        work += f" · η {pipeline.overlap_efficiency:g}"
    name = plain(evaluation.profile.name, 24)
    step = time_text(evaluation.step_time, plain(evaluation.profile.time_unit, 12))
    return f"{name} · {evaluation.schedule.name} · {sizes} · {work} · step {step}"


def activity_name(kind: OpKind, chunk: int, pipeline: Pipeline) -> str:
    """Legend of one kind of work."""
    if pipeline.num_chunks == 1:
        return KIND_TITLES[kind]
    # Short enough for two in a row on a narrow screen.
    return f"{KIND_TITLES[kind].replace('gradient', 'grad.')}, chunk {chunk}"


def clipped_window(window: tuple[float, float] | None, step_time: float) -> tuple[float, float]:
    """The part of a window that lies inside the step; the whole step when nothing of it does."""
    if window is None:
        return 0.0, step_time
    start, end = max(0.0, window[0]), min(step_time, window[1])
    return (start, end) if start < end else (0.0, step_time)


def shifted_window(window: tuple[float, float], windows: float, step_time: float) -> tuple[float, float]:
    """A window moved by a part or a multiple of its width, as far as the step reaches."""
    width = window[1] - window[0]
    start = min(max(0.0, window[0] + windows * width), step_time - width)
    return start, start + width


def stage_ticks(num_stages: int) -> dict[str, Any]:
    """A number at every stage as long as the numbers do not touch."""
    ticks = list(range(0, num_stages, -(-num_stages // 32)))
    return {"tickvals": ticks, "ticktext": [str(stage) for stage in ticks]}


def stage_axis(num_stages: int, theme: Theme) -> dict[str, Any]:
    """A lane for each stage, stage 0 on top."""
    options = {"range": [num_stages - 0.5, -0.5], "showgrid": False, "fixedrange": True}
    return axis(theme, "Stage", stage_ticks(num_stages) | options)


def time_axis(evaluation: Evaluation, theme: Theme, window: tuple[float, float]) -> dict[str, Any]:
    """Time of the step inside a window."""
    return axis(
        theme,
        f"Time ({plain(evaluation.profile.time_unit, 12)})",
        {
            "range": list(window),
            "tickformat": ",.7~r",
            "showgrid": False,
            "ticks": "outside",
            "nticks": 7,
            "tickangle": 0,
        },
    )


def lane_px(num_stages: int) -> int:
    """Height of one stage's lane in a chart of all stages."""
    return min(42, max(9, 420 // num_stages))
