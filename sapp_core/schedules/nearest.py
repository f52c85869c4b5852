"""The sizes nearest to what somebody wants that a schedule can run."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import product

from sapp_core.domain.pipeline import Pipeline
from sapp_core.errors import PipelineError
from sapp_core.schedules.registry import ScheduleFamily

MOST_MICRO_BATCHES_AWAY = 512
MOST_STAGES_AWAY = 2


def nearest_legal(chosen: ScheduleFamily, wanted: Pipeline) -> Pipeline:
    """The pipeline itself where the schedule runs it, or the legal one that changes the fewest and the least.

    Placement, chunks, splits and groups are set to what the family has at all. After that the group size is given up
    before the micro-batches change, those before the sequence splits, and the stages last; the nearest value counts,
    the larger one of two equally near.

    Args:
        chosen: the family.
        wanted: as it was for another family.

    Raises:
        PipelineError: nothing near is legal.
    """
    start = replace(
        wanted,
        placement=chosen.placement,
        num_chunks=wanted.num_chunks if chosen.fixed_chunks is None else chosen.fixed_chunks,
        num_sequence_splits=wanted.num_sequence_splits if chosen.uses_splits else 1,
        group_size=wanted.group_size if chosen.uses_groups else None,
    )
    for candidate in _by_distance(start):
        if not chosen.problems(candidate):
            return candidate
    raise PipelineError(*chosen.problems(start))


def _by_distance(start: Pipeline) -> Iterable[Pipeline]:
    splits = sorted(range(1, start.num_sequence_splits + 1), reverse=True)
    stages = _around(start.num_stages, MOST_STAGES_AWAY)
    counts = _around(start.num_micro_batches, MOST_MICRO_BATCHES_AWAY)
    groups = (start.group_size,) if start.group_size is None else (start.group_size, None)
    for num_stages, num_splits, count, group in product(stages, splits, counts, groups):
        yield replace(
            start, num_stages=num_stages, num_sequence_splits=num_splits, num_micro_batches=count, group_size=group
        )


def _around(value: int, away: int) -> list[int]:
    """The value, then its neighbours, nearest and larger first."""
    return sorted(range(max(1, value - away), value + away + 1), key=lambda other: (abs(other - value), -other))
