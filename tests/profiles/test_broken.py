"""Every broken file is answered with sentences that name the field; nothing else ever happens."""

import pytest
import yaml

from sapp_core.documents import parse
from sapp_core.errors import ProfileError
from sapp_core.profiles.load import load_profile
from tests.profiles.broken import BROKEN, Broken
from tests.profiles.documents import legal, to_json, to_yaml


def test_there_are_enough_of_them_and_names_are_unique():
    assert len({broken.name for broken in BROKEN}) == len(BROKEN) >= 120


@pytest.mark.parametrize("write", [to_json, to_yaml])
def test_the_file_they_are_made_from_loads_without_warning(write):
    assert load_profile(write(legal()), "tiny.json").warnings == ()


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_a_broken_file_is_refused_with_a_sentence_that_names_the_field(broken: Broken):
    with pytest.raises(ProfileError) as caught:
        load_profile(broken.data, broken.name)
    problems = caught.value.problems
    assert any(broken.expected in problem for problem in problems), problems[:5]
    assert len(set(problems)) == len(problems) or broken.name == "key_ten_thousand_times.json"
    for problem in problems:
        path, _, sentence = problem.partition(": ")
        assert path, problem
        assert sentence.endswith("."), problem
        assert problem.isprintable(), problem
        assert len(problem) < 500, problem


def test_one_wrong_field_gives_one_sentence():
    single = [
        broken for broken in BROKEN if broken.name.startswith(("layer_time_", "layer_memory_activation_", "raw_"))
    ]
    assert len(single) > 20
    for broken in single:
        with pytest.raises(ProfileError) as caught:
            load_profile(broken.data, broken.name)
        assert len(caught.value.problems) == 1, (broken.name, caught.value.problems)


def test_without_libyaml_the_same_files_are_refused_in_the_same_places(monkeypatch):
    monkeypatch.setattr(parse, "_EVENTS", yaml.SafeLoader)
    for broken in BROKEN:
        with pytest.raises(ProfileError) as caught:
            load_profile(broken.data, broken.name)
        assert any(broken.expected in problem for problem in caught.value.problems), broken.name
