"""Whole profile documents: what is read, warned about, refused."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.profile import LayerKind, RecomputeMode, TrainingShape
from sapp_core.errors import ProfileError
from sapp_core.profiles.load import load_profile
from tests.profiles.documents import (
    MODES,
    TRAINING,
    legal,
    legal_documents,
    load,
    problems_of,
    to_json,
    to_yaml,
    with_body,
)


def test_the_whole_profile():
    profile = load(legal()).profile
    assert profile.name == "tiny"
    assert profile.constant_mb == 100
    assert profile.time_unit == "us"
    assert profile.memory_limit_mb == 9000
    assert profile.training == TrainingShape(batch_size=1, num_heads=8)
    assert [(layer.name, layer.kind, layer.num_layers) for layer in profile.layers] == [
        ("Embed", LayerKind.HEAD, 1),
        ("Block", LayerKind.BODY, 24),
        ("Loss", LayerKind.TAIL, 1),
    ]
    head, body, tail = profile.layers
    assert body.forward_time == 100
    assert body.backward_time == pytest.approx((200, 208, 225, 233, 300), rel=1e-12)
    assert body.activation_mb == (99, 73, None, None, 3)
    assert (head.parameter_mb, body.parameter_mb, tail.parameter_mb) == (900, 170, 500)
    assert head.backward_time == (26,) * 5
    assert head.activation_mb == (0, None, None, None, None)


def test_everything_optional_may_be_left_out():
    loaded = load_profile(b"layers_description: [{name: B, type: BODY, nb_layer: 3, time: 7}]", "dir/my.model.yaml")
    profile = loaded.profile
    assert profile.name == "my.model"
    assert (profile.constant_mb, profile.time_unit, profile.memory_limit_mb, profile.training) == (0, "ms", None, None)
    assert profile.modes == (RecomputeMode.NONE,)
    assert not profile.has_memory
    assert loaded.warnings == (
        "name: is not given; the profile is called my.model after its file.",
        "layers_description: gives no memory, so only time can be balanced and the memory charts stay empty.",
    )


@pytest.mark.parametrize(
    ("source", "name"),
    [("a/b.json", "b"), ("b", "b"), ("", "profile"), ("x\n\u202ey.yaml", "xy"), ("n" * 300, "n" * 200)],
)
def test_a_profile_without_a_name_is_called_after_its_file(source, name):
    document = legal()
    del document["name"]
    assert load_profile(to_json(document), source).profile.name == name


@given(legal_documents())
def test_resolved_numbers_follow_the_formulas_in_json_and_yaml_alike(document):
    loaded = load_profile(to_json(document), "x.json")
    assert load_profile(to_yaml(document), "x.json") == loaded
    profile = loaded.profile
    assert profile.name == document.get("name", "x")
    assert profile.constant_mb == document.get("stage_const_mem", 0)
    assert profile.time_unit == document.get("time_unit", "ms")
    assert profile.memory_limit_mb == document.get("memory_limit")
    if "training" in document:
        assert {key: getattr(profile.training, key) for key in TRAINING} == dict.fromkeys(TRAINING) | document[
            "training"
        ]
    else:
        assert profile.training is None
    for layer, entry in zip(profile.layers, document["layers_description"], strict=True):
        assert (layer.name, layer.kind, layer.num_layers) == (entry["name"], entry["type"], entry["nb_layer"])
        forward = entry.get("forward_time", entry["time"])
        assert layer.forward_time == forward
        assert layer.parameter_mb == entry.get("memory_parameter", 0)
        for r, (memory, time, coefficient, default) in enumerate(MODES.values()):
            backward = entry.get(time) or (1 + entry.get(coefficient, default)) * 2 * forward
            if layer.kind == "BODY":
                assert layer.backward_time[r] == pytest.approx(backward, rel=1e-12)
                assert layer.activation_mb[r] == entry.get(memory)
            elif r == 0:
                assert layer.backward_time == pytest.approx((backward,) * 5, rel=1e-12)
                assert layer.activation_mb == (entry.get(memory, 0), None, None, None, None)


@given(legal_documents())
def test_loaded_numbers_are_finite_floats_that_are_not_negative(document):
    for layer in load(document).profile.layers:
        for value in (layer.forward_time, layer.parameter_mb, *layer.backward_time, *layer.activation_mb):
            assert value is None or (type(value) is float and math.copysign(1, value) > 0 and math.isfinite(value))


def test_unknown_keys_are_named_with_the_nearest_known_key():
    document = with_body(memory_activaton=5)
    document["time_units"] = "s"
    document["training"]["heads"] = 3
    document["completely different"] = {"x": [1]}
    assert load(document).warnings == (
        "training.heads: is not known and was ignored. `heads` → `num_heads`?",
        "layers_description[1].memory_activaton: is not known and was ignored. `memory_activaton` → `memory_activation`?",
        "time_units: is not known and was ignored. `time_units` → `time_unit`?",
        '["completely different"]: is not known and was ignored.',
    )


def test_a_flood_of_unknown_keys_is_summed_up():
    document = legal() | {f"k{i}": 1 for i in range(5000)} | {"x" * 5000: 1}
    warnings = load(document).warnings
    assert len(warnings) == 21
    assert warnings[-1] == "dir/file.json: has 4,981 more keys that are not known and were ignored."


def test_sapp_keys_without_a_use_here_are_ignored_without_complaint():
    document = with_body(model_name="m") | {"pre_defined_layer": {"A": 0}, "auto_partition_layer": {"B": 24}}
    assert load(document) == load(legal())


def test_all_problems_are_reported_together_in_one_go():
    document = legal()
    document["memory_limit"] = -1
    document["training"]["batch_size"] = "x"
    head, body, tail = document["layers_description"]
    head["time"] = float("nan")
    del body["nb_layer"]
    body["type"] = "Body"
    tail["name"] = "Embed"
    tail["memory_parameter"] = 1e15
    assert [problem.partition(":")[0] for problem in problems_of(document)] == [
        "layers_description[0].time",
        "memory_limit",
        "training.batch_size",
        "layers_description[1].type",
        "layers_description[1].nb_layer",
        "layers_description[2].memory_parameter",
        "layers_description[2].name",
    ]


def test_a_memory_limit_of_0_is_refused_because_nothing_fits_it():
    assert problems_of(legal() | {"memory_limit": 0}) == (
        "memory_limit: must be a number above 0 and up to 1,000,000,000,000, found 0.",
    )


def test_a_settings_file_is_recognised():
    assert problems_of({"pipeline_config": {"pipeline_num": 4}}) == (
        "layers_description: is missing; must be a list.",
        "pipeline_config: belongs to a pipeline settings file; a profile describes layers.",
    )


_JUNK = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.lists(st.integers(), max_size=2)
    | st.dictionaries(st.text(max_size=5), st.integers(), max_size=2)
)


@st.composite
def _mutated(draw: st.DrawFn) -> object:
    """A legal document with a few places deleted, replaced, renamed or doubled."""
    document: object = draw(legal_documents())
    for _ in range(draw(st.integers(1, 3))):
        container: object = document
        while True:
            keys = list(range(len(container))) if isinstance(container, list) else list(container)
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            inner = container[key]
            if isinstance(inner, dict | list) and inner and draw(st.booleans()):
                container = inner
                continue
            action = draw(st.sampled_from(["delete", "replace", "rename", "double"]))
            if action == "delete":
                del container[key]
            elif action == "replace":
                container[key] = draw(_JUNK)
            elif isinstance(container, list):
                container.append(inner)
            else:
                container[draw(st.text(max_size=3)) if action == "rename" else f"{key} "] = container.pop(key)
            break
    return document


@given(_mutated(), st.sampled_from([to_json, to_yaml]))
def test_a_mutated_profile_loads_or_is_refused_and_nothing_else(document, write):
    _loads_or_is_refused(write(document))


@given(legal_documents(), st.sampled_from([to_json, to_yaml]), st.data())
def test_a_damaged_file_loads_or_is_refused_and_nothing_else(document, write, data):
    text = write(document)
    start = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, 20))
    put = data.draw(
        st.binary(max_size=4) | st.sampled_from([b"[", b"}", b'"', b"&a ", b"*a", b"!!x ", b"\n", b"NaN", b"-", b": "])
    )
    _loads_or_is_refused(text[:start] + put + text[start + length :])


def _loads_or_is_refused(data: bytes) -> None:
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    try:
        loaded = load_profile(data, "x.json")
    except ProfileError as error:
        problems = error.problems
    else:
        warnings = loaded.warnings
        assert loaded.profile.modes
        assert all(layer.forward_time >= 0 and layer.num_layers >= 1 for layer in loaded.profile.layers)
    assert all(sentence.isprintable() and sentence.partition(": ")[2] for sentence in (*problems, *warnings))
