from pathlib import Path

import pytest

from sapp_core.balancer.balance import BalanceRequest, balance
from sapp_core.balancer.question import question_of
from sapp_core.balancer.sapp_objective import surrogate
from sapp_core.balancer.solvers import Effort, solver_named
from sapp_core.balancer.time_unit import PROFILE_UNIT, time_unit
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.result import Objective, Status
from sapp_core.profiles.load import load_profile
from sapp_core.schedules.registry import make_schedule
from tests.balancer.recorded_cases import CASES, RUNS, recorded_case, recorded_plan

RECORDED = [(name, run) for name, case in CASES.items() for run in RUNS if "plan" in case.get(run, {})]


def test_all_levels_and_shapes_were_recorded():
    assert len(RECORDED) == 16
    assert {CASES[name]["sapp_level"] for name, _ in RECORDED} == {1, 2}
    assert {CASES[name]["chunks"] for name, _ in RECORDED} == {1, 2, 3}
    assert any(
        CASES[name]["micro_batches"] == CASES[name]["stages"] and CASES[name]["chunks"] > 1 for name, _ in RECORDED
    )


@pytest.mark.parametrize("unit", [time_unit, lambda _: PROFILE_UNIT], ids=["own-unit", "profile-unit"])
@pytest.mark.parametrize(("name", "run"), RECORDED)
def test_recorded_plans_are_allowed_and_worth_the_recorded_value(name, run, unit):
    """The closed-form rows must accept the reference's plans, and the objective must rate them as the reference does."""
    profile, schedule, request = recorded_case(name)
    program = question_of(profile, schedule, request).program(unit(profile))
    problem = program.problem
    problem += surrogate(program, schedule, request.objective)
    program.fix(recorded_plan(name, run))
    answer = solver_named("highs").solve(problem, Effort(seconds=60, seed=0, threads=1))
    assert answer.status is Status.OPTIMAL
    assert program.unit.to_profile(answer.bound) == pytest.approx(CASES[name][run]["objective_value"], rel=1e-7)


@pytest.mark.parametrize("level", [Objective.SAPP_0, Objective.SAPP_1])
def test_sequence_splits_are_units_of_a_share_of_the_time(level):
    data = (Path(__file__).parents[2] / "sample_profiles" / "seqpp16.yaml").read_bytes()
    profile = load_profile(data, "seqpp16").profile
    request = BalanceRequest(None, objective=level, threads=1)
    whole, halves = (
        balance(profile, make_schedule("seqpipe", Pipeline(4, 8, num_sequence_splits=splits)), request)
        for splits in (1, 2)
    )
    assert whole.status is halves.status is Status.OPTIMAL
    assert halves.objective_value == pytest.approx(whole.objective_value / 2)
