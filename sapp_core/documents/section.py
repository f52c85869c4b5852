"""One mapping of a document, read field by field; what breaks a rule goes to the report."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite
from types import MappingProxyType

from sapp_core.documents.parse import read_document
from sapp_core.documents.report import Report, child, found, number_text, quoted
from sapp_core.documents.tree import Refused

MAX_TEXT = 200
_UNKNOWN_SHOWN = 20
_OLD_FLAGS: Mapping[str, bool] = MappingProxyType({"yes": True, "no": False, "on": True, "off": False})
_LONGEST_COMPARED = 80
"""Characters: comparing texts takes time that grows with the square of their length."""


@dataclass(frozen=True, slots=True)
class Section:
    """A mapping and where it stands.

    The methods that read a field return None when it is absent or breaks their rule. The second case is in the
    report, so a caller goes on with None and looks at the report when everything was read.

    Attributes:
        values: key → value as parsed.
        path: of the mapping; empty for the whole document.
        report: takes the problems.
    """

    values: dict[str, object]
    path: str
    report: Report

    def has(self, key: str) -> bool:
        """Whether the key is there, with whatever value."""
        return key in self.values

    def at(self, key: str) -> str:
        """Path of a field."""
        return child(self.path, key)

    def number(self, key: str, *, most: float, positive: bool = False, required: bool = False) -> float | None:
        """A number from 0 (or just above it) to `most`."""
        rule = f"a number above 0 and up to {most:,}" if positive else f"a number from 0 to {most:,}"
        value = self._given(key, rule, required=required)
        if isinstance(value, Refused):
            return None
        number = _number_in(value)
        if number is None or (positive and number <= 0):
            self._refuse(key, rule)
        elif isinstance(value, str) or not 0 <= number <= most:
            self._refuse(key, rule, number_text(min(max(number, 0), most)))
        else:
            return float(number) + 0.0  # −0.0 becomes 0.0
        return None

    def whole(self, key: str, *, least: int, most: int, required: bool = False) -> int | None:
        """A whole number from `least` to `most`, written without a decimal point."""
        rule = f"a whole number from {least:,} to {most:,}"
        value = self._given(key, rule, required=required)
        if isinstance(value, Refused):
            return None
        number = _number_in(value)
        if number is None:
            self._refuse(key, rule)
        elif isinstance(number, float) or isinstance(value, str) or not least <= number <= most:
            self._refuse(key, rule, number_text(round(min(max(number, least), most))))
        else:
            return number
        return None

    def text(self, key: str, *, most: int = MAX_TEXT, required: bool = False) -> str | None:
        """Text on one line, up to `most` characters."""
        rule = f"text of 1 to {most} printable characters"
        value = self._given(key, rule, required=required)
        if isinstance(value, Refused):
            return None
        if isinstance(value, str) and value.strip() and value.isprintable() and len(value) <= most:
            return value
        is_word = isinstance(value, bool | int | float)
        self._refuse(key, rule, quoted(str(value).lower()) if is_word else "")
        return None

    def choice(self, key: str, options: tuple[str, ...], *, required: bool = False) -> str | None:
        """One of several words."""
        rule = f"one of {', '.join(options)}"
        value = self._given(key, rule, required=required)
        if isinstance(value, Refused):
            return None
        if isinstance(value, str) and value in options:
            return value
        self._refuse(key, rule, _nearest(value.strip().upper(), options) if isinstance(value, str) else "")
        return None

    def flag(self, key: str) -> bool | None:
        """True or false, or one of the words that older YAML has for them."""
        rule = "true or false"
        value = self._given(key, rule, required=False)
        if isinstance(value, Refused):
            return None
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in _OLD_FLAGS:
            return _OLD_FLAGS[value.lower()]
        is_bit = isinstance(value, int) and value in (0, 1)
        self._refuse(key, rule, found(bool(value)) if is_bit else "")
        return None

    def section(self, key: str, *, required: bool = False) -> "Section | None":
        """A mapping inside this one."""
        rule = "a mapping of keys to values"
        value = self._given(key, rule, required=required)
        if isinstance(value, dict):
            return Section(value, self.at(key), self.report)
        if not isinstance(value, Refused):
            self._refuse(key, rule)
        return None

    def entries(self, key: str, *, required: bool = False) -> list[object] | None:
        """A list inside this mapping."""
        rule = "a list"
        value = self._given(key, rule, required=required)
        if isinstance(value, list):
            return value
        if not isinstance(value, Refused):
            self._refuse(key, rule)
        return None

    def warn_unknown(self, known: Iterable[str], unused: Iterable[str] = ()) -> None:
        """Warn about every key that is neither known nor left unused on purpose, with the nearest known one."""
        known = tuple(known)
        unknown = [key for key in self.values if key not in known and key not in unused]
        for key in unknown[:_UNKNOWN_SHOWN]:
            nearest = _nearest(key, known)
            question = f" `{key}` → `{nearest}`?" if nearest else ""
            self.report.warn(self.at(key), f"is not known and was ignored.{question}")
        if (more := len(unknown) - _UNKNOWN_SHOWN) > 0:
            self.report.warn(self.path, f"has {more:,} more keys that are not known and were ignored.")

    def _given(self, key: str, rule: str, *, required: bool) -> object:
        """The value, or the marker of a refused one when there is nothing (more) to check."""
        if required and key not in self.values:
            self.report.refuse(self.at(key), f"is missing; must be {rule}.")
        return self.values.get(key, Refused.VALUE)

    def _refuse(self, key: str, rule: str, nearest: str = "") -> None:
        value = self.values[key]
        if value is None:
            way_out = "; write a value or leave the key out"
        else:
            way_out = f"; nearest: {nearest}" if nearest else ""
        self.report.refuse(self.at(key), f"must be {rule}, found {found(value)}{way_out}.")


def read_sections(data: bytes, report: Report) -> Section:
    """A whole JSON or YAML document as a section.

    Raises:
        SappError: it cannot be parsed, or is not a mapping.
    """
    document = read_document(data, report)
    if isinstance(document, Refused):
        report.raise_problems()
    if not isinstance(document, dict):
        report.stop("", f"must be a mapping of keys to values, found {found(document)}.")
    return Section(document, "", report)


def _nearest(text: str, options: tuple[str, ...]) -> str:
    if len(text) > _LONGEST_COMPARED:
        return ""
    return next(iter(get_close_matches(text, options, n=1)), "")


def _number_in(value: object) -> int | float | None:
    """The number that stands in a file or that a text in it spells; None when it is something else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    try:
        number = float(value) if isinstance(value, str) and len(value) <= _LONGEST_COMPARED else None
    except ValueError:
        return None
    return number if number is not None and isfinite(number) else None
