"""Lists and ranges as people type them: `4, 8, 16`, `4-16 step 4`, `1, 2, 4-16`."""

import re
from math import isfinite

from sapp_core.errors import PipelineError

MOST_VALUES = 500
"""Of one dimension."""
NO_LIMIT = "none"

_RANGE = re.compile(r"(\d+)\s*(?:-|–|\.\.|to)\s*(\d+)(?:\s*(?:step|by|:)\s*(\d+))?")
_WHOLE = re.compile(r"\d+")
_LONGEST = 12
"""Digits; no size has more."""


def whole_numbers(field: str, text: str) -> tuple[int, ...]:
    """Whole numbers of at least 1, in the order they were typed, each once.

    Args:
        field: begins the sentences.
        text: numbers and ranges with commas between; a range goes from its first number up to its last one.

    Raises:
        PipelineError: one sentence for each part that cannot be read.
    """
    values: dict[int, None] = {}
    problems = []
    for part in _parts(text):
        try:
            values |= dict.fromkeys(_whole(field, part))
        except PipelineError as error:
            problems += error.problems
    if not values and not problems:
        problems.append(f"{field}: needs at least one value, such as 4, 8, 16 or 4-16 step 4.")
    if len(values) > MOST_VALUES:
        problems.append(f"{field}: up to {MOST_VALUES} values can be swept, found {len(values):,}.")
    if problems:
        raise PipelineError(*problems)
    return tuple(values)


def memory_limits(field: str, text: str) -> tuple[float | None, ...]:
    """Limits in MiB, in the order they were typed, each once; `none` = no limit.

    Raises:
        PipelineError: one sentence for each part that cannot be read.
    """
    values: dict[float | None, None] = {}
    problems = []
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
                problems.append(f"{field}: must be MiB above 0, a range, or {NO_LIMIT}, found {part!r}.")
    if not values and not problems:
        problems.append(f"{field}: needs at least one value, such as 48000, 56000 or {NO_LIMIT}.")
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
        raise PipelineError(f"{field}: numbers and steps must be at least 1, found {part!r}.")
    if last < first:
        raise PipelineError(f"{field}: a range goes upwards, found {part!r}; write {last}-{first}.")
    values = range(first, last + 1, step)
    if len(values) > MOST_VALUES:
        raise PipelineError(f"{field}: up to {MOST_VALUES} values can be swept, {part!r} has {len(values):,}.")
    return values
