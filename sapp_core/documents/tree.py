"""The tree of a document, built from a parser's events without recursion; knows the path of every value."""

import re
from dataclasses import dataclass
from enum import Enum
from math import isfinite

from sapp_core.documents.report import Report, child, found

MAX_DEPTH = 20
"""Mappings and lists inside each other; a profile needs three."""

_WHOLE = re.compile(r"[-+]?[0-9]+")
_LONGEST_WHOLE = 310
"""Digits: a float holds no number that is longer."""

Container = dict[str, object] | list[object]


class Refused(Enum):
    """Stands where a value was refused and reported, so that later checks say nothing about it again."""

    VALUE = "refused"


@dataclass(slots=True)
class _Frame:
    """An open mapping or list. `key` waits for its value; a key that is not `kept` loses it."""

    container: Container
    path: str
    key: str | None = None
    kept: bool = True


class TreeBuilder:
    """Takes a document's events in order: open, close, scalar, number. Keys are scalars too.

    Args:
        report: takes the problems.
        most_values: that the document may hold; a small file can hold a million, and each takes its time.
    """

    def __init__(self, report: Report, most_values: int) -> None:
        self._report = report
        self._most_values = self._left = most_values
        self._frames: list[_Frame] = []
        self.root: object = None

    def open(self, container: Container) -> None:
        """Begin a mapping or list.

        Raises:
            SappError: it is one level too deep, or a mapping's key.
        """
        path = self.path()
        if self._awaits_key():
            self._report.stop(path, "keys must be text, found a mapping or a list.")
        if len(self._frames) == MAX_DEPTH:
            self._report.stop(path, f"mappings and lists may be nested {MAX_DEPTH} deep, found one more.")
        self._place(container)
        self._frames.append(_Frame(container, path))

    def close(self) -> None:
        """End the innermost mapping or list."""
        self._frames.pop()

    def scalar(self, value: object) -> None:
        """Take a key, or a value that is not a number."""
        if isinstance(value, str) and not _is_encodable(value):
            self.refuse(f"must be text that UTF-8 can carry, found {found(value)}.")
        elif self._awaits_key():
            self._take_key(value)
        else:
            self._place(value)

    def number(self, text: str) -> None:
        """Take a number as it is written."""
        value = _number(text)
        if value is None:
            shown = text if len(text) <= 40 else f"a number of {len(text):,} characters"
            self.refuse(f"must be a finite number below 10^308, found {shown}.")
        elif self._awaits_key():
            self._take_key(value)
        else:
            self._place(value)

    def refuse(self, sentence: str) -> None:
        """Report the value (or key) that comes next and take a marker instead of it."""
        self.note(sentence)
        if self._awaits_key():
            self._frames[-1].key = "?"
            self._frames[-1].kept = False
        else:
            self._place(Refused.VALUE)

    def note(self, sentence: str) -> None:
        """Report the value that comes next, and go on with it."""
        self._report.refuse(self.path(), sentence)

    def path(self) -> str:
        """Of the value that comes next; of its mapping where a key comes next."""
        if not self._frames:
            return ""
        frame = self._frames[-1]
        if isinstance(frame.container, list):
            return f"{frame.path}[{len(frame.container)}]"
        return frame.path if frame.key is None else child(frame.path, frame.key)

    def _awaits_key(self) -> bool:
        return bool(self._frames) and isinstance(self._frames[-1].container, dict) and self._frames[-1].key is None

    def _take_key(self, value: object) -> None:
        frame = self._frames[-1]
        if isinstance(value, str):
            frame.key = value
            frame.kept = value not in frame.container
            if not frame.kept:
                self.note("the key is given twice; keep one of them.")
        else:
            self.refuse(f"keys must be text, found {found(value)}; write it in quotes.")

    def _place(self, value: object) -> None:
        self._left -= 1
        if self._left < 0:
            self._report.stop(self.path(), f"a file may hold {self._most_values:,} values, found one more.")
        if not self._frames:
            self.root = value
            return
        frame = self._frames[-1]
        if isinstance(frame.container, list):
            frame.container.append(value)
            return
        if frame.kept and frame.key is not None:
            frame.container[frame.key] = value
        frame.key = None


def _number(text: str) -> int | float | None:
    if len(text) > _LONGEST_WHOLE and _WHOLE.fullmatch(text):
        return None
    as_float = float(text)
    if not isfinite(as_float):
        return None
    return int(text) if _WHOLE.fullmatch(text) else as_float


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
