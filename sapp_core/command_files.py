"""What commands read and write: files, the answer on the standard output, sentences on the standard error stream."""

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from sapp_core.documents.parse import MAX_BYTES
from sapp_core.errors import SappError
from sapp_core.interchange.result import Json, to_json

STANDARD_OUTPUT = "-"


def read_file(file: str, most: int = MAX_BYTES) -> bytes:
    """Content of a file; of one that is too large only as much as it takes to see that."""
    try:
        with Path(file).open("rb") as opened:
            return opened.read(most + 1)
    except OSError as error:
        raise SappError(f"{file}: cannot be read: {error.strerror}.") from error


def check_targets(*files: str | None) -> None:
    """Refuse files that cannot be written before time is spent on what should stand in them."""
    problems = [
        f"{file}: cannot be written: {'it is a folder' if Path(file).is_dir() else 'there is no such folder'}."
        for file in files
        if file and file != STANDARD_OUTPUT and (Path(file).is_dir() or not Path(file).parent.is_dir())
    ]
    if problems:
        raise SappError(*problems)


def write_file(file: str, content: str | bytes) -> None:
    """Write a whole file.

    Raises:
        SappError: it cannot be written.
    """
    try:
        Path(file).write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise SappError(f"{file}: cannot be written: {error.strerror}.") from error


def answer(file: str | None, as_json: Callable[[], Json], as_text: Callable[[], str]) -> None:
    """The command's answer: text for people, or JSON to a file or the standard output."""
    if file is None:
        _print("".join(f"{_printable(line)}\n" for line in as_text().splitlines()))
    elif file == STANDARD_OUTPUT:
        _print(to_json(as_json()))
    else:
        write_file(file, to_json(as_json()))


def _print(content: str) -> None:
    try:
        sys.stdout.write(content)
        sys.stdout.flush()
    except OSError as error:
        # What is still held back must not fail once more when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SappError(f"standard output: cannot be written: {error.strerror}.") from error


def tell(sort: str, sentences: Iterable[str]) -> None:
    """One line a sentence on the standard error stream."""
    for sentence in sentences:
        sys.stderr.write(f"{sort}: {_printable(sentence)}\n")


def _printable(line: str) -> str:
    """Text from files must not move the cursor or recolour the terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)
