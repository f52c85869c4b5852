import pytest

from sapp_core.balancer.question import question_of
from sapp_core.balancer.sapp_objective import surrogate
from sapp_core.balancer.solvers import Effort, solver_named
from sapp_core.balancer.time_unit import PROFILE_UNIT, time_unit
from sapp_core.domain.result import Status
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
