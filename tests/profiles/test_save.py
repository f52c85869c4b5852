"""Profiles written to files come back."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sapp_core.domain.profile import LayerKind, ModelProfile
from sapp_core.errors import ProfileError
from sapp_core.profiles.load import load_profile
from sapp_core.profiles.save import profile_rows, profile_text, with_rows
from tests.profiles.documents import legal, load
from tests.strategies import profiles

SAMPLES = sorted((Path(__file__).parents[2] / "sample_profiles").glob("*.yaml"))


def what_counts(profile: ModelProfile) -> ModelProfile:
    """Without the backward times of modes that are not offered, and nothing kept as 0 at the ends."""
    layers = []
    for layer in profile.layers:
        if layer.kind is LayerKind.BODY:
            times = zip(layer.backward_time, layer.activation_mb, strict=True)
            layers.append(replace(layer, backward_time=tuple(0 if kept is None else time for time, kept in times)))
        else:
            layers.append(replace(layer, activation_mb=(layer.activation_mb[0] or 0.0, *layer.activation_mb[1:])))
    return replace(profile, layers=tuple(layers))


@given(profile=profiles(), as_json=st.booleans())
@settings(max_examples=40)
def test_a_profile_comes_back_as_it_left(profile, as_json):
    loaded = load_profile(profile_text(profile, as_json=as_json).encode(), "file")
    assert what_counts(loaded.profile) == what_counts(profile)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples_come_back_without_a_new_warning(path):
    before = load_profile(path.read_bytes(), path.name)
    after = load_profile(profile_text(before.profile).encode(), "file")
    assert after.warnings == ()
    assert what_counts(after.profile) == what_counts(before.profile)


@pytest.mark.parametrize("name", ["yes", "010", "a: b", "# x", "Größe 层", '"'])
def test_odd_names_come_back(name):
    document = legal() | {"name": name}
    profile = load(document).profile
    assert load_profile(profile_text(profile).encode(), "file").profile.name == name


def test_numbers_changed_by_hand_are_checked_like_a_file():
    profile = load(legal()).profile
    rows = [dict(row) for row in profile_rows(profile)]
    rows[1]["time"] = 200.0
    rows[1]["backward_time"] = None
    rows[1]["memory_recompute"] = None
    changed = with_rows(profile, rows).profile
    assert changed.body[0].forward_time == 200
    assert changed.body[0].backward_time[0] == 400, "follows where it was deleted"
    assert changed.modes == profile.modes[:-1]
    assert (changed.training, changed.constant_mb, changed.time_unit) == (profile.training, 100, "us")

    rows[0]["time"], rows[1]["nb_layer"] = -1.0, 0
    with pytest.raises(ProfileError) as caught:
        with_rows(profile, rows)
    assert [problem.split(": ")[0] for problem in caught.value.problems] == [
        "layers_description[0].time", "layers_description[1].nb_layer",
    ]  # fmt: skip


def test_json_is_json():
    assert json.loads(profile_text(load(legal()).profile, as_json=True))["name"] == "tiny"
