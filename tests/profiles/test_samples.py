"""The profiles that come with the project."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from sapp_core.domain.profile import MODES, TrainingShape
from sapp_core.profiles.load import load_profile
from sapp_core.profiles.schema import LAYER_KEYS, PROFILE_KEYS, TRAINING_KEYS

_ROOT = Path(__file__).parents[2]
_SAMPLES = sorted((_ROOT / "sample_profiles").iterdir())
_GOLDEN = sorted((_ROOT / "tests" / "golden" / "profiles").iterdir())
_CASES = json.loads((_ROOT / "tests" / "golden" / "balance_cases.json").read_text())["cases"]


def _sample(name: str) -> Path:
    return _ROOT / "sample_profiles" / f"{name}.yaml"


def test_the_samples_are_the_six_known_shapes_and_the_template():
    assert [path.stem for path in _SAMPLES] == sorted([*(path.stem for path in _GOLDEN), "template"])


@pytest.mark.parametrize("path", _SAMPLES, ids=lambda path: path.stem)
def test_a_sample_loads_without_a_warning_under_its_own_name(path):
    loaded = load_profile(path.read_bytes(), path.name)
    assert loaded.warnings == ()
    if path.stem != "template":
        assert loaded.profile.name == path.stem


@pytest.mark.parametrize("path", _GOLDEN, ids=lambda path: path.stem)
def test_the_numbers_of_a_sample_are_exactly_those_of_its_origin(path):
    origin = load_profile(path.read_bytes(), path.name).profile
    sample = load_profile(_sample(path.stem).read_bytes(), path.stem).profile
    assert replace(sample, name=origin.name, memory_limit_mb=None) == origin


@pytest.mark.parametrize("path", _GOLDEN, ids=lambda path: path.stem)
def test_a_sample_says_where_its_numbers_come_from(path):
    comment = re.match(r"(#.*\n)+", _sample(path.stem).read_text())
    assert comment is not None
    assert "# Source: " in comment.group()


@pytest.mark.parametrize("path", _GOLDEN, ids=lambda path: path.stem)
def test_the_memory_limit_is_the_one_of_the_balancing_cases(path):
    limits = {case["memory_limit_mb"] for case in _CASES if case["profile"] == path.stem}
    limit = load_profile(_sample(path.stem).read_bytes(), path.stem).profile.memory_limit_mb
    assert {limit} == (limits or {None})


def test_the_template_explains_every_key_and_shows_the_defaults():
    text = _sample("template").read_text()
    for key in (*PROFILE_KEYS, *TRAINING_KEYS, *LAYER_KEYS):
        assert re.search(rf"^[ #-]*{key}:", text, re.MULTILINE), key
    profile = load_profile(text.encode(), "template.yaml").profile
    assert profile.modes == MODES
    assert profile.training is not None
    assert profile.training != TrainingShape()
    without = re.sub(r"^ *\w+_coef:.*\n", "", text, flags=re.MULTILINE)
    assert "_coef" not in without
    assert load_profile(without.encode(), "template.yaml").profile == profile


def test_the_template_holds_when_its_optional_lines_are_switched_on():
    """What the comments offer as an example is legal, too."""
    text = re.sub(r"^( *)# (\w+: \d+)", r"\1\2", _sample("template").read_text(), flags=re.MULTILINE)
    loaded = load_profile(text.encode(), "template.yaml")
    assert loaded.warnings == ()
    head, body, _ = loaded.profile.layers
    assert head.activation_mb[0] == 40
    assert body.forward_time == 98
    assert body.backward_time == (200, 208, 225, 233, 300)
