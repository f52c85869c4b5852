"""What a file says about its plan is repeated as far as the simulation agrees."""

from dataclasses import replace

import pytest

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import even_split
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import BalanceResult, Objective, Status
from sapp_core.domain.scenario import Scenario
from sapp_core.errors import PipelineError
from sapp_core.reopen import as_simulated, check_settings
from sapp_core.schedules.registry import make_schedule
from sapp_core.study import evaluate
from tests.charts import scenes

SCENARIO = Scenario(scenes.profile(), "1f1b", Pipeline(4, 8), BalanceRequest(2000.0))
FOUND = evaluate(
    SCENARIO.profile, make_schedule("1f1b", SCENARIO.pipeline), even_split(SCENARIO.profile, SCENARIO.pipeline)
)
STEP = FOUND.step_time
RESULT = BalanceResult(
    Status.OPTIMAL, FOUND.plan, STEP, STEP, 0.0, Objective.EXACT, STEP, STEP, "highs", 1.0, notes=("said",)
)


def opened(result: BalanceResult, scenario: Scenario = SCENARIO) -> BalanceResult:
    return as_simulated(result, FOUND, scenario, "mine.json")


def test_what_agrees_is_repeated():
    assert opened(RESULT) == RESULT
    found = replace(RESULT, status=Status.FEASIBLE, lower_bound=0.75 * STEP, gap=0.25)
    assert opened(found) == found


def test_another_step_time_is_shown_and_said():
    answer = opened(replace(RESULT, step_time=0.9 * STEP, lower_bound=0.8 * STEP, gap=0.1))
    assert answer.step_time == STEP
    assert answer.gap == pytest.approx(0.2)
    assert answer.status is Status.FEASIBLE
    assert len(answer.notes) == 2
    assert "simulated here it is" in answer.notes[1]


def test_a_bound_above_its_own_plan_is_left_out():
    answer = opened(replace(RESULT, lower_bound=1.1 * STEP))
    assert (answer.lower_bound, answer.gap, answer.status) == (None, None, Status.FEASIBLE)
    assert "the bound is left out" in answer.notes[-1]


def test_a_plan_over_its_own_limit_proves_nothing():
    tight = replace(SCENARIO, request=BalanceRequest(min(FOUND.peak_memory_mb)))
    answer = opened(RESULT, tight)
    assert (answer.lower_bound, answer.status) == (None, Status.FEASIBLE)
    assert "breaks its own memory limit" in answer.notes[-1]


def test_optimal_without_a_proof_is_no_more_than_found():
    assert opened(replace(RESULT, lower_bound=None, gap=None)).status is Status.FEASIBLE
    assert opened(replace(RESULT, lower_bound=0.9 * STEP)).status is Status.FEASIBLE
    classic = replace(RESULT, objective=Objective.SAPP_1, lower_bound=0.9 * STEP)
    assert opened(classic).status is Status.OPTIMAL


def test_settings_nobody_can_run_are_refused_together():
    request = BalanceRequest((1.0, 2.0), solver="none")
    with pytest.raises(PipelineError) as refused:
        check_settings(replace(SCENARIO, request=request))
    assert [problem.split(":")[0] for problem in refused.value.problems] == ["solver", "memory_limit_mb"]
