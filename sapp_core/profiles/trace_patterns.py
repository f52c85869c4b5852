"""Patterns for names of events: which layer kind an event belongs to, and which layer.

* `*` is any text, also none.
* `#` is the whole number of the layer, such as the 12 of `layers/12-DecoderLayer`; at most one.
* ` > ` (with blanks) stands between two names: events of the second one that run during an event of the first one, in
  the same process, such as `Gradients > #-DecoderLayer` in the lanes of MindSpore's scopes.
* ` | ` (with blanks) stands between patterns that mean the same.
* Everything else is meant letter by letter, and the pattern is the whole name.

No more is needed, and unlike regular expressions it takes no long time on any name: every part between two stars is
looked for once, from left to right.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sapp_core.documents.report import quoted
from sapp_core.errors import ProfileError

MAX_PATTERN_CHARACTERS = 2000
OR, DURING = " | ", " > "
NUMBER = "#"
_NUMBER = r"(?<!\d)(\d{1,9})(?!\d)"


@dataclass(frozen=True, slots=True)
class NamePattern:
    """A compiled pattern of whole names."""

    _names: re.Pattern[str]

    def layer_of(self, name: str) -> int | None:
        """Number of the layer that an event of this name belongs to, −1 where the pattern has no number.

        None = the name does not match.
        """
        found = self._names.match(name)
        if found is None:
            return None
        return int(found[1]) if self._names.groups else -1


@dataclass(frozen=True, slots=True)
class Alternative:
    """One of the patterns that mean the same.

    Attributes:
        names: of the events.
        during: names of events that the events have to run during; None = they may run anywhere.
    """

    names: NamePattern
    during: NamePattern | None


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern.

    Attributes:
        alternatives: at least one.
        has_number: whether every alternative says the layer's number.
    """

    alternatives: tuple[Alternative, ...]
    has_number: bool

    @property
    def is_limited(self) -> bool:
        """Whether it says during what its events run."""
        return any(alternative.during for alternative in self.alternatives)


def read_pattern(text: str) -> Pattern:
    """A pattern as it is typed.

    Raises:
        ProfileError: too long, two numbers in a name, a number where none is, or more than two names; the sentences
            begin with the rule.
    """
    if len(text) > MAX_PATTERN_CHARACTERS:
        raise ProfileError(
            f"must not be longer than {MAX_PATTERN_CHARACTERS:,} characters, found {len(text):,}; `*` shortens it."
        )
    parts = [part.strip() for part in text.split(OR) if part.strip()]
    names = [part.split(DURING) for part in parts]
    problems = [
        f"must have at most one {NUMBER} in a name, and none before >, found {quoted(part)}; write * for other numbers."
        for part, steps in zip(parts, names, strict=True)
        if steps[-1].count(NUMBER) > 1 or any(NUMBER in step for step in steps[:-1])
    ]
    problems += [
        f"must have at most one > between two names, found {quoted(part)}."
        for part, steps in zip(parts, names, strict=True)
        if len(steps) > 2
    ]
    if not parts:
        problems.append("must not be empty.")
    if problems:
        raise ProfileError(*problems)
    alternatives = [
        Alternative(_compiled(steps[-1].strip()), _compiled(steps[0].strip()) if len(steps) > 1 else None)
        for steps in names
    ]
    return Pattern(tuple(alternatives), all(NUMBER in part for part in parts))


def _compiled(pattern: str) -> NamePattern:
    first, *others = [_literal(part) for part in re.split(r"\*+", pattern)]
    return NamePattern(re.compile("".join((first, *_after_stars(others), r"\Z")), re.DOTALL))


def _after_stars(parts: list[str]) -> Iterator[str]:
    """What follows each star: parts within are found once and never again, the last one ends the name."""
    for i, part in enumerate(parts):
        is_last = i == len(parts) - 1
        yield f".*{part}" if is_last else f"(?>.*?{part})"


def _literal(part: str) -> str:
    return _NUMBER.join(re.escape(piece) for piece in part.split(NUMBER))
