"""Patterns for names of events: which layer kind an event belongs to, and which layer.

* `*` is any text, also none.
* `#` is the whole number of the layer, such as the 12 of `layers/12-DecoderLayer`; at most one.
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
OR = " | "
NUMBER = "#"
_NUMBER = r"(?<!\d)(\d{1,9})(?!\d)"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern.

    Attributes:
        text: as it was typed.
        has_number: whether every alternative says the layer's number.
    """

    text: str
    has_number: bool
    _alternatives: tuple[re.Pattern[str], ...]

    def layer_of(self, name: str) -> int | None:
        """Number of the layer that an event of this name belongs to, −1 where the pattern has no number.

        None = the name does not match.
        """
        for alternative in self._alternatives:
            if found := alternative.match(name):
                return int(found[1]) if alternative.groups else -1
        return None


def read_pattern(text: str) -> Pattern:
    """A pattern as it is typed.

    Raises:
        ProfileError: too long, or two numbers in one alternative; the sentences begin with the rule.
    """
    if len(text) > MAX_PATTERN_CHARACTERS:
        raise ProfileError(
            f"must not be longer than {MAX_PATTERN_CHARACTERS:,} characters, found {len(text):,}; `*` shortens it."
        )
    parts = [part.strip() for part in text.split(OR) if part.strip()]
    problems = [
        f"must have at most one {NUMBER} in a pattern, found {quoted(part)}; write * for the other numbers."
        for part in parts
        if part.count(NUMBER) > 1
    ]
    if not parts:
        problems.append("must not be empty.")
    if problems:
        raise ProfileError(*problems)
    return Pattern(text, all(NUMBER in part for part in parts), tuple(map(_compiled, parts)))


def _compiled(pattern: str) -> re.Pattern[str]:
    first, *others = [_literal(part) for part in re.split(r"\*+", pattern)]
    return re.compile("".join((first, *_after_stars(others), r"\Z")), re.DOTALL)


def _after_stars(parts: list[str]) -> Iterator[str]:
    """What follows each star: parts within are found once and never again, the last one ends the name."""
    for i, part in enumerate(parts):
        is_last = i == len(parts) - 1
        yield f".*{part}" if is_last else f"(?>.*?{part})"


def _literal(part: str) -> str:
    return _NUMBER.join(re.escape(piece) for piece in part.split(NUMBER))
