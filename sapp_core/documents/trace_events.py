"""Events of a Chrome trace, one at a time, from a file that need not fit into memory.

Both forms of the Trace Event Format are read: a JSON object with a list `traceEvents`, and the bare list. Each event is
read by Python's own JSON reader and given on. A streaming JSON parser was tried instead (ijson 3.6): it is not faster,
and as it keeps the path of every level, 20 kB of opening brackets cost it 1 GB of memory.
"""

import json
import re
from collections.abc import Iterator
from enum import StrEnum
from json.scanner import make_scanner
from typing import NoReturn

from sapp_core.documents.report import Report, found, quoted

DEVICE_ANNOTATION = "gpu_user_annotation"
"""Category of a label that a profiler writes once more, with the times of the GPU, besides those of the host."""
LARGEST_TIME = 1e18
"""Microseconds; beyond, and far before it, a float no longer tells ops apart."""
MAX_VALUE_CHARACTERS = 4 * 2**20
"""Of one event, or of one entry beside the list of events."""
MAX_STRANGE = 1000
"""Entries that no trace has: they are read slowly, and a file of 200 MB can hold 100 million."""

_EVENTS = "traceEvents"
_BLANK = re.compile(r"[ \t\r\n]*")
_EVENT_AHEAD = re.compile(r"[ \t\r\n]*,[ \t\r\n]*(?=\{)")
_NEAR_THE_END = 16
"""Characters: a word or number that is cut off there is no error of its own."""
_KEYS_SHOWN = 5
_TEXT_SHOWN = 20


class Ending(StrEnum):
    """How a list of events ended."""

    CLOSED = "closed"
    OPEN = "open"  # after a whole event, without its bracket: the format allows it
    CUT = "cut"  # inside an event


class _CutOffError(Exception):
    """The text ends inside a value."""


def microseconds(value: object) -> float | None:
    """A time of an event, which may be written as text (MindSpore does); None = it is no time."""
    if type(value) is not float:
        if type(value) not in (int, str):
            return None
        try:
            value = float(value)  # type: ignore[arg-type]  # int or text, which mypy does not see
        except (ValueError, OverflowError):
            return None
    return value if -LARGEST_TIME < value < LARGEST_TIME else None


class TraceEvents:
    """The events of one file; made for one reading.

    Args:
        pieces: of its text.
        report: of the file.

    Attributes:
        ending: how the list ended, once all events were given.
    """

    def __init__(self, pieces: Iterator[str], report: Report) -> None:
        self.ending = Ending.CLOSED
        self._pieces = pieces
        self._report = report
        decoder = json.JSONDecoder(strict=False)
        self._decode = decoder.raw_decode
        self._scan = make_scanner(decoder)  # type: ignore[arg-type]  # typeshed asks for the answer's own type
        self._text = ""
        self._at = 0
        self._before = 0  # characters that were read and dropped
        self._ended = False

    def __iter__(self) -> Iterator[object]:
        """Entries of the list, one after the other.

        Raises:
            SappError: of the report; the text is no trace, or is broken before its end.
        """
        strange = 0
        try:
            self._enter()
        except _CutOffError:
            self._report.stop("", f"ends before its list {_EVENTS} begins; export the trace again.")
        while (character := self._next()) != "]":
            if not character:
                self.ending = Ending.OPEN
                return
            try:
                value = self._value()
            except _CutOffError:
                self.ending = Ending.CUT
                return
            if not isinstance(value, dict):
                strange += 1
                if strange > MAX_STRANGE:
                    self._broken(f"more than {MAX_STRANGE:,} entries of the list are no mappings, as events are")
            yield value
            yield from self._at_hand()
            if self._next() == ",":
                self._at += 1
            elif self._next() not in ("]", ""):
                self._broken("an event must be followed by , or ]")

    def _at_hand(self) -> Iterator[object]:
        """Events that are in the piece as a whole, up to the first one where there is more to look at."""
        text, at, scan = self._text, self._at, self._scan
        while ahead := _EVENT_AHEAD.match(text, at):
            try:
                value, at = scan(text, ahead.end())
            except (StopIteration, ValueError, RecursionError):
                break
            yield value
        self._at = at

    def _enter(self) -> None:
        """Go to the first event."""
        first = self._next()
        if not first:
            self._report.stop("", "is empty; must hold a Chrome trace in JSON.")
        if first not in "[{":
            begins = quoted(self._text[self._at : self._at + _TEXT_SHOWN])
            self._report.stop("", f"must be a Chrome trace in JSON, which begins with {{ or [, found {begins}.")
        self._at += 1
        if first == "[":
            return
        keys: list[str] = []
        while self._next() != "}":
            key = self._value()
            if not isinstance(key, str) or self._next() != ":":
                self._broken("a key in double quotes and a colon must stand here")
            self._at += 1
            if key == _EVENTS:
                if self._next() != "[":
                    self._report.stop(_EVENTS, f"must be a list of events, found {found(self._value())}.")
                self._at += 1
                return
            keys.append(key)
            if len(keys) > MAX_STRANGE:
                self._broken(f"more than {MAX_STRANGE:,} entries stand before the list {_EVENTS}")
            self._value()
            if self._next() == ",":
                self._at += 1
        some = ", ".join(map(quoted, keys[:_KEYS_SHOWN])) + (", …" if len(keys) > _KEYS_SHOWN else "")
        self._report.stop("", f"is JSON but no Chrome trace; must have a list {_EVENTS}, found {some or 'no key'}.")

    def _next(self) -> str:
        """The next character that is not blank; empty at the end."""
        while True:
            self._at = _BLANK.match(self._text, self._at).end()  # type: ignore[union-attr]  # it always matches
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _value(self) -> object:
        """The value that begins at the next character that is not blank."""
        self._next()
        while True:
            try:
                value, end = self._decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if error.pos < len(self._text) - _NEAR_THE_END and not error.msg.startswith("Unterminated"):
                    self._at = error.pos
                    self._broken(error.msg)
                if not self._more():
                    raise _CutOffError from None
            except ValueError:
                self._broken("a number has too many digits")
            except RecursionError:
                self._broken("lists and mappings nest too deep for a trace")
            else:
                # A number may go on in the next piece.
                is_open = isinstance(value, int | float) and end > len(self._text) - _NEAR_THE_END
                if is_open and self._more():
                    continue
                self._at = end
                return value

    def _more(self) -> bool:
        """Whether there was more text; positions in what is kept begin with the value that is being read."""
        if self._ended:
            return False
        piece = next((piece for piece in self._pieces if piece), "")
        if not piece:
            self._ended = True
            return False
        if self._at:
            self._before += self._at
            self._text = self._text[self._at :]
            self._at = 0
        if len(self._text) > MAX_VALUE_CHARACTERS:
            self._broken(f"an entry of a trace must not be longer than {MAX_VALUE_CHARACTERS:,} characters")
        self._text += piece
        return True

    def _broken(self, rule: str) -> NoReturn:
        self._report.stop("", f"is broken at character {self._before + self._at + 1:,}: {rule.rstrip('.')}.")
