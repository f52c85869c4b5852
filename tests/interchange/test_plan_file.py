"""Plan files: our JSON, whole results, and MindFormers settings."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import even_split, placed
from sapp_core.domain.profile import MODES, LayerKind, LayerProfile, ModelProfile, RecomputeMode
from sapp_core.errors import FormatError, PlanError
from sapp_core.interchange.mindformers import plan_to_mindformers
from sapp_core.interchange.plan_file import plan_from_json, plan_to_json, read_plan
from tests.strategies import plans, profiles, schedules

PIPELINE = Pipeline(num_stages=2, num_micro_batches=4)


def body(name: str, num_layers: int) -> LayerProfile:
    return LayerProfile(name, LayerKind.BODY, num_layers, 1.0, (2.0,) * len(MODES), 1.0, (1.0,) * len(MODES))


PROFILE = ModelProfile("model", (body("Layer", 4),))
PLAN = even_split(PROFILE, PIPELINE)


@given(data=st.data(), profile=profiles(), schedule=schedules())
def test_a_plan_comes_back_as_it_left(data, profile, schedule):
    plan = data.draw(plans(profile, schedule.pipeline))
    text = plan_to_json(plan)
    assert json.loads(text) == plan.as_dict()
    assert plan_from_json(text, profile, schedule.pipeline) == plan
    assert read_plan(text.encode(), "plan.json", profile, schedule.pipeline) == plan


@given(data=st.data(), profile=profiles(), schedule=schedules())
def test_the_plan_of_a_result_is_taken(data, profile, schedule):
    plan = data.draw(plans(profile, schedule.pipeline))
    result = json.dumps({"status": "optimal", "step_time": 3.5, "plan": plan.as_dict(), "memory": []})
    assert read_plan(result.encode(), "result.json", profile, schedule.pipeline) == plan


def test_mindformers_settings_are_recognised():
    text = plan_to_mindformers(PLAN, PROFILE, PIPELINE)
    assert read_plan(text.encode(), "settings.yaml", PROFILE, PIPELINE) == PLAN
    several = ModelProfile("model", (body("A", 2), body("B", 2)))
    plan = even_split(several, PIPELINE)
    text = plan_to_mindformers(plan, several, PIPELINE)
    assert read_plan(text.encode(), "settings.yaml", several, PIPELINE) == plan


@pytest.mark.parametrize("name", ["plan", "layers", "offset", "recompute", "model"])
def test_a_layer_kind_may_have_any_name(name):
    profile = ModelProfile("model", (body(name, 4),))
    plan = even_split(profile, PIPELINE)
    assert read_plan(plan_to_json(plan).encode(), "plan.json", profile, PIPELINE) == plan


def test_modes_that_are_left_out_place_nothing():
    plan = plan_from_json('{"Layer": {"full": [[1, 3]]}}', PROFILE, PIPELINE)
    full = RecomputeMode.FULL
    assert plan.layers == (placed("Layer", PIPELINE, [(full, 0, 0, 1), (full, 0, 1, 3)]),)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ('{"status": "infeasible", "plan": null}', ["plan.json: this result holds no plan."]),
        ('{"Other": {"none": [[2, 2]]}}', ['plan: must have the layer kinds Layer as its keys, found "Other".']),
        (
            '{"Layer": {"none": [[2, 2]]}, "More": {}}',
            ['plan: must have the layer kinds Layer as its keys, found "Layer", "More".'],
        ),
        ("[1]", ["plan: must have the layer kinds Layer as its keys, found"]),
        ('{"Layer": [[2, 2]]}', ["plan.Layer: must be a mapping from recompute mode to layer counts"]),
        (
            '{"Layer": {"some": [[2, 2]]}}',
            ['plan.Layer: "some" is no recompute mode; they are none, select, comm, both, full.'],
        ),
        ('{"Layer": {"none": [[2, 2, 0]]}}', ["plan.Layer.none[0]: needs 2 stages, found 3."]),
        (
            '{"Layer": {"none": [[2], [2]]}}',
            ["plan.Layer.none: must be a list of 2 whole numbers, one a stage, found 2 lists."],
        ),
        ('{"Layer": {"none": 4}}', ["plan.Layer.none: must be a list of 2 whole numbers, one a stage, found 4."]),
        (
            '{"Layer": {"none": [[2.5, true]], "full": [[-1, "x"]]}}',
            [
                "plan.Layer.none[0][0]: must be a whole number, found 2.5.",
                "plan.Layer.none[0][1]: must be a whole number, found true.",
                "plan.Layer.full[0][0]: a count cannot be negative, found -1.",
                'plan.Layer.full[0][1]: must be a whole number, found the text "x".',
            ],
        ),
        ('{"Layer": {"none": [[2, 2]], "none": [[2, 2]]}}', ["Layer.none: the key is given twice"]),
        ("", ["plan.json: is empty"]),
    ],
)
def test_a_file_that_is_no_plan_is_refused(text, sentences):
    with pytest.raises(FormatError) as caught:
        read_plan(text.encode(), "plan.json", PROFILE, PIPELINE)
    assert len(caught.value.problems) == len(sentences)
    for problem, sentence in zip(caught.value.problems, sentences, strict=True):
        assert sentence in problem


def test_layers_that_vanish_are_counted():
    with pytest.raises(PlanError, match="places 3 layers, the profile has 4: 1 missing"):
        plan_from_json('{"Layer": {"none": [[2, 1]]}}', PROFILE, PIPELINE)


def test_problems_of_all_kinds_are_told_at_once():
    several = ModelProfile("model", (body("A", 2), body("B", 2)))
    with pytest.raises(FormatError) as caught:
        plan_from_json('{"A": {"none": [1]}, "B": {"none": [[1, 1, 1]]}}', several, PIPELINE)
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["plan.A.none", "plan.B.none[0]"]
