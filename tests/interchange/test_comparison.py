"""Comparison files: what is saved comes back equal, and what is wrong with one is said with its place."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import even_split
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.scenario import Scenario
from sapp_core.errors import FormatError
from sapp_core.interchange.comparison import (
    LONGEST_NAME,
    NamedScenario,
    ReadComparison,
    comparison_from_json,
    comparison_to_json,
)
from sapp_core.interchange.scenario import SavedScenario, scenario_from_json, scenario_to_json
from tests.charts.scenes import profile
from tests.interchange.test_scenario import saved

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=LONGEST_NAME)
PIPELINE = Pipeline(4, 8)
ONE = SavedScenario(Scenario(profile(), "1f1b", PIPELINE, BalanceRequest(None)), even_split(profile(), PIPELINE))
TWO = (NamedScenario("one", ONE), NamedScenario("other", ONE, is_shown=False))


def refused(text: str) -> str:
    with pytest.raises(FormatError) as error:
        comparison_from_json(text.encode(), "file.json")
    return str(error.value)


@settings(max_examples=30)
@given(st.lists(st.builds(NamedScenario, NAMES, saved(), st.booleans()), max_size=2).map(tuple))
def test_what_is_saved_comes_back_equal(scenarios):
    assert comparison_from_json(comparison_to_json(scenarios).encode(), "x").scenarios == scenarios


def test_a_scenario_file_is_a_comparison_of_one():
    text = scenario_to_json(ONE.scenario, ONE.plan)
    assert comparison_from_json(text.encode(), "x") == ReadComparison((NamedScenario("", ONE),))


def test_whoever_wants_one_scenario_is_sent_to_the_compare_page():
    with pytest.raises(FormatError, match="holds several scenarios to compare; open it on the Compare page"):
        scenario_from_json(comparison_to_json(TWO).encode(), "x.json")


def test_problems_of_all_scenarios_are_said_with_their_places():
    document = json.loads(comparison_to_json(TWO))
    document["scenarios"][0]["profile"]["name"] = 5
    document["scenarios"][1]["plan"]["model-body0"]["none"] = [[1, 1, 1, 1]]
    del document["scenarios"][1]["name"]
    said = refused(json.dumps(document))
    for words in ("scenarios[0].profile.name: must be text", "scenarios[1].plan", "scenarios[1].name: is missing"):
        assert words in said


def test_newer_versions_and_unknown_keys():
    document = json.loads(comparison_to_json(TWO))
    assert "comparison_version: is 2, from a newer release" in refused(json.dumps(document | {"comparison_version": 2}))
    document["scenarios"][0]["colour"] = "red"
    read = comparison_from_json(json.dumps(document).encode(), "x")
    assert read.scenarios == TWO
    assert read.warnings == ("scenarios[0].colour: is not known and was ignored.",)
    document["scenarios"][0]["scenario_version"] = 9
    assert "scenarios[0].scenario_version: is 9, from a newer release" in refused(json.dumps(document))


def test_too_many_scenarios_are_a_mistake():
    document = json.loads(comparison_to_json(TWO))
    document["scenarios"] = [{}] * 101
    assert "may hold up to 100 scenarios, found 101" in refused(json.dumps(document))
