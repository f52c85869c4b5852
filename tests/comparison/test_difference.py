"""Differences add up, and what cannot be subtracted is not."""

from dataclasses import replace

import pytest
from hypothesis import given, settings

from sapp_core.comparison.candidate import Candidate
from sapp_core.comparison.difference import Moves, difference
from sapp_core.domain.pipeline import Pipeline, Placement
from sapp_core.domain.plan import Plan, even_split, placed
from sapp_core.domain.profile import RecomputeMode
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.scenario import Scenario
from sapp_core.study import evaluate
from tests.charts import scenes
from tests.comparison.candidates import candidate, without_memory
from tests.strategies import studies


@settings(max_examples=40)
@given(studies())
def test_the_causes_add_up_to_the_change_and_swapping_turns_it_round(study):
    profile, schedule, plan = study
    scenario = Scenario(profile, schedule.name, schedule.pipeline, BalanceRequest(None))
    given_plan = Candidate("given", scenario, evaluate(profile, schedule, plan))
    even = even_split(given_plan.evaluation.profile, schedule.pipeline)
    base = Candidate("even", scenario, evaluate(profile, schedule, even))
    there, back = difference(base, given_plan), difference(given_plan, base)
    assert there.step is not None
    assert there.step.work + there.step.bubble.total == pytest.approx(there.step.total, abs=1e-6)
    assert there.step.total == pytest.approx(-back.step.total)
    assert there.bubble.total == pytest.approx(-back.bubble.total)
    if there.memory_mb is not None:
        assert there.memory_mb == pytest.approx([-value for value in back.memory_mb])
    assert there.moves == back.moves  # what left one place came to another
    assert sum(given_plan.layers_by_mode) == profile.num_body_layers


@pytest.mark.parametrize("pipeline", [Pipeline(8, 8), Pipeline(4, 24), Pipeline(2, 8)])
def test_causes_add_up_between_different_sizes(pipeline):
    step = difference(candidate(), candidate(pipeline=pipeline)).step
    assert step.work + step.bubble.total == pytest.approx(step.total)
    own = {Pipeline(8, 8): 0.5, Pipeline(4, 24): 3, Pipeline(2, 8): 2}[pipeline]
    assert candidate(pipeline=pipeline).own_work == pytest.approx(own * candidate().own_work)


def test_the_same_candidate_differs_in_nothing():
    found = difference(candidate(), candidate("again"))
    assert (found.obstacles, found.step.total, set(found.memory_mb)) == ((), 0, {0})
    assert found.moves == Moves(0, "cell")


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"name": "other"}, "Different models (model and other)"),
        ({"layers": scenes.profile(layers=20).layers}, "Different models (model, with other layers)"),
        ({"time_unit": "s"}, "Different time units (ms and s)"),
    ],
)
def test_step_times_that_mean_different_things_are_not_subtracted(other, words):
    found = difference(candidate(), candidate("b", profile=replace(scenes.profile(), **other)))
    assert found.step is None
    assert words in found.obstacles[0]
    assert (found.moves is None) == (other.keys() != {"time_unit"})


def test_other_costs_of_the_same_layers_are_compared():
    layers = tuple(replace(layer, forward_time=2 * layer.forward_time) for layer in scenes.profile().layers)
    found = difference(candidate(), candidate("b", profile=replace(scenes.profile(), layers=layers)))
    assert found.obstacles == ()
    assert found.step.work > 0


def test_memory_is_compared_stage_by_stage_or_not():
    fewer = difference(candidate(), candidate("b", pipeline=Pipeline(8, 8)))
    assert fewer.memory_mb is None
    assert "Different numbers of stages (4 and 8)" in fewer.obstacles[0]
    none = difference(candidate(), candidate("b", profile=without_memory(scenes.profile())))
    assert none.memory_mb is None
    assert "The profile of b gives no memory" in none.obstacles[0]


def test_moved_layers_are_counted_by_cell_where_cells_are_the_same():
    pipeline = Pipeline(4, 8)
    entries = [(RecomputeMode.NONE, 0, stage, count) for stage, count in enumerate((4, 6, 6, 8))]
    uneven = Plan((placed("model-body0", pipeline, entries),))
    assert difference(candidate(), candidate("b", plan=uneven)).moves == Moves(2, "cell")
    interleaved = candidate("b", "vpp", Pipeline(4, 8, 2))
    assert difference(candidate(), interleaved).moves == Moves(0, "stage")
    assert (
        difference(interleaved, candidate("c", "dualpipe", Pipeline(4, 8, 2, placement=Placement.BIDIRECTIONAL))).moves
        is None
    )
