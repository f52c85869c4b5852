"""Traces keep the rules of the Trace Event Format, and say what was simulated."""

import json
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given

from sapp_core.domain.graph import source_of
from sapp_core.errors import FormatError
from sapp_core.interchange.chrome_trace import evaluation_to_chrome_trace
from sapp_core.study import evaluate
from tests.charts import scenes
from tests.strategies import studies

NANOSECOND = 1e-3
"""In the trace's microseconds."""


def refuse(word):
    raise AssertionError(word)


def trace_of(evaluation) -> dict:
    return json.loads(evaluation_to_chrome_trace(evaluation), parse_constant=refuse)


def events(trace, phase, **having):
    return [
        event
        for event in trace["traceEvents"]
        if event["ph"] == phase and all(event.get(key) == value for key, value in having.items())
    ]


def ops_of(trace):
    return [event for event in events(trace, "X") if event["cat"] != "transfer"]


def nanoseconds(micros: float) -> int:
    """As a viewer may read it: rounded or cut off, both have to give the same."""
    assert int(micros * 1000) == round(micros * 1000)
    return round(micros * 1000)


def check_rules(trace):
    assert trace["displayTimeUnit"] in {"ms", "ns"}
    assert isinstance(trace["otherData"], dict)
    named = {(event["pid"], event["tid"]) for event in events(trace, "M", name="thread_name")}
    assert {event["pid"] for event in trace["traceEvents"]} == {
        event["pid"] for event in events(trace, "M", name="process_name")
    }
    timed = [event for event in trace["traceEvents"] if event["ph"] != "M"]
    assert all(before["ts"] <= after["ts"] for before, after in pairwise(timed))
    threads = defaultdict(list)
    for event in timed:
        assert isinstance(event["name"], str)
        assert type(event["pid"]) is int
        assert event["pid"] > 0
        if event["ph"] == "C":
            assert all(type(value) in {int, float} for value in event["args"].values())
            continue
        assert type(event["tid"]) is int
        assert (event["pid"], event["tid"]) in named
        assert event["dur"] >= 0
        start = nanoseconds(event["ts"])
        threads[event["pid"], event["tid"]].append((start, start + nanoseconds(event["dur"])))
    assert len({tid for _, tid in named}) == len(named), "some viewers know threads by their number alone"
    for spans in threads.values():
        for before, after in pairwise(spans):
            assert after[0] >= before[1], "side by side on one thread"


@given(studies())
def test_every_trace_keeps_the_rules_of_the_format(study):
    check_rules(trace_of(evaluate(*study)))


@given(studies())
def test_every_op_is_there_once_with_its_own_time(study):
    evaluation = evaluate(*study)
    found = {}
    for event in ops_of(trace_of(evaluation)):
        facts = event["args"]
        assert event["pid"] == facts["stage"] + 1
        key = tuple(facts[name] for name in ("stage", "kind", "chunk", "micro_batch", "sequence_split"))
        assert key not in found
        found[key] = event["ts"], event["dur"]
    assert len(found) == evaluation.schedule.num_ops
    for stage, slots in enumerate(evaluation.schedule.slots):
        for slot, start, end in zip(
            slots, evaluation.timeline.starts[stage], evaluation.timeline.ends[stage], strict=True
        ):
            for op in slot.ops:
                ts, dur = found[stage, str(op.kind), op.chunk, op.micro_batch, op.sequence_split]
                assert ts == pytest.approx(1000 * start, abs=NANOSECOND)
                assert dur == pytest.approx(1000 * (end - start), abs=NANOSECOND)


@given(studies())
def test_a_transfer_lasts_from_the_senders_end_until_the_data_arrives(study):
    evaluation = evaluate(*study)
    pipeline, timeline = evaluation.schedule.pipeline, evaluation.timeline
    transfers = events(trace_of(evaluation), "X", cat="transfer")
    crossing = [
        source
        for stage, slots in enumerate(evaluation.schedule.slots)
        for slot in slots
        for op in slot.ops
        if (source := source_of(op, stage, pipeline)) is not None and source[2] != stage
    ]
    assert len(transfers) == (len(crossing) if pipeline.p2p_time else 0)
    ends = [{round(1e6 * end) for end in stage} for stage in timeline.ends]
    for event in transfers:
        assert event["dur"] == pytest.approx(1000 * pipeline.p2p_time, abs=NANOSECOND)
        assert round(1000 * event["ts"]) in ends[event["args"]["from_stage"]]
        assert event["pid"] == event["args"]["from_stage"] + 1
        assert event["args"]["needed_by"]["kind"] in "FBI"


