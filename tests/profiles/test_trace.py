"""Traces in columns: what is kept, what is left out, what is refused."""

import gzip
import json
from io import BytesIO

import numpy as np
import pytest

from sapp_core.errors import ProfileError
from sapp_core.profiles import trace_reader as module
from sapp_core.profiles.trace import Name
from sapp_core.profiles.trace_reader import read_trace
from tests.profiles.traces import event, golden, mindspore, read, written


def refused(data: bytes, name: str = "t.json") -> str:
    with pytest.raises(ProfileError) as error:
        read(data, name)
    return str(error.value)


def test_events_are_sorted_with_names_tracks_and_times():
    thread = {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "main"}}
    found = read([event("b", 5, 1), event("a", 0, 10, cat="kernel"), thread, event("b", 0, 3, tid="7")])
    assert found.names == (Name("b", ""), Name("a", "kernel"))
    assert found.tracks == ("process 1 · main", "process 1 · thread 7")
    assert found.name.tolist() == [1, 0, 0]
    assert found.start.tolist() == [0, 5, 0]
    assert found.duration.tolist() == [10, 1, 3]
    assert found.notes == ()


def test_times_may_be_text_as_mindspore_writes_them():
    found = read(written(mindspore(), as_object=False))
    assert found.tracks == ("Ascend Hardware · thread 3",)
    assert set(found.duration.tolist()) == {30, 50, 60, 100, 100.5, 201}


def test_pairs_of_begin_and_end_nest_and_those_alone_are_counted():
    marks = [
        ("B", "outer", 0),
        ("B", "inner", 2),
        ("E", "", 5),
        ("E", "outer", 9),
        ("E", "late", 10),
        ("B", "open", 11),
    ]
    found = read([{"ph": ph, "name": name, "ts": ts, "pid": 1, "tid": 1} for ph, name, ts in marks])
    assert [(found.names[i].text, d) for i, d in zip(found.name, found.duration, strict=True)] == [
        ("outer", 9), ("inner", 3),
    ]  # fmt: skip
    assert found.notes == ("trace.json: begin and end events without a partner were left out: 2.",)


def test_what_is_no_event_is_left_out_and_counted():
    found = read(
        [event("a", 0, 1), 5, {"name": "no phase"}, event("b", "soon", 1), event("c", 0, -1), event("d", 0, "x")]
    )
    assert found.num_events == 1
    assert found.notes == ("trace.json: entries that are no event or have no legal time were left out: 5.",)


@pytest.mark.parametrize("packed", [False, True])
def test_a_cut_file_is_used_and_says_so(packed):
    data = written([event("a", i, 1) for i in range(1000)], as_object=False)[:-20]
    (note,) = read(gzip.compress(data) if packed else data, "cut.json").notes
    assert (
        note == "cut.json: ends inside an event, so its writing was cut off; the timed events before it are used: 999."
    )
    (note,) = read(written([event("a", 0, 1)], as_object=False)[:-1]).notes
    assert "has no closing bracket, so its end may be missing; the timed events that are there are used: 1." in note


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "t.json: is empty; must hold a Chrome trace in JSON."),
        pytest.param(gzip.compress(b""), "t.json: is empty", id="empty gz"),
        (b'{"model_type": "llama"}', 'is JSON but no Chrome trace; must have a list traceEvents, found "model_type"'),
        (b"[]", "is a trace without any event"),
        (b"[1, 2, 3]", "none of its entries (3) is a complete event"),
        (b'[{"ph": "i", "ts": 1}]', "none of its entries (1) is a complete event"),
        (b'[{"ph": "X", "ts"', "ends inside its first event"),
        (b"\x89PNG\r\n", "must be a Chrome trace in JSON"),
        (b"<html>", "must be a Chrome trace in JSON"),
    ],
)
def test_what_is_no_trace_is_refused(data, said):
    assert said in refused(data)


@pytest.mark.parametrize(
    ("limit", "most", "said"),
    [
        ("MAX_EVENTS", 3, "a trace may hold 3 timed events, found more; trace fewer steps."),
        ("MAX_TRACKS", 2, "a trace may hold 2 threads and streams, found more."),
        ("MAX_NAMES", 2, "a trace may hold 2 different names"),
        ("MAX_NAME_CHARACTERS", 5, "of together 5 characters, found more"),
        ("MAX_FILE_BYTES", 2**6, "must not be larger than 0 MB, found 0 MB"),
    ],
)
def test_what_would_not_fit_into_memory_is_refused(monkeypatch, limit, most, said):
    monkeypatch.setattr(module, limit, most)
    assert said in refused(written([event(f"name {i}", i, 1, tid=i) for i in range(4)]))


def test_files_of_several_ranks_are_one_trace_and_all_problems_are_told():
    first, second = (json.dumps([event(name, 0, 1)]).encode() for name in "ab")
    told = []
    found = read_trace([("r0.json", BytesIO(first)), ("r1.json", BytesIO(gzip.compress(second)))], told.append)
    assert found.tracks == ("r0.json · process 1 · thread 1", "r1.json · process 1 · thread 1")
    assert told == sorted(told)
    assert told[-1] == 1
    with pytest.raises(ProfileError) as error:
        read_trace([("r0.json", BytesIO(b"")), ("ok.json", BytesIO(first)), ("r1.json", BytesIO(b"{}"))])
    assert [problem.split(":")[0] for problem in error.value.problems] == ["r0.json", "r1.json"]


def test_recorded_traces_of_pytorch_are_read():
    labels, modules = golden("pytorch_labels"), golden("pytorch_modules")
    assert sum(name.text.startswith("layer ") for name in labels.names) == 8
    assert Name("nn.Module: Layer_3", "python_function") in modules.names
    assert not labels.notes + modules.notes
    assert np.all(np.diff(modules.track) >= 0)
