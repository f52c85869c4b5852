"""Lists and ranges as people type them: `4, 8, 16`, `4-16 step 4`, `1, 2, 4-16`."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import TypeVar

from sapp_core.errors import PipelineError

MOST_VALUES = 500
"""Of one dimension."""
NO_LIMIT = "none"

_RANGE = re.compile(r"(\d+)\s*(?:-|–|\.\.|to)\s*(\d+)(?:\s*(?:step|by|:)\s*(\d+))?")
_WHOLE = re.compile(r"\d+")
_LONGEST = 12
"""Digits; no size has more."""


Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Lists:
    """The lists of a grid that are typed as text."""

    stages: tuple[int, ...]
    chunks: tuple[int | None, ...]
    micro_batches: tuple[int, ...]
    sequence_splits: tuple[int, ...]
    memory_limits_mb: tuple[float | None, ...]


def read_lists(
    *, stages: str, chunks: str = "", micro_batches: str = "", sequence_splits: str = "", memory_limits: str = NO_LIMIT
) -> Lists:
    """All lists of a grid; empty text means what the schedule fixes (chunks), none (micro-batches), or 1 (splits).

    Raises:
        PipelineError: with the problems of all of them.
    """
    problems: list[str] = []

    def read(reader: Callable[[str, str], tuple[Value, ...]], field: str, text: str) -> tuple[Value, ...]:
        try:
            return reader(field, text)
        except PipelineError as error:
            problems.extend(error.problems)
            return ()

    def whole(field: str, text: str, unsaid: tuple[int, ...]) -> tuple[int, ...]:
        return read(whole_numbers, field, text) if text.strip() else unsaid

    lists = Lists(
        stages=read(whole_numbers, "num_stages", stages),
        chunks=whole("num_chunks", chunks, ()) or (None,),
        micro_batches=whole("num_micro_batches", micro_batches, ()),
        sequence_splits=whole("num_sequence_splits", sequence_splits, (1,)),
        memory_limits_mb=read(memory_limits_of, "memory_limit_mb", memory_limits),
    )
    if problems:
        raise PipelineError(*problems)
    return lists


def whole_numbers(field: str, text: str) -> tuple[int, ...]:
    """Whole numbers of at least 1, in the order they were typed, each once.

    Args:
        field: begins the sentences.
        text: numbers and ranges with commas between; a range goes from its first number up to its last one.

    Raises:
        PipelineError: one sentence for each part that cannot be read.
    """
    values: dict[int, None] = {}
    problems: list[str] = []
    for part in _parts(text):
        try:
            values |= dict.fromkeys(_whole(field, part))
        except PipelineError as error:
            problems += error.problems
    return _values(field, values, problems, "4, 8, 16 or 4-16 step 4")


def memory_limits_of(field: str, text: str) -> tuple[float | None, ...]:
    """Limits in MiB, in the order they were typed, each once; `none` = no limit.

    Raises:
        PipelineError: one sentence for each part that cannot be read.
    """
    values: dict[float | None, None] = {}
    problems: list[str] = []
    for part in _parts(text):
        if part.lower() == NO_LIMIT:
            values[None] = None
        elif _RANGE.fullmatch(part):
            try:
                values |= dict.fromkeys(map(float, _whole(field, part)))
            except PipelineError as error:
                problems += error.problems
        else:
            try:
                number = float(part)
            except ValueError:
                number = 0.0
            if isfinite(number) and number > 0:
                values[number] = None
            else:
                problems.append(f"{field}: must be MiB above 0, a range, or {NO_LIMIT}, found {part[:40]!r}.")
    return _values(field, values, problems, f"48000, 56000 or {NO_LIMIT}")


def _values(field: str, values: dict[Value, None], problems: list[str], example: str) -> tuple[Value, ...]:
    """The values, at least one and not too many."""
    if not values and not problems:
        problems.append(f"{field}: needs at least one value, such as {example}.")
    if len(values) > MOST_VALUES:
        problems.append(f"{field}: up to {MOST_VALUES} values can be swept, found {len(values):,}.")
    if problems:
        raise PipelineError(*problems)
    return tuple(values)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"[,;]", text) if part.strip()]


def _whole(field: str, part: str) -> range:
    if max(map(len, _WHOLE.findall(part)), default=0) > _LONGEST:
        raise PipelineError(f"{field}: such large numbers cannot be swept, found {part[:40]!r}.")
    if _WHOLE.fullmatch(part):
        first = last = int(part)
        step = 1
    elif found := _RANGE.fullmatch(part):
        first, last = int(found[1]), int(found[2])
        step = int(found[3] or 1)
    else:
        raise PipelineError(f"{field}: must be whole numbers or ranges such as 4-16 step 4, found {part[:40]!r}.")
    if first < 1 or step < 1:
        raise PipelineError(f"{field}: numbers and steps must be at least 1, found {part[:40]!r}.")
    if last < first:
        raise PipelineError(f"{field}: a range goes upwards, found {part[:40]!r}; write {last}-{first}.")
    values = range(first, last + 1, step)
    if len(values) > MOST_VALUES:
        raise PipelineError(f"{field}: up to {MOST_VALUES} values can be swept, {part[:40]!r} has {len(values):,}.")
    return values