def test_memory_is_counted_in_mib_by_part():
    evaluation = scenes.evaluation("vpp", chunks=2)
    counters = events(trace_of(evaluation), "C")
    for stage, peak in enumerate(evaluation.peaks):
        seen = [event["args"] for event in counters if event["pid"] == stage + 1]
        assert {(args["parameters"], args["constant"]) for args in seen} == {(peak.parameter_mb, peak.constant_mb)}
        assert max(args["activations"] for args in seen) == sum(peak.activation_mb)
        assert seen[-1]["activations"] == 0
    assert {event["name"] for event in counters} == {"memory (MiB)"}


def test_without_memory_nothing_is_counted():
    profile = scenes.profile()
    bare = replace(
        profile,
        layers=tuple(replace(layer, parameter_mb=0.0, activation_mb=(0.0,) * 5) for layer in profile.layers),
    )
    assert not events(trace_of(replace(scenes.evaluation(), profile=bare)), "C")


def test_overlapped_ops_are_two_threads_side_by_side():
    trace = trace_of(scenes.overlapped())
    check_rules(trace)
    stage = [event for event in ops_of(trace) if event["pid"] == 1]
    pair = [event for event in stage if event["ts"] == 1000]
    assert [event["name"] for event in pair] == ["F1.1", "B1.0"]
    assert len({event["tid"] for event in pair}) == 2
    assert {event["dur"] for event in pair} == {2000}
    names = {event["tid"]: event["args"]["name"] for event in events(trace, "M", name="thread_name")}
    assert [names[event["tid"]] for event in pair] == ["compute", "compute, overlapped"]


def test_a_large_step_has_all_its_time_and_memory():
    evaluation = scenes.evaluation("vpp", stages=16, micro_batches=64, chunks=3, layers=96, p2p_time=3.0)
    trace = trace_of(evaluation)
    check_rules(trace)
    ops = ops_of(trace)
    assert len(ops) == 6144
    busy = sum(
        end - start
        for starts, ends in zip(evaluation.timeline.starts, evaluation.timeline.ends, strict=True)
        for start, end in zip(starts, ends, strict=True)
    )
    assert sum(event["dur"] for event in ops) == pytest.approx(1000 * busy)
    assert max(event["ts"] + event["dur"] for event in ops) == pytest.approx(1000 * evaluation.step_time)
    for stage, peak in enumerate(evaluation.peak_memory_mb):
        totals = [sum(event["args"].values()) for event in events(trace, "C", pid=stage + 1)]
        assert max(totals) == pytest.approx(peak)
    assert trace["otherData"]["num_stages"] == 16


@pytest.mark.parametrize(
    ("unit", "factor", "said"),
    [
        ("s", 1e6, "1 s of the profile is 1e+06 µs"),
        ("ms", 1e3, "1 ms of the profile is 1000 µs"),
        ("us", 1, "1 us of the profile is 1 µs"),
        ("ns", 1e-3, "1 ns of the profile is 0.001 µs"),
        ("ticks", 1e3, "1 ticks is taken as 1000 µs"),
    ],
)
def test_any_time_unit_becomes_microseconds_and_the_trace_says_how(unit, factor, said):
    evaluation = scenes.evaluation()
    trace = trace_of(replace(evaluation, profile=replace(evaluation.profile, time_unit=unit)))
    end = max(event["ts"] + event["dur"] for event in ops_of(trace))
    assert end == pytest.approx(factor * evaluation.step_time)
    assert said in trace["otherData"]["time"]


def test_a_step_beyond_the_format_is_refused():
    evaluation = scenes.evaluation()
    with pytest.raises(FormatError, match="the step is too long"):
        evaluation_to_chrome_trace(replace(evaluation, timeline=replace(evaluation.timeline, step_time=1e15)))
