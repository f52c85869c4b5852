"""Files of measured times: what is understood, and what is said about the rest."""

import json

import pytest

from sapp_core.domain.measured import Sample
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.schedule import Op, OpKind
from sapp_core.errors import FormatError
from sapp_core.interchange import measured, measured_csv, measured_trace
from sapp_core.interchange.measured import read_measured
from sapp_core.schedules.registry import make_schedule, placed

F, B = OpKind.F, OpKind.B
ORDER = make_schedule("1f1b", Pipeline(2, 2))
CHUNKS = make_schedule("vpp", Pipeline(2, 2, 2))
BOTH_WAYS = make_schedule("dualpipe", placed("dualpipe", Pipeline(2, 4, 2)))


def read(content: str | bytes, schedule=ORDER, unit="ms", name="m"):
    data = content if isinstance(content, bytes) else content.encode()
    return read_measured([(name, data)], schedule, unit)


def problems(content, schedule=ORDER):
    with pytest.raises(FormatError) as caught:
        read(content, schedule)
    return caught.value.problems


def trace(*named, **more):
    """A trace of complete events 5 ms long, every 10 ms: names, or fields of their own."""
    return json.dumps(
        {
            "traceEvents": [
                {"ph": "X", "ts": 10_000 * i, "dur": 5_000, "pid": 1, "tid": 1}
                | (event if isinstance(event, dict) else {"name": event})
                for i, event in enumerate(named)
            ],
            **more,
        }
    )


def test_a_table_with_start_and_end_or_duration():
    by_end = read("stage,kind,micro_batch,start,end\n0,F,1,10,12.5\n1,B,0,2e1,30\n")
    by_duration = read("Stage, op ,micro_batch,start,duration,remark\n0,forward,1,10,2.5,x\n\n1,backward,0,20,10,y\n")
    assert by_end == by_duration
    assert by_end.samples == (Sample(0, F, 2.5, Op(F, 0, 1), 10.0), Sample(1, B, 10.0, Op(B, 0, 0), 20.0))


def test_a_table_of_durations_only_is_what_timers_give():
    found = read("stage,kind,duration\n0,forward-compute,7\n1,backward-compute,9\n")
    assert found.samples == (Sample(0, F, 7.0), Sample(1, B, 9.0))
    (known,) = read("stage,kind,micro_batch,duration\n0,F,1,7\n").samples
    assert known == Sample(0, F, 7.0, Op(F, 0, 1))


def test_pytorch_labels_name_virtual_stages():
    found = read(trace("PP:0F0", "aten::mm", "PP:1F0", "PP:2F0", "PP:3RECV_F0", "PP:(3F1;2B0)OVERLAP_F_B"), CHUNKS)
    assert [(sample.stage, sample.op) for sample in found.samples] == [
        (0, Op(F, 0, 0)),
        (1, Op(F, 0, 0)),
        (0, Op(F, 1, 0)),
        (1, Op(F, 1, 1)),
        (0, Op(B, 1, 0)),
    ]
    assert [sample.start for sample in found.samples] == [0, 20, 30, 50, 50]
    assert {sample.duration for sample in found.samples} == {5.0}


def test_names_and_args_of_our_own():
    args = {"stage": 1, "kind": "B", "chunk": 1, "micro_batch": 1, "sequence_split": 0}
    found = read(trace("stage 0 F1.1", {"name": "whatever", "args": args}, "stage 0 F1.1 again"), CHUNKS)
    assert [(sample.stage, sample.op) for sample in found.samples] == [(0, Op(F, 1, 1)), (1, Op(B, 1, 1))]


def test_a_bare_list_of_events_is_a_trace_too_and_only_complete_events_count():
    events = json.loads(trace("PP:0F0"))["traceEvents"]
    assert len(read(json.dumps([*events, {**events[0], "ph": "i"}, 7])).samples) == 1


def test_times_of_the_device_are_taken_if_every_label_has_them():
    def twice(*on_device):
        device = [{"name": name, "cat": "gpu_user_annotation", "dur": 8_000} for name in on_device]
        return trace("PP:0F0", "PP:0B0", *device)

    both = read(twice("PP:0F0", "PP:0B0"))
    assert [sample.duration for sample in both.samples] == [8.0, 8.0]
    assert not both.notes
    some = read(twice("PP:0F0"))
    assert [sample.duration for sample in some.samples] == [5.0, 5.0]
    assert "times are those of the host" in some.notes[0]


@pytest.mark.parametrize(("unit", "start"), [("s", 0.01), ("ms", 10), ("us", 10_000)])
def test_trace_times_become_the_profiles_unit(unit, start):
    assert read(trace("PP:0F0", "PP:1F0"), unit=unit).samples[1].start == pytest.approx(start)


def test_a_unit_that_nobody_knows_is_said():
    (note,) = read(trace("PP:0F0"), unit="ticks").notes
    assert "1 ticks is taken as 1000 µs" in note


def test_traces_of_several_ranks_share_a_clock():
    base = 1_700_000_000_123_456_789
    found = read_measured(
        [
            ("rank0", trace("PP:0F0", baseTimeNanoseconds=base).encode()),
            ("rank1", trace("PP:1F0", baseTimeNanoseconds=base + 2_000_500).encode()),
        ],
        ORDER,
        "ms",
    )
    assert [(sample.stage, sample.start) for sample in found.samples] == [(0, 0.0), (1, 2.0005)]


