"""Scenario files: what is saved comes back equal, and what is wrong with a file is said."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import even_split
from sapp_core.domain.profile import MODES
from sapp_core.domain.request import BalanceRequest, Pin
from sapp_core.domain.result import BalanceResult, Infeasibility, MemoryModel, Objective, Progress, Status
from sapp_core.domain.scenario import Scenario
from sapp_core.errors import FormatError
from sapp_core.interchange.scenario import (
    VERSION,
    SavedScenario,
    is_scenario_file,
    scenario_from_json,
    scenario_in_html,
    scenario_to_json,
)
from tests.charts.scenes import profile
from tests.strategies import studies

AMOUNTS = st.floats(0, 1e12)
SOME = st.none() | AMOUNTS
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn", "Co")), max_size=40)


@st.composite
def saved(draw) -> SavedScenario:
    """Any scenario with a plan and an answer, a plan alone, or neither."""
    model, schedule, plan = draw(studies())
    limits = st.floats(1, 1e9)
    request = BalanceRequest(
        memory_limit_mb=draw(st.none() | limits | st.lists(limits, min_size=1, max_size=4).map(tuple)),
        objective=draw(st.sampled_from(Objective)),
        memory_model=draw(st.sampled_from(MemoryModel)),
        solver=draw(st.sampled_from(["highs", "cbc"])),
        time_limit=draw(st.floats(0.5, 1e6)),
        seed=draw(st.integers(0, 2**31 - 1)),
        threads=draw(st.integers(1, 64)),
        pinned=draw(st.sampled_from([(), (Pin(0, 0, 3),), (Pin(0, 0, 0), Pin(1, 2, 7))])),
        start=draw(st.sampled_from([None, plan])),
    )
    scenario = Scenario(model, schedule.name, schedule.pipeline, request)
    status = draw(st.sampled_from([None, *Status]))
    if status is None:
        return SavedScenario(scenario, draw(st.sampled_from([None, plan])))
    has_plan = status in (Status.OPTIMAL, Status.FEASIBLE)
    reason = Infeasibility(draw(st.none() | st.integers(0, 99)), draw(SOME), tuple(draw(st.lists(TEXTS, max_size=2))))
    result = BalanceResult(
        status=status,
        plan=plan if has_plan else None,
        step_time=draw(AMOUNTS) if has_plan else None,
        lower_bound=draw(SOME),
        gap=draw(st.none() | st.floats(0, 1)),
        objective=request.objective,
        objective_value=draw(SOME),
        objective_bound=draw(SOME),
        solver=request.solver,
        seconds=draw(AMOUNTS),
        infeasibility=reason if status is Status.INFEASIBLE else None,
        notes=tuple(draw(st.lists(TEXTS, max_size=2))),
        trace=tuple(draw(st.lists(st.builds(Progress, AMOUNTS, SOME, SOME), max_size=3))),
    )
    return SavedScenario(scenario, result.plan, result)


@given(saved())
def test_what_is_saved_comes_back_equal(before):
    text = scenario_to_json(before.scenario, before.plan, before.result)
    assert scenario_from_json(text.encode(), "saved.json") == before
    assert json.loads(scenario_in_html(text)) == json.loads(text)
    assert not set(scenario_in_html(text)) & set("<>&\u2028\u2029")
    page = f"<!DOCTYPE html><script>1</script><script id=\"scenario\" type='x'>{scenario_in_html(text)}</script>"
    assert scenario_from_json(page.encode(), "report.html") == before


SCENARIO = Scenario(profile(), "1f1b", Pipeline(4, 8), BalanceRequest(1000.0))
PLAN = even_split(SCENARIO.profile, SCENARIO.pipeline)


def document(**changes) -> dict:
    """A whole file; a change to None leaves a key out."""
    whole = json.loads(scenario_to_json(SCENARIO, PLAN)) | changes
    return {key: value for key, value in whole.items() if value is not None}


def read(document: dict) -> SavedScenario:
    return scenario_from_json(json.dumps(document).encode(), "mine.json")


def test_a_newer_version_is_refused_with_one_sentence_whatever_else_is_in_it():
    with pytest.raises(FormatError) as refused:
        read({"scenario_version": VERSION + 1, "world": "other"})
    (sentence,) = refused.value.problems
    assert sentence.startswith(f"scenario_version: is {VERSION + 1}, from a newer release")
    assert f"up to version {VERSION}" in sentence


def test_unknown_keys_are_ignored_with_a_warning():
    changed = document(colour="blue")
    changed["profile"]["layers"][0]["numlayers"] = 3
    changed["settings"]["time_limits"] = 3
    found = read(changed)
    assert (found.scenario, found.plan) == (SCENARIO, PLAN)
    assert found.warnings == (
        "profile.layers[0].numlayers: is not known and was ignored. `numlayers` → `num_layers`?",
        "settings.time_limits: is not known and was ignored. `time_limits` → `time_limit`?",
        "colour: is not known and was ignored.",
    )


def test_all_problems_are_said_at_once_with_their_paths():
    changed = document(schedule=None)
    changed["profile"]["layers"][1]["forward_time"] = -1
    del changed["profile"]["layers"][1]["backward_time"]["both"]
    changed["pipeline"]["num_stages"] = 0
    changed["settings"] |= {"seed": 1.5, "memory_limit_mb": [1000, -3], "pinned": [{"chunk": 0, "stage": 1}, 7]}
    changed["result"] = {"status": "perfect", "objective": "exact", "solver": "highs", "seconds": 1, "notes": [1]}
    with pytest.raises(FormatError) as refused:
        read(changed)
    paths = [problem.split(": ")[0] for problem in refused.value.problems]
    assert paths == [
        "profile.layers[1].forward_time",
        "profile.layers[1].backward_time.both",
        "pipeline.num_stages",
        "schedule",
        "settings.seed",
        "settings.memory_limit_mb[1]",
        "settings.pinned[1]",
        "settings.pinned[0].layers",
        "result.status",
        "result.notes[0]",
    ]


def test_rules_of_the_types_are_told_with_the_path():
    changed = document()
    changed["pipeline"]["placement"] = "v"
    changed["settings"]["pinned"] = [{"chunk": 0, "stage": 1, "layers": 2}, {"chunk": 0, "stage": 1, "layers": 3}]
    with pytest.raises(FormatError) as refused:
        read(changed)
    assert [problem.split(": ")[0] for problem in refused.value.problems] == [
        "pipeline.num_chunks",
        "settings.pinned",
    ]


def test_a_plan_that_does_not_place_the_layers_is_refused():
    changed = document()
    changed["plan"]["model-body0"]["none"][0][2] += 2
    with pytest.raises(FormatError, match="2 too many"):
        read(changed)


def test_a_found_plan_must_be_in_the_file():
    answer = {"status": "optimal", "objective": "exact", "solver": "highs", "seconds": 1, "step_time": 5}
    with pytest.raises(FormatError, match=r"result\.status: is optimal, so the file must hold a plan"):
        read(document(plan=None, result=answer))


def test_a_pipeline_too_large_to_be_meant_is_refused_before_it_takes_memory():
    changed = document(plan={"model-body0": {}})
    changed["pipeline"] |= {"num_stages": 100_000, "num_chunks": 100_000}
    with pytest.raises(FormatError, match="up to 100,000 cells"):
        read(changed)


def test_html_that_is_no_report_is_refused():
    with pytest.raises(FormatError, match='no script element with the id "scenario"'):
        scenario_from_json(b"<!doctype html><p>Hello", "hello.html")
    with pytest.raises(FormatError, match="must not be larger"):
        scenario_from_json(b"<html>" + b" " * 2**23, "huge.html")


def test_scenario_files_are_told_from_profiles():
    assert is_scenario_file(scenario_to_json(SCENARIO).encode())
    assert is_scenario_file(b"\n<!DOCTYPE html>")
    assert not is_scenario_file(b'{"name": "model", "layers_description": []}')
    assert not is_scenario_file(b"name: model")


def test_defaults_are_the_types_own():
    short = document(settings={})
    short["pipeline"] = {"num_stages": 4, "num_micro_batches": 8}
    assert read(short).scenario == replace(SCENARIO, request=BalanceRequest(None))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"forward_time": 0, "backward_time": dict.fromkeys(MODES, 0)}, "must hold a layer that takes time"),
        ({"num_layers": 10**18}, "profile.layers: must hold at most 10,000 layers in all"),
    ],
)
def test_profiles_without_time_or_with_too_many_layers_are_refused(change, words):
    whole = document()
    whole["profile"]["layers"] = [layer | change for layer in whole["profile"]["layers"]]
    with pytest.raises(FormatError) as error:
        read(whole)
    assert words in str(error.value)


def test_too_many_layer_kinds_are_not_even_looked_at():
    whole = document()
    whole["profile"]["layers"] *= 100
    with pytest.raises(FormatError) as error:
        read(whole)
    assert error.value.problems == ("profile.layers: must hold at most 200 layer kinds, found 300.",)


@pytest.mark.parametrize("part", ["<script", '<script id="scenario">', "<script id=scenario "])
def test_html_made_to_be_searched_for_ever_is_refused_at_once(part):
    with pytest.raises(FormatError) as error:
        scenario_from_json(f"<html>{part * 100_000}".encode(), "mine.html")
    assert "is HTML, but no report" in str(error.value)
