"""Results of a sweep: a table for a terminal, an object for `--json`, and CSV."""

from collections.abc import Callable, Sequence

from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.sweep import PointResult, best_first, pareto_front
from sapp_core.interchange.result import Json
from sapp_core.interchange.tables import csv_text
from sapp_core.interchange.text import aligned, number, percent

_COLUMNS = (
    "schedule",
    "stages",
    "interleave",
    "micro_batches",
    "sequence_splits",
    "data_parallel",
    "global_batch",
    "memory_limit_mb",
    "objective",
    "status",
    "step_time",
    "time_per_sample",
    "peak_memory_mb",
    "bubble",
    "lower_bound",
    "gap",
    "recompute",
    "pareto",
    "remark",
)


def sweep_text(results: Sequence[PointResult], profile: ModelProfile, say: Callable[[str], str]) -> str:
    """One line for each point, the best first; those on the Pareto front of time and memory have a star.

    Args:
        results: of points.
        profile: that was swept.
        say: a sentence of the core in the reader's words.
    """
    ordered, front = best_first(results), {result.point for result in pareto_front(results)}
    unit = profile.time_unit
    header = ["schedule", "S", "V", "M", "K", "DP", "limit MiB", "status", f"step {unit}", f"{unit}/sample"]
    header += ["peak MiB", "bubble", "gap", "recompute", "front"]
    rows = [
        (
            result.point.schedule_name,
            str(result.point.num_stages),
            str(result.point.num_chunks),
            _or_dash(result.point.num_micro_batches),
            str(result.point.num_sequence_splits),
            _or_dash(result.point.data_parallel),
            _or_dash(result.point.memory_limit_mb),
            f"{result.status}" + (f" ({result.point.objective})" if result.point.objective else ""),
            _or_dash(result.step_time),
            _or_dash(result.time_per_sample),
            _or_dash(result.highest_peak_mb if profile.has_memory else None),
            "-" if result.bubble is None else percent(result.bubble),
            "-" if result.gap is None else percent(result.gap),
            str(result.recompute or "-"),
            "*" if result.point in front else "",
        )
        for result in ordered
    ]
    lines = [
        f"{profile.name}: {_counted(len(ordered))}, {sum(result.fits for result in ordered)} with a plan that fits"
    ]
    lines += ["", *aligned(header, rows)]
    remarks = _remarks(ordered, say)
    if remarks:
        lines += ["", *remarks]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def sweep_object(results: Sequence[PointResult], profile: ModelProfile) -> Json:
    """Every point with all that was found there, the best first; the Pareto front by position in that list."""
    ordered = best_first(results)
    place = {result.point: index for index, result in enumerate(ordered)}
    return {
        "profile": profile.name,
        "time_unit": profile.time_unit,
        "points": [
            {
                **dict(zip(_COLUMNS[:-2], _values(result), strict=True)),
                "peak_memory_mb": list(result.peak_memory_mb),
                "plan": result.plan.as_dict() if result.plan else None,
                "seconds": result.seconds,
                "sentences": list(result.sentences),
            }
            for result in ordered
        ],
        "pareto_front": [place[result.point] for result in pareto_front(ordered)],
    }


def sweep_csv(results: Sequence[PointResult]) -> str:
    """One line for each point, the best first; peak memory is that of the fullest stage."""
    ordered = best_first(results)
    front = {result.point for result in pareto_front(ordered)}
    return csv_text(
        _COLUMNS, ((*_values(result), result.point in front, " ".join(result.sentences)) for result in ordered)
    )


def _values(result: PointResult) -> tuple[object, ...]:
    point, balance = result.point, result.balance
    return (
        point.schedule_name,
        point.num_stages,
        point.num_chunks,
        point.num_micro_batches,
        point.num_sequence_splits,
        point.data_parallel,
        point.global_batch,
        point.memory_limit_mb,
        None if point.objective is None else str(point.objective),
        str(result.status),
        result.step_time,
        result.time_per_sample,
        result.highest_peak_mb,
        result.bubble,
        None if balance is None else balance.lower_bound,
        result.gap,
        None if result.recompute is None else str(result.recompute),
    )


def _remarks(ordered: Sequence[PointResult], say: Callable[[str], str]) -> list[str]:
    """Why points do not run or fit: each sentence once, with how many points it is about."""
    counts: dict[str, int] = {}
    for result in ordered:
        if not result.fits:
            for sentence in result.sentences:
                counts[sentence] = counts.get(sentence, 0) + 1
    return [f"{_counted(count)}: {say(sentence)}" for sentence, count in counts.items()]


def _counted(count: int) -> str:
    return f"{count:,} point{'' if count == 1 else 's'}"


def _or_dash(value: float | None) -> str:
    return "-" if value is None else number(value)
