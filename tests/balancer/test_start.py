"""A plan to begin from: never answered worse than it, whatever the time; and told when it cannot be used as it is."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from sapp_core.balancer.balance import balance
from sapp_core.balancer.local_search import LocalSearch
from sapp_core.balancer.plan_space import plan_space
from sapp_core.balancer.question import question_of
from sapp_core.balancer.request import BalanceRequest, Pin
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Plan, even_split, placed
from sapp_core.domain.profile import LayerKind, LayerProfile, ModelProfile, RecomputeMode
from sapp_core.domain.result import MemoryModel, Objective, Status
from sapp_core.errors import PipelineError
from sapp_core.schedules.registry import SCHEDULES, make_schedule
from sapp_core.study import evaluate
from tests.balancer.recorded_cases import CASES, RUNS, recorded_case, recorded_plan
from tests.balancer.tiny_exact import exact_model, quickest

AT_ONCE = 1e-6
"""Seconds: the answer is the first state of the search."""
NONE, FULL = RecomputeMode.NONE, RecomputeMode.FULL
RECORDED = [(name, run) for name in CASES for run in RUNS if CASES[name].get(run, {}).get("plan")]


@pytest.mark.parametrize("name", [family.name for family in SCHEDULES])
def test_the_answer_is_never_slower_than_a_start_within_the_limits(name):
    """Half of the starts are the very best plan: none better can be found by chance."""
    for seed in range(6):
        tiny, random = exact_model(name, seed), Random(seed)
        step_times = tiny.plans.step_times(tiny.schedule)
        for number in (random.randrange(len(step_times)), int(np.argmin(np.where(tiny.fits, step_times, np.inf)))):
            request = replace(tiny.request, start=tiny.plans.plan(number), time_limit=AT_ONCE)
            result = balance(tiny.profile, tiny.schedule, request)
            if tiny.fits[number]:
                assert result.status in {Status.FEASIBLE, Status.OPTIMAL}
                assert result.step_time <= step_times[number] * (1 + 1e-9)
                assert not any("start" in note for note in result.notes)
            else:
                assert any("needs more memory than the limit" in note for note in result.notes)
                assert result.plan is None or result.plan != request.start


@pytest.mark.parametrize(("name", "seed", "number"), [("v-half", 12, 301), ("zbv", 59, 139), ("v-min", 45, 12)])
def test_a_start_that_is_quicker_in_its_own_order_of_work_is_kept(name, seed, number):
    """Zero bubble: the proven best plan of the order that is searched ends later than the start, each in its own order."""
    tiny = exact_model(name, seed)
    start = tiny.plans.plan(number)
    free = balance(tiny.profile, tiny.schedule, tiny.request)
    result = balance(tiny.profile, tiny.schedule, replace(tiny.request, start=start))
    assert (result.plan, result.status, free.status) == (start, Status.FEASIBLE, Status.OPTIMAL)
    assert result.step_time == evaluate(tiny.profile, tiny.schedule, start).step_time < free.step_time
    assert result.lower_bound <= free.objective_value <= result.objective_value


@pytest.mark.parametrize("seed", range(6))
def test_wherever_it_begins_the_optimum_is_the_same(seed):
    tiny = exact_model("vpp", seed)
    start = tiny.plans.plan(Random(seed).randrange(len(tiny.plans.counts)))
    result = balance(tiny.profile, tiny.schedule, replace(tiny.request, start=start))
    if tiny.fits.any():
        assert result.status is Status.OPTIMAL
        assert result.objective_value == pytest.approx(quickest(tiny), rel=1e-5)
    else:
        assert result.status is Status.INFEASIBLE


@pytest.mark.parametrize(("name", "run"), RECORDED)
def test_a_recorded_plan_is_kept_or_beaten_at_once(name, run):
    """Of real sizes; some fit only by the closed forms that they were made with."""
    profile, schedule, request = recorded_case(name)
    start = recorded_plan(name, run)
    exact = replace(request, objective=Objective.EXACT, memory_model=MemoryModel.EXACT, start=start, time_limit=AT_ONCE)
    result = balance(profile, schedule, exact)
    given = evaluate(profile, schedule, start)
    over = bool(given.stages_over(request.limits(schedule.pipeline.num_stages)))
    assert any("needs more memory than the limit" in note for note in result.notes) == over
    assert over or result.step_time <= given.step_time * (1 + 1e-9)


def body(count: int) -> LayerProfile:
    return LayerProfile("Body", LayerKind.BODY, count, 1.0, (2.0,) * 4 + (3.0,), 10.0, (8.0, None, None, None, 2.0))


PROFILE = ModelProfile("m", (body(6),))
PIPELINE = Pipeline(3, 6)
SCHEDULE = make_schedule("1f1b", PIPELINE)


def plan(*entries: tuple[RecomputeMode, int, int]) -> Plan:
    """From (mode, stage, layers)."""
    return Plan((placed("Body", PIPELINE, [(mode, 0, stage, count) for mode, stage, count in entries]),))


def test_a_start_beyond_the_limit_is_passed_on_the_way():
    start = even_split(PROFILE, PIPELINE)
    result = balance(PROFILE, SCHEDULE, BalanceRequest(40.0, start=start))
    assert result.status is Status.OPTIMAL
    assert result.plan != start
    assert (
        "The start needs more memory than the limit: the search began there, but it is no answer itself."
        in result.notes
    )


def test_the_search_begins_at_a_start_beyond_the_limit(monkeypatch):
    start, begun = plan((NONE, 0, 1), (NONE, 1, 1), (NONE, 2, 4)), []
    descend = LocalSearch._descend
    monkeypatch.setattr(LocalSearch, "_descend", lambda self, vector: begun.append(vector) or descend(self, vector))
    request = BalanceRequest(40.0, start=start)
    balance(PROFILE, SCHEDULE, request)
    space = plan_space(question_of(PROFILE, SCHEDULE, request))
    assert np.array_equal(begun[0], space.vector(start))


@pytest.mark.parametrize(
    ("start", "pins"),
    [
        (plan((NONE, 0, 3), (NONE, 2, 3)), ()),
        (plan((NONE, 0, 2), (NONE, 1, 2), (NONE, 2, 2)), (Pin(0, 0, 3),)),
    ],
)
def test_a_start_that_breaks_a_pin_or_leaves_a_cell_empty_is_mended(start, pins):
    result = balance(PROFILE, SCHEDULE, BalanceRequest(None, start=start, pinned=pins, time_limit=AT_ONCE))
    held = [result.plan.layers[0].total(0, stage) for stage in range(3)]
    assert min(held) >= 1
    assert all(held[pin.stage] == pin.layers for pin in pins)
    note = "The search began near the start, not at it: it breaks a pin or leaves a cell without layers."
    assert note in result.notes


def test_a_start_whose_recomputed_layers_come_last_is_mended():
    """Two kinds and two modes: MindFormers wants recomputed layers first inside a cell."""
    kinds = (replace(body(2), name="A"), replace(body(2), name="B"))
    profile, pipeline = ModelProfile("m", kinds), Pipeline(1, 2)
    start = Plan((placed("A", pipeline, [(NONE, 0, 0, 2)]), placed("B", pipeline, [(FULL, 0, 0, 2)])))
    result = balance(profile, make_schedule("1f1b", pipeline), BalanceRequest(None, start=start))
    assert result.status is Status.OPTIMAL
    assert any("recomputed layers do not come first inside a cell" in note for note in result.notes)


@pytest.mark.parametrize("objective", [Objective.SAPP_0, Objective.SAPP_1, Objective.SAPP_2])
def test_surrogates_say_that_they_do_not_use_it(objective):
    request = BalanceRequest(None, objective=objective, start=even_split(PROFILE, PIPELINE))
    result = balance(PROFILE, SCHEDULE, request)
    assert "The start was not used: only the objective exact begins from a plan." in result.notes


def test_a_start_of_another_model_and_wrong_pins_are_told_at_once():
    start = even_split(ModelProfile("m", (body(7),)), PIPELINE)
    with pytest.raises(PipelineError) as error:
        balance(PROFILE, SCHEDULE, BalanceRequest(None, start=start, pinned=(Pin(0, 3, 1),)))
    assert error.value.problems == (
        "pinned: chunk 0, stage 3 is outside the pipeline; stages are 0 to 2.",
        "start: plan of Body: places 7 layers, the profile has 6: 1 too many.",
    )
