"""Measured traces as profiles, and first patterns for them."""

import pytest

from sapp_core.domain.profile import MODES, LayerKind, RecomputeMode
from sapp_core.errors import ProfileError
from sapp_core.profiles.load import load_profile
from sapp_core.profiles.save import profile_text
from sapp_core.profiles.trace_kinds import KindPatterns
from sapp_core.profiles.trace_measure import measure
from sapp_core.profiles.trace_profile import trace_profile
from sapp_core.profiles.trace_proposal import propose
from sapp_core.profiles.trace_times import Match, Reading
from tests.profiles.traces import event, golden, lanes, mindspore, read

MEMORY = load_profile(
    b"""
name: other
stage_const_mem: 7
memory_limit: 900
layers_description:
  - {name: E, type: HEAD, nb_layer: 1, time: 13, memory_parameter: 9}
  - {name: A, type: BODY, nb_layer: 3, time: 10, memory_parameter: 4, memory_activation: 5, memory_recompute: 1,
     recompute_time: 24}
  - {name: B, type: BODY, nb_layer: 3, time: 10, memory_parameter: 6, memory_activation: 8, memory_recompute: 2}
""",
    "other.yaml",
).profile


def layers(name: str, num_layers: int = 5, **other) -> KindPatterns:
    return KindPatterns(name, LayerKind.BODY, f"{name} #", f"{name} # bwd", num_layers=num_layers, **other)


def two_kinds():
    events = [event(f"{name} {i}", 1000 * i, time) for i in range(5) for name, time in (("A", 100), ("X", 200))]
    events += [event(f"{name} {i} bwd", 1000 * i + 500, time) for i in range(5) for name, time in (("A", 300),)]
    return read(events)


def test_times_are_ms_and_without_memory_that_is_said():
    made = trace_profile(measure(two_kinds(), [layers("A")]), "mine", None)
    (layer,) = made.profile.layers
    assert (made.profile.name, made.profile.time_unit, layer.num_layers) == ("mine", "ms", 5)
    assert layer.forward_time == pytest.approx(0.1)
    assert dict(zip(MODES, layer.backward_time, strict=True))["none"] == pytest.approx(0.3)
    assert made.profile.modes == (RecomputeMode.NONE,)
    assert "gives no memory" in "\n".join(made.warnings)
    assert "A: what recomputation adds to its backward was not measured" in "\n".join(made.warnings)


def test_memory_and_extra_times_come_from_another_profile_by_name_or_place():
    kinds = [KindPatterns("E", LayerKind.HEAD, ""), KindPatterns("X", LayerKind.BODY, "X #"), layers("A")]
    made = trace_profile(measure(two_kinds(), kinds), "mine", MEMORY)
    head, first, second = made.profile.layers
    assert (made.profile.constant_mb, made.profile.memory_limit_mb) == (7, 900)
    assert (head.parameter_mb, head.forward_time) == (9, 0)
    assert first.activation_mb == second.activation_mb == MEMORY.layers[1].activation_mb, "by place, and by name"
    assert first.backward_time[0] == pytest.approx(0.4), "twice the forward, as it was not measured"
    assert second.backward_time[-1] == pytest.approx(0.3 + 0.1 * 4 / 10), "recomputing took 4 of 10 there"
    said = "\n".join(made.warnings)
    assert "E: its forward was not measured and counts 0" in said
    assert "X: its backward was not measured; it is taken as twice the forward." in said
    assert "it follows A of other" in said
    assert load_profile(profile_text(made.profile).encode(), "again.yaml").profile == made.profile


def test_a_run_that_recomputed_has_that_taken_out():
    measured = measure(two_kinds(), [layers("A")])
    plain = trace_profile(measured, "mine", MEMORY, RecomputeMode.NONE).profile.layers[0]
    full = trace_profile(measured, "mine", MEMORY, RecomputeMode.FULL).profile.layers[0]
    assert full.backward_time[-1] == pytest.approx(plain.backward_time[0]) == pytest.approx(0.3)
    assert full.backward_time[0] == pytest.approx(0.26)


def test_a_kind_that_the_other_profile_lacks_has_no_memory_and_that_is_said():
    measured = measure(two_kinds(), [layers("A"), KindPatterns("X", LayerKind.BODY, "X #")])
    made = trace_profile(
        measured, "mine", load_profile(profile_text(MEMORY).replace("BODY", "HEAD", 1).encode(), "o").profile
    )
    assert "X: other has no such kind, so its memory is 0." in made.warnings


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ([layers("nothing")], "nothing, forward: no event matches"),
        (
            [layers("A", 10_000), KindPatterns("X", LayerKind.BODY, "X #")],
            "must be at most 10,000 in all, found 10,005",
        ),
        ([KindPatterns("a\nb", LayerKind.BODY, "A #")], "printable"),
    ],
)
def test_what_makes_no_profile_is_refused(kinds, said):
    with pytest.raises(ProfileError, match=said):
        trace_profile(measure(two_kinds(), kinds), "mine", None)


