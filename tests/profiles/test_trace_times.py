"""Times of layers: recovered from traces whose times are known, whatever the trace looks like."""

import json
import random
from statistics import median, quantiles

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sapp_core.domain.profile import LayerKind
from sapp_core.profiles.trace import Trace
from sapp_core.profiles.trace_kinds import KindPatterns
from sapp_core.profiles.trace_measure import Measurement, measure
from sapp_core.profiles.trace_times import LayerTimes, Match, Reading
from tests.profiles.traces import GOLDEN, event, golden, lanes, mindspore, read, written

AS_IT_IS = Reading()
DURATIONS = st.integers(1, 10**6).map(lambda eighths: eighths / 8)


def body(pattern: str, match: Match = Match.LAYER, backward: str = "") -> KindPatterns:
    return KindPatterns("Layer", LayerKind.BODY, pattern, backward, match)


def measured(trace: Trace, kind: KindPatterns, reading: Reading = AS_IT_IS) -> Measurement:
    return measure(trace, [kind], reading)


def forward(trace: Trace, pattern: str, match: Match = Match.LAYER, reading: Reading = AS_IT_IS) -> LayerTimes:
    found = measured(trace, body(pattern, match), reading).kinds[0].forward
    assert found is not None
    return found


@settings(max_examples=25)
@given(
    st.lists(st.lists(DURATIONS, min_size=3, max_size=3), min_size=1, max_size=4),
    st.booleans(),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_times_of_labels_are_recovered_in_any_form_and_order(layers, as_object, packed, shuffler):
    events, now = [], 1e9
    for run in range(3):
        for number, durations in enumerate(layers):
            events.append(event(f"layer {number}", now, durations[run]))
            events.append(event("attention", now, durations[run] / 2))
            now += durations[run]
    shuffler.shuffle(events)
    found = forward(read(written(events, as_object=as_object, packed=packed)), "layer #")
    assert found.layers == tuple(range(len(layers)))
    assert found.runs == (3.0,) * len(layers)
    assert found.medians == tuple(map(median, layers))
    assert found.time == median(map(median, layers))
    assert found.low == pytest.approx(median(quantiles(durations, method="inclusive")[0] for durations in layers))
    assert found.high == pytest.approx(median(quantiles(durations, method="inclusive")[2] for durations in layers))


@settings(max_examples=25)
@given(
    st.lists(st.tuples(DURATIONS, st.integers(1, 3)), min_size=1, max_size=4),
    st.integers(1, 4),
    st.integers(1, 3),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_times_of_layers_in_parts_are_recovered(parts, runs, layers, is_given, shuffler):
    """A part that runs several times in each run of a layer counts as often."""
    events, now = [], 0.0
    for _ in range(runs):
        for layer in range(layers):
            for i, (duration, times) in enumerate(parts):
                for _ in range(times):
                    events.append(event(f"net/layers/{layer}/op{i}", now, duration * (layer + 1)))
                    now += duration * (layer + 1) + 1
    shuffler.shuffle(events)
    once = sum(duration for duration, times in parts if times == 1)
    most_run_once = once > sum(duration * times for duration, times in parts if times > 1)
    if not (is_given or most_run_once):
        return
    found = forward(read(events), "*layers/#/*", Match.PART, Reading(runs if is_given else None))
    whole = sum(duration * times for duration, times in parts)
    assert found.medians == pytest.approx([whole * (layer + 1) for layer in range(layers)])
    assert found.runs == (runs,) * layers


def test_one_slow_run_in_six_moves_no_median():
    kinds = [
        KindPatterns("H", LayerKind.HEAD, "Default/*embedding*", "Gradients/*embedding*", Match.PART),
        body("Default/*layers/#-*", Match.PART, "Gradients/*layers/#-*"),
        KindPatterns("T", LayerKind.TAIL, "Default/*loss*", "Gradients/*loss*", Match.PART),
    ]
    for slow_run in (None, 0, 3):
        found = measure(read(mindspore(slow_run=slow_run)), kinds)
        times = [(kind.forward.time, kind.backward.time) for kind in found.kinds]
        assert times == [(50, 100), (pytest.approx(301.5), pytest.approx(603)), (30, 60)]
        assert found.problems == ()
        assert any("first runs take 1000 %" in warning for warning in found.warnings) == (slow_run == 0)
    warm = measure(read(mindspore(slow_run=0, runs=3)), kinds, Reading(skipped=1))
    assert warm.kinds[1].forward.high == pytest.approx(301.5)
    assert [named.name.text.split("/")[0] for named in warm.left()] == ["recompute_Default"] * 14


@pytest.mark.parametrize(
    ("name", "pattern"), [("pytorch_labels", "layer # forward"), ("pytorch_modules", "nn.Module: Layer_#")]
)
def test_recorded_traces_give_the_medians_of_their_events(name, pattern):
    events = json.loads((GOLDEN / f"{name}.json").read_text())["traceEvents"]
    layers = [
        median(e["dur"] for e in events if e["ph"] == "X" and e["name"] == pattern.replace("#", str(layer)))
        for layer in range(4)
    ]
    found = forward(golden(name), pattern)
    assert found.medians == pytest.approx(layers)
    assert found.time == pytest.approx(median(layers))
    assert found.runs == (12.0,) * 4, "3 steps of 4 micro-batches"


def test_events_during_others_are_told_apart_by_the_scope_they_run_in():
    trace = read(lanes())
    kind = body("#-DecoderLayer", Match.PART, "Gradients > #-DecoderLayer | recompute_* > #-DecoderLayer")
    found = measured(trace, kind, Reading(runs=4))
    assert (found.kinds[0].forward.medians, found.kinds[0].backward.medians) == ((100.0,) * 3, (300.0,) * 3)
    assert not found.problems
    assert "earlier pattern" not in "\n".join(found.warnings)
    plain = measured(trace, body("Default > #-*", Match.PART), Reading(runs=4)).kinds[0].forward
    assert plain.medians == (400.0,) * 3, "the lane below is called Default in the backward, too"
    unknown = measured(trace, kind)
    assert "type the runs of a layer" in "\n".join(unknown.problems)
    other = measured(read([*lanes(), event("Gradients", 0, 1e9, pid=2)]), kind, Reading(runs=4))
    assert other.kinds[0].backward.medians == (300.0,) * 3, "another process has a time of its own"


def test_parts_of_one_name_may_differ_and_uneven_ones_add_their_mean():
    durations = [10, 1, 2] * 5
    trace = read([event("l/0/a", 100 * i, duration) for i, duration in enumerate(durations)])
    assert forward(trace, "l/#/*", Match.PART, Reading(5)).medians == (13.0,)
    assert forward(trace, "l/#/*", Match.PART, Reading(5)).first_share == 1
    uneven = measured(trace, body("l/#/*", Match.PART), Reading(6))
    assert uneven.kinds[0].forward.medians == (65 / 6,)
    assert "do not occur equally often in each run" in "\n".join(uneven.warnings)


def test_matches_inside_matches_count_once_on_each_track():
    events = [
        event("layer 0", 0, 100),
        event("layer 0.attention", 0, 60),
        event("layer 0.attention.qkv", 10, 20),
        event("layer 0.mlp", 60.0001, 40.0002),  # rounded: ends just after the layer does
        event("layer 1", 100.0001, 100),
        event("layer 0", 20, 50, tid=2),
    ]
    found = forward(read(events), "layer #*")
    assert found.medians == (75.0, 100.0)
    assert found.num_nested == 3


def test_labels_on_host_and_device_count_once_with_the_time_of_the_device():
    host = [event("layer 0", 0, 5, cat="user_annotation"), event("layer 1", 5, 5, cat="user_annotation")]
    device = [
        event("layer 0", 20, 80, cat="gpu_user_annotation", pid=0, tid=7),
        event("layer 1", 100, 90, cat="gpu_user_annotation", pid=0, tid=7),
    ]
    assert forward(read(host + device), "layer #").medians == (80.0, 90.0)
    mixed = measured(read(host + device[:1]), body("layer #"))
    assert mixed.kinds[0].forward.medians == (5.0, 5.0)
    assert any("these are times of the host" in warning for warning in mixed.warnings)


def test_only_events_of_the_chosen_tracks_count():
    trace = read([event("layer 0", 0, 10), event("layer 0", 0, 30, tid=2)])
    assert forward(trace, "layer #").time == 20
    assert forward(trace, "layer #", Match.LAYER, Reading(tracks=(1,))).time == 30


def test_warm_up_is_left_out_though_never_everything():
    trace = read([event("layer 0", 0, 90), event("layer 0", 100, 10), event("layer 1", 200, 20)])
    assert forward(trace, "layer #", Match.LAYER, Reading(skipped=1)).medians == (10.0, 20.0)
    assert forward(trace, "layer #", Match.LAYER, Reading(skipped=9)).medians == (10.0, 20.0)


def test_what_is_not_inside_matches_is_missed():
    events = [event("layer 0", 0, 100), event("kernel", 10, 20), event("kernel", 200, 30), event("model", 0, 300)]
    found = measured(read(events), body("layer #")).left()
    assert [(named.name.text, named.count, named.total) for named in found] == [("model", 1, 300), ("kernel", 1, 30)]


@pytest.mark.parametrize(
    ("events", "kind", "said"),
    [
        ([("layer 0", d) for d in (1, 5, 1, 5, 9, 1)], body("layer #"), "spreads over 133 % of the median"),
        ([("layer 0", 5)] * 3, body("layer #"), "that the median rests on: 3"),
        ([("layer 0", 50), *[("layer 0", 5)] * 9], body("layer #"), "first runs take 1000 % of the median"),
        ([(f"layer {i}", 9 if i == 2 else 3) for i in range(4)] * 5, body("layer #"), "layer 2 takes 300 % of the median"),
        ([("layer 0 a", 5), ("layer 0 b", 5)] * 5, body("layer # *"), "events of 2 names count each as a whole layer"),
        ([("l/0/a", 5)] * 4 + [("l/0/b", 1)], body("l/#/*", Match.PART), "do not occur equally often in each run"),
        ([("block", 5)] * 5, body("block"), "does not number the layers, so they count as 1"),
        ([("layer 0", 5)] * 5, body("layer #"), "the layers of the trace, 1, count as all of the model"),
    ],
)  # fmt: skip
def test_what_makes_a_time_doubtful_is_said(events, kind, said):
    trace = read([event(name, 100 * i, duration) for i, (name, duration) in enumerate(events)])
    assert said in "\n".join(measured(trace, kind).warnings)


def test_parts_on_several_streams_and_names_of_two_patterns_are_said():
    trace = read([event("l/0/a", 0, 5), event("l/0/b", 0, 5, tid=2)])
    assert "are on 2 threads or streams" in "\n".join(measured(trace, body("l/#/*", Match.PART)).warnings)
    both = measured(trace, body("l/#/*", Match.PART, "l/#/b"))
    assert "Layer, backward: matches a name that an earlier pattern has" in "\n".join(both.warnings)
    assert "Layer, backward: no event matches" in both.problems[0]


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ([], "at least one layer kind must be a BODY"),
        ([body("")], "Layer: a BODY kind must have a forward pattern"),
        ([body("layer #"), body("block #")], 'must have different names, found twice: "Layer"'),
        ([body("lay #")], 'Layer, forward: no event matches "lay #"; correct the pattern or empty it.'),
        ([body("#.#")], "Layer, forward: the pattern must have at most one #"),
        ([body("layer *", Match.PART)], "must have # for the layer's number where a match is a part"),
        ([KindPatterns("L", LayerKind.BODY, "layer #", num_layers=0)], "from 1 to 10,000, found 0"),
        ([KindPatterns(" ", LayerKind.BODY, "layer #")], "every layer kind must have a name"),
    ],
)
def test_what_is_no_measurement_is_said(kinds, said):
    assert said in "\n".join(measure(read([event("layer 0", 0, 1)]), kinds).problems)


def test_many_events_on_many_tracks_take_no_time_of_their_own():
    shuffler = random.Random(0)
    events = [event(f"layer {i % 7}", shuffler.random() * 1e9, 1, tid=i % 50) for i in range(5000)]
    trace = read(events)
    assert np.isclose(forward(trace, "layer #").time, 1)
