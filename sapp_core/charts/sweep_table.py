"""Results of a sweep as a table: numbers, so that it can be sorted and filtered."""

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from sapp_core.charts.numbers import MB_PER_GB
from sapp_core.charts.sweep import STATUS_WORDS
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.sweep import PointResult, pareto_front

FRONT, REMARK = "Front", "Remark"
"""Columns of a tick, and of sentences: those stand where one reads them without scrolling."""


def sweep_table(results: Sequence[PointResult], profile: ModelProfile) -> pd.DataFrame:
    """A row for each result, in their order; columns that say the same everywhere about nothing are left out.

    Args:
        results: of points.
        profile: that was swept.
    """
    front = {result.point for result in pareto_front(results)}
    unit = profile.time_unit
    columns: dict[str, list[object]] = {
        "Schedule": [result.point.schedule_name for result in results],
        "Stages": [result.point.num_stages for result in results],
        "Interleave": [result.point.num_chunks for result in results],
        "Micro-batches": [result.point.num_micro_batches for result in results],
        "Splits": [result.point.num_sequence_splits for result in results],
        "Pipelines": [result.point.data_parallel for result in results],
        "Limit (MiB)": [result.point.memory_limit_mb for result in results],
        "Objective": [None if result.point.objective is None else str(result.point.objective) for result in results],
        "Status": [STATUS_WORDS[result.status] for result in results],
        REMARK: [" ".join(result.sentences) for result in results],
        f"Time per sample ({unit})": [_rounded(result.time_per_sample) for result in results],
        f"Step time ({unit})": [_rounded(result.step_time) for result in results],
        "Peak (GiB)": [_gigabytes(result.highest_peak_mb) for result in results],
        "Bubble (%)": [None if result.bubble is None else 100 * result.bubble for result in results],
        "Gap (%)": [None if result.gap is None else 100 * result.gap for result in results],
        "Recompute": [None if result.recompute is None else str(result.recompute) for result in results],
        FRONT: [result.point in front for result in results],
    }
    silent = {"Splits": 1, "Pipelines": 1, "Limit (MiB)": None, "Objective": None, "Gap (%)": None, "Recompute": None}
    shown = {
        name: values
        for name, values in columns.items()
        if name not in silent or any(value != silent[name] for value in values)
    }
    return pd.DataFrame(shown)


def reasons(results: Sequence[PointResult]) -> list[tuple[str, int]]:
    """Why points do not run or fit, each reason with the number of points, the most frequent first."""
    said = (" ".join(result.sentences) for result in results if not result.fits)
    return Counter(said).most_common()


def _rounded(time: float | None) -> float | None:
    """To six digits: a table is read, a file of all points has them all."""
    return None if time is None else float(f"{time:.6g}")


def _gigabytes(mb: float | None) -> float | None:
    return None if mb is None else mb / MB_PER_GB