def test_times_of_0_make_no_profile():
    with pytest.raises(ProfileError, match="must take time"):
        trace_profile(measure(read([event("A 0", 0, 0)]), [KindPatterns("A", LayerKind.BODY, "A #")]), "mine", None)


def proposed(trace):
    return {kind.name: (str(kind.kind), kind.forward, kind.backward, kind.match) for kind in propose(trace)}


def test_proposals_for_recorded_and_shaped_traces():
    assert proposed(golden("pytorch_labels")) == {
        "Head": ("HEAD", "embedding forward", "embedding backward", Match.LAYER),
        "layer": ("BODY", "layer # forward", "layer # backward", Match.LAYER),
        "Tail": ("TAIL", "lm_head forward | aten::cross_entropy_loss", "lm_head backward", Match.PART),
    }
    assert proposed(golden("pytorch_modules")) == {
        "Head": ("HEAD", "nn.Module: Embedding_0", "", Match.LAYER),
        "Layer": ("BODY", "nn.Module: Layer_#", "", Match.LAYER),
    }
    assert proposed(read(mindspore())) == {
        "Head": ("HEAD", "Default/*embedding-Embedding/*", "Gradients/*embedding-Embedding/*", Match.PART),
        "DecoderLayer": ("BODY", "Default/*layers/#-DecoderLayer/*", "Gradients/*layers/#-DecoderLayer/*", Match.PART),
        "Tail": ("TAIL", "Default/*loss-CrossEntropy/*", "Gradients/*loss-CrossEntropy/*", Match.PART),
    }


def test_kinds_beside_each_other_are_proposed_in_their_order_and_parts_of_layers_are_not():
    events, now = [], 0
    for _ in range(2):
        for name in ("DenseLayer_0", "DenseLayer_1", "MoeLayer_0", "MoeLayer_1", "MoeLayer_2"):
            events += [
                event(name, now, 100),
                event(f"LayerNorm_{name[-1]}", now + 1, 30),
                event("ProfilerStep#3", now, 1),
            ]
            now += 101
    assert list(proposed(read(events))) == ["DenseLayer", "MoeLayer"]


def test_where_labels_have_times_of_the_device_only_those_are_proposed():
    device = {"cat": "gpu_user_annotation", "pid": 0}
    events = [event(f"layer {i}", 100 * i, 9, cat="user_annotation") for i in range(2)]
    events += [event(f"layer {i}", 100 * i, 50, **device) for i in range(2)]
    events += [event("aten::embedding", 300, 5, cat="cpu_op"), event("aten::cross_entropy_loss", 400, 5, cat="cpu_op")]
    assert proposed(read(events)) == {"layer": ("BODY", "layer #", "", Match.LAYER)}


def test_a_trace_without_layers_has_a_row_to_fill_in():
    assert proposed(read([event("aten::mm", 0, 1)])) == {"Body": ("BODY", "", "", Match.LAYER)}


def test_lanes_of_scopes_are_proposed_where_nothing_better_is_there():
    (kind,) = propose(read(lanes()))
    assert (kind.name, kind.forward, kind.match) == ("DecoderLayer", "#-DecoderLayer", Match.PART)
    assert kind.backward == "Gradients > #-DecoderLayer | recompute_* > #-DecoderLayer"
    measured = measure(read(lanes()), [kind], Reading(runs=4))
    assert "say what the run recomputed" in "\n".join(trace_profile(measured, "mine", None).warnings)
    full = trace_profile(measured, "mine", MEMORY, RecomputeMode.FULL)
    assert "say what the run recomputed" not in "\n".join(full.warnings)
    assert full.profile.layers[0].backward_time[-1] == pytest.approx(0.3)
    assert "Default/*" in propose(read([*lanes(), *mindspore()]))[1].forward


def test_long_names_take_no_long_time():
    events = [event("layer" * 20_000, 0, 1), event("a" * 100_000 + "layer 1", 0, 1), event("layer" * 199 + " 1", 0, 1)]
    assert proposed(read(events)) == {"Body": ("BODY", "", "", Match.LAYER)}


def test_a_proposal_matches_what_it_was_made_from():
    for trace in (golden("pytorch_labels"), golden("pytorch_modules"), read(mindspore())):
        measured = measure(trace, propose(trace))
        assert not measured.problems
        assert trace_profile(measured, "mine", None).profile.num_body_layers == 4
