"""Gives a field everything hostile, one content after the other, in one session, and says what went wrong."""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from streamlit.testing.v1 import AppTest

from tests.hostile.contents import FILE_NAMES
from tests.hostile.fields import FIELDS, Field

LONGEST_SENTENCE = 2_000
SMALL = 5_000
"""Bytes of what is hostile by its size, where only the answer matters."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What a content led to.

    Attributes:
        name: of the content.
        seconds: of processor time that it took; other programs do not count.
        peak_mb: MiB of memory that it took at its peak, besides its own bytes; 0 where the system does not tell.
        failure: what went wrong; empty = a sentence, or a legal value.
        taken: whether the field took it.
    """

    name: str
    seconds: float
    peak_mb: float
    failure: str
    taken: bool


_LOG: list[Tried] = []
_NOW: list[str] = []


def try_all(name: str, size: int, every: int, timeout: float) -> list[Tried]:
    """Try all contents on the field of a name, in a session of its own.

    Args:
        name: of the field.
        size: bytes of what is hostile by its size; 0 = as many as the field takes.
        every: see `Field.contents`.
        timeout: seconds for all of them.

    Raises:
        TimeoutError: says which content hung.
    """
    _LOG.clear()
    at = AppTest.from_function(_session, args=(name, size, every), default_timeout=timeout)
    try:
        at.run()
    except RuntimeError as error:
        raise TimeoutError(f"{name}: {_NOW[-1]}") from error
    assert not at.exception, at.exception[0].message
    return list(_LOG)


def _session(name: str, size: int, every: int) -> None:
    from tests.hostile import harness  # noqa: PLW0406  the session has only this function's own text

    harness.record(name, size, every)


def record(name: str, size: int, every: int) -> None:
    """Inside the session: fill the log."""
    field = next(field for field in FIELDS if field.name == name)
    _LOG.extend(_tried(field, size or int(field.mebibytes * 2**20), every))


def _tried(field: Field, size: int, every: int) -> Iterator[Tried]:
    for number, hostile in enumerate(field.contents(every)):
        _NOW[:] = [hostile.name]
        data, before = hostile.make(size), field.had()
        memory = _memory_mb("VmRSS")
        _forget_peak()
        begun = time.thread_time()
        try:
            field.bring(data, FILE_NAMES[number % len(FILE_NAMES)])
        except Exception as error:  # noqa: BLE001  whatever it is, it is what we look for
            failure, taken = f"{type(error).__name__}: {error}"[:300], False
        else:
            said = field.problems()
            taken = not said
            failure = "" if taken else _wrong(said)
            if said and field.had() != before:
                failure = "what was there before is lost"
        yield Tried(hostile.name, time.thread_time() - begun, _memory_mb("VmHWM") - memory, failure, taken)


def _wrong(said: tuple[str, ...]) -> str:
    """What is wrong with sentences."""
    for sentence in said:
        if not sentence.rstrip().endswith("."):
            return f"no sentence: {sentence[:200]!r}"
        if len(sentence) > LONGEST_SENTENCE:
            return f"a sentence of {len(sentence):,} characters: {sentence[:100]!r}"
    return ""


def _memory_mb(name: str) -> float:
    """What Linux says about this process, MiB."""
    with suppress(OSError):
        lines = Path("/proc/self/status").read_text().splitlines()
        return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(name)), 0.0)
    return 0.0


def _forget_peak() -> None:
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
