"""Problems and warnings of one file, each a sentence that begins with the path of the field."""

import re
from itertools import islice
from json import dumps
from typing import NoReturn

from sapp_core.errors import SappError

MAX_SENTENCES = 1000
"""Nobody reads more; a hostile file could make a million."""

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_SHOWN = 60
_KEYS_SHOWN = 5


class Report:
    """What is wrong with a file and what was ignored in it; made for one reading and thrown away with it.

    Attributes:
        source: name of the file, stands for the path where a sentence is about the whole file.
        error: what a refused file raises.
        problems: sentences that refuse the file.
        warnings: sentences about what was ignored or left out.
    """

    def __init__(self, source: str, error: type[SappError]) -> None:
        self.source = source
        self.error = error
        self.problems: list[str] = []
        self.warnings: list[str] = []

    def refuse(self, path: str, sentence: str) -> None:
        """Note a problem.

        Raises:
            SappError: of the type `error`; there are too many to be of use.
        """
        self.problems.append(f"{path or self.source}: {sentence}")
        if len(self.problems) >= MAX_SENTENCES:
            self.stop("", f"has {MAX_SENTENCES:,} problems or more; the first ones are listed.")

    def warn(self, path: str, sentence: str) -> None:
        """Note something the user should know; what comes after the useful number of warnings is dropped."""
        if len(self.warnings) < MAX_SENTENCES:
            self.warnings.append(f"{path or self.source}: {sentence}")

    def stop(self, path: str, sentence: str) -> NoReturn:
        """Give up reading, with everything found so far.

        Raises:
            SappError: of the type `error`; always.
        """
        raise self.error(*self.problems, f"{path or self.source}: {sentence}")

    def raise_problems(self) -> None:
        """Refuse the file if anything is wrong with it.

        Raises:
            SappError: of the type `error`; with all problems.
        """
        if self.problems:
            raise self.error(*self.problems)


def child(path: str, key: str) -> str:
    """Path of a key: `training.batch_size`, or `training["batch size"]` for a key that is no plain word."""
    if _PLAIN_KEY.fullmatch(key) and len(key) <= _SHOWN:
        return f"{path}.{key}" if path else key
    return f"{path}[{quoted(key)}]"


def quoted(text: str) -> str:
    """Text in double quotes on one line, shortened, with everything that cannot be printed escaped."""
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    return dumps(shown, ensure_ascii=not shown.isprintable())


def number_text(value: float) -> str:
    """A number as it would be written into a file; one with very many digits is only described."""
    digits = str(int(value)) if isinstance(value, int) or value.is_integer() else repr(value)
    return digits if len(digits) <= _SHOWN else f"a number of {len(digits)} digits"


def found(value: object) -> str:
    """What stands in the file, for "found …"."""
    match value:
        case None:
            said = "nothing"
        case bool():
            said = "true" if value else "false"
        case float():
            said = repr(value)
        case int():
            said = number_text(value)
        case str():
            said = f"the text {quoted(value)}"
        case list():
            said = f"a list of {len(value):,}"
        case dict():
            said = f"a mapping of {len(value):,} key{'s' if len(value) != 1 else ''}"
        case _:
            said = f"a {type(value).__name__}"
    return said


def found_keys(value: object) -> str:
    """The first keys of a mapping, for "found …"; of anything else what it is."""
    if not isinstance(value, dict) or not value:
        return found(value)
    names = [quoted(str(key)) for key in islice(value, _KEYS_SHOWN)]
    left = len(value) - len(names)
    return ", ".join(names) + (f" and {left:,} more" if left else "")
