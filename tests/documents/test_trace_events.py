"""Streams of text and of trace events: the forms, what is broken, and that nothing made to harm takes much memory."""

import gzip
import json
import tracemalloc
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sapp_core.documents import text_stream
from sapp_core.documents.report import Report
from sapp_core.documents.text_stream import text_pieces
from sapp_core.documents.trace_events import Ending, TraceEvents, microseconds
from sapp_core.errors import FormatError

EVENT = '{"ph": "X", "name": "a] }\\" ü", "ts": 1.5e3, "dur": 2, "args": {"x": [[1, -2], {}]}}'
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def events(text: str | list[str]) -> tuple[list, Ending]:
    read = TraceEvents(iter([text] if isinstance(text, str) else text), Report("t.json", FormatError))
    return list(read), read.ending


def refused(text: str) -> str:
    with pytest.raises(FormatError) as error:
        events(text)
    return str(error.value)


def pieces(data: bytes) -> str:
    return "".join(text_pieces(BytesIO(data), Report("t.json", FormatError)))


@settings(max_examples=25)
@given(st.lists(VALUES, max_size=6), st.dictionaries(st.text(max_size=5), VALUES, max_size=3), st.integers(1, 40))
def test_both_forms_give_the_events_however_the_text_is_cut(values, head, size):
    head.pop("traceEvents", None)
    for document in (values, head | {"traceEvents": values} | {"after": 1}):
        for indent in (None, 1):
            text = json.dumps(document, indent=indent)
            cut = [text[i : i + size] for i in range(0, len(text), size)]
            assert events(cut) == (values, Ending.CLOSED)


@given(st.integers(1, 3 * len(EVENT) + 10))
def test_a_cut_file_gives_the_whole_events_before_and_says_how_it_ended(length):
    text = f"[{EVENT},\n{EVENT},\n{EVENT}]"[:length]
    found, ending = events(text)
    assert found == [json.loads(EVENT)] * text.count(EVENT)
    rest = text.rpartition(EVENT)[2] if EVENT in text else text[1:]
    assert ending is (Ending.CLOSED if "]" in rest[:1] else Ending.CUT if rest.strip(",\n") else Ending.OPEN)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "t.json: is empty"),
        (" \n\t", "is empty"),
        ("<!DOCTYPE html><html>", 'begins with { or [, found "<!DOCTYPE html><html"'),
        ("\x00\x01PK", 'found "\\u0000\\u0001PK"'),
        ('{"a": 1, "b": [2]}', 'is JSON but no Chrome trace; must have a list traceEvents, found "a", "b".'),
        ("{}", "found no key"),
        ('{"traceEvents": {"a": 1}}', "traceEvents: must be a list of events, found a mapping of 1 key"),
        ('{"schemaVersion": 1, "trace', "ends before its list traceEvents begins"),
        ('[{"a": 1} {"a": 2}]', "is broken at character 11: an event must be followed by , or ]."),
        ('[{"a": 1}, {"a": nope, "b": 2, "c": "long enough"}]', "is broken at character 18: Expecting value."),
        ("[" + "[" * 100_000, "nest too deep"),
        ('{"a": ' * 100_000, "nest too deep"),
        ("[1" + "0" * 5000 + "]", "too many digits"),
    ],
)
def test_what_is_no_trace_is_refused_with_a_sentence(text, said):
    assert said in refused(text)


def test_an_event_that_never_ends_is_refused_before_it_fills_the_memory():
    endless = ("x" * 2**20 for _ in range(10**6))
    tracemalloc.start()
    with pytest.raises(FormatError, match=r"must not be longer than 4,194,304 characters"):
        list(
            TraceEvents((f'["{piece}' if not i else piece for i, piece in enumerate(endless)), Report("t", FormatError))
        )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * 2**20


@settings(max_examples=30)
@given(st.text(), st.booleans())
def test_text_comes_as_it_was_packed_or_not(text, packed):
    data = text.encode("utf-8", "replace")
    assert pieces(gzip.compress(data) if packed else data) == data.decode().removeprefix("\ufeff")


def test_bytes_that_are_no_text_are_replaced():
    assert pieces(b'["\xff"]') == '["�"]'


def test_a_gzip_bomb_is_refused_in_bounded_memory(monkeypatch):
    monkeypatch.setattr(text_stream, "MAX_UNPACKED_BYTES", 8 * 2**20)
    bomb = gzip.compress(b"[" + b" " * 50 * 2**20)
    assert len(bomb) < 100_000
    tracemalloc.start()
    with pytest.raises(FormatError, match=r"t\.json: must not unpack to more than 0\.0078125 GB; trace fewer steps\."):
        list(TraceEvents(text_pieces(BytesIO(bomb), Report("t.json", FormatError)), Report("t.json", FormatError)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * 2**20


def test_a_broken_gzip_is_refused_and_a_cut_one_ends_its_text():
    packed = gzip.compress(f"[{EVENT}]".encode() * 1000)
    with pytest.raises(FormatError, match="is a broken gzip file"):
        pieces(packed[:40] + b"\x00\xff" * 20 + packed[80:])
    text = "".join(f"{number} {EVENT}\n" for number in range(30_000))
    packed = gzip.compress(text.encode())
    kept = pieces(packed[: len(packed) // 2])
    assert text.startswith(kept)
    assert len(kept) > len(text) // 4
    with pytest.raises(FormatError, match="is cut off before its text begins"):
        pieces(packed[:12])


@pytest.mark.parametrize(
    ("value", "time"),
    [(1, 1.0), (2.5, 2.5), ("3.25", 3.25), ("1699529623106750.125", 1699529623106750.125), (-1, -1.0)],
)
def test_times_are_numbers_or_text(value, time):
    assert microseconds(value) == time


@pytest.mark.parametrize("value", [None, True, "", "soon", float("nan"), float("inf"), "inf", 1e18, 10**400, [1]])
def test_what_is_no_time(value):
    assert microseconds(value) is None
