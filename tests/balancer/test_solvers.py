import subprocess
import sys
from dataclasses import dataclass
from random import Random

import pulp
import pytest

from sapp_core.balancer import solvers
from sapp_core.balancer.solvers import SOLVERS, Effort, solver_named
from sapp_core.domain.result import Status
from sapp_core.errors import SolverError

EFFORT = Effort(seconds=60.0, seed=0, threads=1)
SHORT = Effort(seconds=1.0, seed=0, threads=1)


@pytest.fixture(params=[solver.name for solver in SOLVERS])
def solver(request):
    return solver_named(request.param)


def knapsack() -> pulp.LpProblem:
    """Best is x = 2, y = 1 with −8; relaxed it is x = 7/3 with −28/3."""
    problem = pulp.LpProblem("knapsack", pulp.LpMinimize)
    x, y = (problem.add_variable(name, 0, 5, pulp.LpInteger) for name in "xy")
    problem += -4 * x - 0 * y
    problem += 3 * x + 1 * y <= 7, "weight"
    problem += y >= 1, "at_least_one"
    return problem


def market_split() -> pulp.LpProblem:
    """Every 0/1 vector is an answer, and proving the best one takes ages (Cornuéjols and Dawande, 1998)."""
    random = Random(1)
    problem = pulp.LpProblem("market", pulp.LpMinimize)
    sold = [problem.add_variable(f"x{i}", 0, 1, pulp.LpInteger) for i in range(50)]
    missing = []
    for row in range(6):
        over, under = (problem.add_variable(f"{name}{row}", 0) for name in ("over", "under"))
        weights = [random.randint(0, 99) for _ in sold]
        problem += pulp.lpDot(weights, sold) + over - under == sum(weights) // 2, f"split{row}"
        missing += [over, under]
    problem += pulp.lpSum(missing)
    return problem


def test_optimal(solver):
    answer = solver.solve(knapsack(), EFFORT)
    assert answer.status is Status.OPTIMAL
    assert answer.values == pytest.approx({"x": 2, "y": 1})
    assert answer.bound == pytest.approx(-8)


def test_relaxed(solver):
    answer = solver.solve(knapsack(), EFFORT, relax=True)
    assert answer.status is Status.OPTIMAL
    assert answer.values["x"] == pytest.approx(2.0)
    assert answer.bound == pytest.approx(-8)


def test_infeasible(solver):
    problem = knapsack()
    problem += problem.variablesDict()["x"] >= 3
    answer = solver.solve(problem, EFFORT)
    assert (answer.status, answer.bound, answer.values) == (Status.INFEASIBLE, None, {})


def test_infeasible_only_in_whole_numbers(solver):
    problem = pulp.LpProblem("odd", pulp.LpMinimize)
    x, y = (problem.add_variable(name, 0, 9, pulp.LpInteger) for name in "xy")
    problem += x + y
    problem += 2 * x + 2 * y == 5
    assert solver.solve(problem, EFFORT).status is Status.INFEASIBLE


def test_an_answer_at_the_time_limit_is_feasible_not_optimal(solver):
    problem = market_split()
    answer = solver.solve(problem, SHORT)
    assert answer.status is Status.FEASIBLE
    assert answer.bound < pulp.value(problem.objective)


def test_the_state_is_told_from_the_callers_thread(solver):
    seen = []
    solver.solve(market_split(), SHORT, seen.append)
    assert len(seen) >= 3
    assert seen[-1].best is not None
    assert seen[-1].bound <= seen[-1].best
    if solver.name == "highs":
        assert set(seen[-1].values) == {v.name for v in market_split().variables()}


def test_the_same_seed_gives_the_same_answer(solver):
    problem = knapsack()
    assert solver.solve(problem, EFFORT) == solver.solve(knapsack(), EFFORT)


def test_highs_may_change_its_number_of_threads():
    """In one process HiGHS keeps its first number of threads, unless it runs on a thread of its own each time."""
    for threads in (1, 2, 1):
        answer = solver_named("highs").solve(knapsack(), Effort(60.0, 0, threads))
        assert answer.status is Status.OPTIMAL


def test_programs_without_a_smallest_value_are_refused(solver):
    problem = pulp.LpProblem("endless", pulp.LpMinimize)
    x = problem.add_variable("x", None, 5, pulp.LpInteger)
    problem += x
    problem += x <= 4
    with pytest.raises(SolverError):
        solver.solve(problem, EFFORT)


@dataclass
class Missing:
    name: str = "cbc"

    def available(self) -> bool:
        return False


def test_unknown_and_missing_solvers_are_told_apart(monkeypatch):
    with pytest.raises(SolverError, match="'glpk' is not known; choose from highs, cbc"):
        solver_named("glpk")
    monkeypatch.setattr(solvers, "SOLVERS", (SOLVERS[0], Missing()))
    with pytest.raises(SolverError, match="'cbc' is not installed; choose from highs"):
        solver_named("cbc")


def test_a_solver_that_fails_is_an_error(monkeypatch):
    monkeypatch.setattr(solvers, "_cbc_path", lambda: sys.executable)
    with pytest.raises(SolverError, match="failed"):
        solver_named("cbc").solve(knapsack(), EFFORT)


def test_nothing_is_printed():
    """Machine-readable output goes to the standard output of the same process."""
    script = (
        "import pulp\n"
        "from sapp_core.balancer.solvers import Effort, solver_named\n"
        "for name in ('highs', 'cbc'):\n"
        "    problem = pulp.LpProblem('p', pulp.LpMinimize)\n"
        "    x = problem.add_variable('x', 0, 5, pulp.LpInteger)\n"
        "    problem += x\n"
        "    problem += 2 * x >= 3\n"
        "    print(solver_named(name).solve(problem, Effort(60.0, 0, 1)).values['x'])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("2.0\n2.0\n", "")


def test_a_relaxed_program_out_of_time_proves_nothing(solver):
    answer = solver.solve(market_split(), Effort(seconds=1e-9, seed=0, threads=1), relax=True)
    best = solver.solve(market_split(), EFFORT, relax=True).bound
    assert answer.bound is None or answer.bound <= best + 1e-6
