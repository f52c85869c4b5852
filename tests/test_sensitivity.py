"""Sensitivity against simulating each change by itself."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import even_split
from sapp_core.domain.profile import RecomputeMode
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.scenario import Scenario
from sapp_core.domain.sensitivity import Quantity
from sapp_core.domain.sequence_split import split_along_sequence
from sapp_core.schedules.registry import make_schedule
from sapp_core.schedules.zero_bubble import PLANNED
from sapp_core.sensitivity import changed, most_regret, profile_numbers, sensitivity
from sapp_core.study import evaluate
from tests.charts import scenes
from tests.strategies import plans, studies


@given(studies(), st.sampled_from([0.01, 0.1, 0.5]))
def test_one_batch_says_what_simulating_each_change_says(study, share):
    profile, schedule, plan = study
    scenario = Scenario(profile, schedule.name, schedule.pipeline, BalanceRequest(None))
    evaluation = evaluate(profile, schedule, plan)
    found = sensitivity(scenario, evaluation, share)
    numbers = [reaction.number for reaction in (*found.times, *found.memory)]
    assert sorted(map(repr, (*numbers, *found.idle))) == sorted(map(repr, profile_numbers(scenario)))
    for reaction in (*found.times, *found.memory):
        for factor, told in ((1 - share, reaction.lower), (1 + share, reaction.higher)):
            other = changed(scenario, reaction.number, factor)
            order = replace(evaluation.schedule, pipeline=other.pipeline)
            if schedule.name in PLANNED and reaction.number.quantity.is_time:
                continue  # simulated anew, the order would be planned anew
            again = evaluate(other.profile, order, plan)
            value = again.step_time if reaction.number.quantity.is_time else max(again.peak_memory_mb)
            assert told == pytest.approx(value)


@given(studies())
def test_more_of_anything_is_never_quicker_or_smaller_and_ranked_by_swing(study):
    profile, schedule, plan = study
    scenario = Scenario(profile, schedule.name, schedule.pipeline, BalanceRequest(None))
    evaluation = evaluate(profile, schedule, plan)
    found = sensitivity(scenario, evaluation, 0.1)
    for reactions, base in ((found.times, found.step_time), (found.memory, found.peak_mb)):
        assert [r.swing for r in reactions] == sorted((r.swing for r in reactions), reverse=True)
        for reaction in reactions:
            assert reaction.lower <= base * (1 + 1e-9)
            assert reaction.higher >= base * (1 - 1e-9)
    # Times are a length: made longer all together, by a tenth, the step is a tenth longer.
    everything = scenario
    for number in profile_numbers(scenario):
        if number.quantity.is_time:
            everything = changed(everything, number, 1.1)
    if schedule.name not in PLANNED:
        order = replace(evaluation.schedule, pipeline=everything.pipeline)
        assert evaluate(everything.profile, order, plan).step_time == pytest.approx(1.1 * evaluation.step_time)


def scenario_of(limit):
    profile, pipeline = scenes.profile(), Pipeline(4, 8, p2p_time=2.0)
    plan = even_split(profile, pipeline, RecomputeMode.FULL)
    evaluation = evaluate(profile, make_schedule("1f1b", pipeline), plan)
    return Scenario(profile, "1f1b", pipeline, BalanceRequest(limit and limit(evaluation))), evaluation


def test_what_the_plan_does_not_use_is_idle():
    found = sensitivity(*scenario_of(None), 0.1)
    idle = {(number.layer, number.words) for number in found.idle}
    assert ("model-body0", "activation memory (select)") in idle
    assert ("model-body0", "recompute time (select)") in idle
    moving = {(reaction.number.layer, reaction.number.words) for reaction in (*found.times, *found.memory)}
    assert {("model-body0", "recompute time (full)"), ("model-body0", "activation memory (full)")} <= moving
    assert ("", "transfer time") in moving


def test_a_number_that_makes_the_plan_not_fit_names_the_stage_and_what_it_lacks():
    scenario, evaluation = scenario_of(lambda evaluation: max(evaluation.peak_memory_mb) + 1.0)
    found = sensitivity(scenario, evaluation, 0.1)
    fullest = max(range(4), key=evaluation.peak_memory_mb.__getitem__)
    constant = next(r for r in found.memory if r.number.quantity is Quantity.CONSTANT)
    assert constant.excess.stage == fullest
    assert constant.excess.mb == pytest.approx(0.1 * 100.0 - 1.0)
    assert not any(reaction.excess for reaction in found.times)
    roomy, _ = scenario_of(lambda evaluation: 2 * max(evaluation.peak_memory_mb))
    assert not any(reaction.excess for reaction in sensitivity(roomy, evaluation, 0.1).memory)


@given(studies(), st.data(), st.sampled_from([0.05, 0.1, 0.5]))
def test_no_other_plan_beats_this_one_by_more_than_the_bound_proves(study, data, share):
    profile, schedule, plan = study
    scenario = Scenario(profile, schedule.name, schedule.pipeline, BalanceRequest(None))
    split = split_along_sequence(profile, schedule.pipeline.num_sequence_splits)
    other = data.draw(plans(split, schedule.pipeline))
    one, two = (sensitivity(scenario, evaluate(profile, schedule, each), share) for each in (plan, other))
    bound = min(one.step_time, two.step_time)
    for reaction in one.times:
        most = most_regret(scenario, one, reaction, bound)
        if schedule.name in PLANNED:
            assert most is None
            continue
        rival = next((r for r in two.times if r.number == reaction.number), None)
        best = (two.step_time, two.step_time) if rival is None else (rival.lower, rival.higher)
        for kept, better in zip((reaction.lower, reaction.higher), best, strict=True):
            assert kept <= (1 + most) * better * (1 + 1e-9)


def test_the_bound_proves_most_about_numbers_that_take_little():
    scenario, evaluation = scenario_of(None)
    found = sensitivity(scenario, evaluation, 0.1)
    most = {r.number: most_regret(scenario, found, r, evaluation.step_time) for r in found.times}
    head = next(number for number in most if number.layer == scenario.profile.head[0].name)
    assert most[head] < 0.02
    assert max(most.values()) > 0.02
    assert most_regret(scenario, found, found.memory[0], evaluation.step_time) is None
    assert most_regret(scenario, found, found.times[0], 0.0) is None


def test_a_plan_that_does_not_fit_as_it_is_blames_no_number():
    scenario, evaluation = scenario_of(lambda evaluation: max(evaluation.peak_memory_mb) - 50.0)
    found = sensitivity(scenario, evaluation, 0.1)
    assert found.excess.mb == pytest.approx(50.0)
    assert not any(reaction.excess for reaction in found.memory)
    assert "activation memory (select)" in {number.words for number in found.idle}
    assert found.kept(found.times[0], smaller=True) is None