HEADER = "stage,kind,micro_batch,start,end\n"


@pytest.mark.parametrize(
    ("content", "schedule", "said"),
    [
        ("", ORDER, ["m: is empty; must hold a CSV table or a Chrome trace."]),
        (b"\x1f\x8b\x08", ORDER, ["m: is compressed; unpack it first."]),
        (b"stage,\xff", ORDER, ["m: must be text in UTF-8, found the byte 0xff at position 6."]),
        (HEADER, ORDER, ["m: names no op."]),
        (
            "stage;kind\n0;F\n",
            ORDER,
            [
                'm, line 1: columns are missing: stage, kind; found "stage;kind"; the separator is a comma.',
                "m, line 1: there must be a column end or a column duration, found neither.",
            ],
        ),
        ("stage,kind,stage,duration\n", ORDER, ["m, line 1: the column stage is there twice."]),
        ("stage,kind,end\n", ORDER, ["m, line 1: columns are missing: start"]),
        ("stage,kind,start,end\n", CHUNKS, ["m, line 1: columns are missing: micro_batch, chunk"]),
        ("stage,kind,start,end,duration,micro_batch\n", ORDER, ["found both."]),
        (
            HEADER + "0,F,0,0,1\nx,Q,1.5,1e999,1\n0,F,0,5,\n",
            ORDER,
            [
                'm, line 3, column kind: must be F, B, I or W, found "Q".',
                'm, line 3, column stage: must be a whole number of at least 0, found "x".',
                'm, line 3, column micro_batch: must be a whole number of at least 0, found "1.5".',
                'm, line 3, column start: must be a number with a point for the decimals, such as 12.5, found "1e999".',
                'm, line 4, column end: must be a number with a point for the decimals, such as 12.5, found "".',
            ],
        ),
        (HEADER + "0,F,0,5,4\n", ORDER, ["m, line 2: must not end before it starts."]),
        ("stage,kind,duration\n0,F,-1\n", ORDER, ["m, line 2: duration must not be negative."]),
        (HEADER + "2,F,0,0,1\n", ORDER, ["m, line 2: stage must be 0 to 1, found 2."]),
        (HEADER + "0,F,2,0,1\n", ORDER, ["m, line 2: micro_batch must be 0 to 1 for the pipeline shown, found 2."]),
        (HEADER + "0,W,0,0,1\n", ORDER, ["m, line 2: kind must be one of B, F for the schedule 1f1b, found W."]),
        (HEADER + '0,"F\n', ORDER, ["m: line 2 is not valid CSV: "]),
        ("{", ORDER, ["m: line 1, column 2 is not valid JSON: "]),
        ('{"traceEvents": 3}', ORDER, ["m: must be a Chrome trace with a list traceEvents, found 3."]),
        ("[" * 100_000, ORDER, ["m: nests mappings and lists too deep for a trace."]),
        ('[{"ts": NaN}]', ORDER, ["m: is not valid JSON: NaN is no number of JSON."]),
        (trace("aten::mm"), ORDER, ["m: names no op. A trace needs events such as PP:2F0"]),
        (trace("PP:7F0"), ORDER, ["m, event 0: virtual stage must be 0 to 1, found 7."]),
        (trace("PP:0F9"), ORDER, ["m, event 0: micro_batch must be 0 to 1 for the pipeline shown, found 9."]),
        (trace("PP:0F0"), BOTH_WAYS, ["m, event 0: names with a virtual stage do not say the direction;"]),
        (
            trace({"name": "PP:0F0", "ts": "soon", "dur": -2}),
            ORDER,
            [
                'm, event 0: ts must be a number of microseconds, found the text "soon".',
                "m, event 0: dur must not be negative.",
            ],
        ),
        (
            trace({"name": "x", "args": {"stage": "a", "kind": "K", "micro_batch": True}}),
            ORDER,
            [
                'm, event 0: args.kind must be F, B, I or W, found the text "K".',
                'm, event 0: args.stage must be a whole number, found the text "a".',
                "m, event 0: args.micro_batch must be a whole number, found true.",
            ],
        ),
    ],
)
def test_everything_wrong_is_said_with_its_place(content, schedule, said):
    found = problems(content, schedule)
    assert len(found) == len(said)
    for sentence in said:
        assert any(sentence in problem for problem in found), (sentence, found)


def test_the_problems_of_all_files_are_said_at_once():
    with pytest.raises(FormatError) as caught:
        read_measured([("a", b""), ("b", HEADER.encode() + b"5,F,0,0,1\n")], ORDER, "ms")
    assert [problem[:2] for problem in caught.value.problems] == ["a:", "b,"]


def test_sizes_are_bounded(monkeypatch):
    monkeypatch.setattr(measured_csv, "MAX_ROWS", 2)
    monkeypatch.setattr(measured_trace, "MAX_EVENTS", 2)
    assert "must not have more than 2 lines" in problems(HEADER + "0,F,0,0,1\n" * 3)[0]
    assert "must not have more than 2 events, found 3" in problems(trace("a", "b", "c"))[0]
    monkeypatch.setattr(measured, "MAX_BYTES", 100)
    assert "must not be larger than 10 MB" in problems(HEADER + " " * 100)[0]
