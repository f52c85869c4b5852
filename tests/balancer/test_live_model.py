"""A live program gives what a fresh one gives, and stops when told."""

import numpy as np
import pulp
import pytest

from sapp_core.balancer.live_model import LiveModel
from sapp_core.domain.result import Status

SIZES = np.array([5.0, 7.0, 4.0, 3.0])
WORTH = np.array([8.0, 11.0, 6.0, 4.0])


def knapsack(sizes=SIZES, worth=WORTH, room=14.0) -> pulp.LpProblem:
    """The least worth of what is left behind."""
    problem = pulp.LpProblem("knapsack", pulp.LpMinimize)
    left = [problem.add_variable(f"left{i:02}", 0, 1, pulp.LpInteger) for i in range(len(sizes))]
    problem += pulp.lpSum(float(a) * x for a, x in zip(worth, left, strict=True))
    problem += pulp.lpSum(float(a) * x for a, x in zip(sizes, left, strict=True)) >= float(sizes.sum() - room), "room"
    return problem


def columns(live: LiveModel) -> np.ndarray:
    return np.arange(live.num_columns, dtype=np.int32)


def test_whole_numbers_and_fractions():
    whole, fractions = (LiveModel(knapsack(), 0, relax=relax).solve(60.0) for relax in (False, True))
    assert (whole.status, fractions.status) == (Status.OPTIMAL, Status.OPTIMAL)
    assert whole.value == whole.bound == pytest.approx(8.0)
    assert fractions.value == fractions.bound == pytest.approx(7.0)


def test_variables_become_whole_one_after_the_other():
    live = LiveModel(knapsack(), 0, relax=True)
    values = [live.solve(60.0).value]
    for name in sorted(live.column):
        live.whole([name])
        values.append(live.solve(60.0).value)
    assert values == sorted(values)
    assert values[-1] == pytest.approx(8.0)


def test_rows_added_and_bounds_changed_count_in_the_next_solve():
    live = LiveModel(knapsack(), 0, relax=True)
    live.solve(60.0)
    live.add_rows(np.array([2.0, -9.0]), columns(live), np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, -1.0, 0.0]]))
    assert live.num_rows == 3
    assert live.solve(60.0).value == pytest.approx(10.0)  # The two of least worth.
    live.between(1, 3.0, 3.0)
    assert live.solve(60.0).value == pytest.approx(18.0)
    live.between(1, 0.0, 4.0)
    assert live.solve(60.0).value == pytest.approx(7.0)
    live.limit("left03", 0.5)
    assert live.solve(60.0).value > 7.0
    live.between(1, 5.0, 9.0)
    assert live.solve(60.0).status is Status.INFEASIBLE


def test_only_rows_that_do_not_bind_are_dropped():
    live = LiveModel(knapsack(), 0, relax=True)
    lower = np.array([0.5, -50.0, 1.0, -60.0])
    weights = np.array([[0.0, 1.0, 0.0, 0.0], [-1.0] * 4, [1.0, 0.0, 0.0, 0.0], [-2.0] * 4])
    live.add_rows(lower, columns(live), weights)
    before = live.solve(60.0)
    prices = live.prices()
    assert set(np.flatnonzero(prices[1:] > 0) + 1) == {1, 3}
    gone = live.drop_rows(np.arange(1, 5))
    assert {2, 4} <= set(gone.tolist())
    assert not {1, 3} & set(gone.tolist())
    assert live.num_rows == 5 - len(gone)
    after = live.solve(60.0)
    assert after.value == pytest.approx(before.value)
    assert np.flatnonzero(live.prices()[1:] > 0).tolist() == [0, 1]


class Interrupted(LiveModel):
    """Is stopped by what HiGHS tells it, and counts what HiGHS says afterwards."""

    told, told_since = 0, 0

    def _listen(self, *arguments) -> None:
        self.told += 1
        self.told_since += self.stopped
        if self.told == 20:
            self.stop()
        super()._listen(*arguments)


def test_a_solve_under_way_ends_when_stopped():
    """Splitting numbers evenly in several ways at once: few variables, and far too many cases for HiGHS."""
    random = np.random.default_rng(0)
    problem = pulp.LpProblem("split", pulp.LpMinimize)
    chosen = [problem.add_variable(f"x{i:02}", 0, 1, pulp.LpInteger) for i in range(50)]
    over = [problem.add_variable(f"over{i}", 0) for i in range(5)]
    problem += pulp.lpSum(over)
    for i, extra in enumerate(over):
        weights = random.integers(1, 100, 50).tolist()
        split = pulp.lpSum(w * x for w, x in zip(weights, chosen, strict=True))
        problem += split - extra <= sum(weights) // 2, f"above{i}"
        problem += split + extra >= sum(weights) // 2, f"below{i}"
    live = Interrupted(problem, 0, relax=False)
    solved = live.solve(np.inf)
    assert solved.status in {Status.FEASIBLE, Status.NO_SOLUTION_IN_TIME}
    assert live.told_since <= 3
    assert live.solve(np.inf).status is Status.NO_SOLUTION_IN_TIME


def test_a_stopped_program_has_no_answer_and_no_bound():
    live = LiveModel(knapsack(), 0, relax=True)
    live.stop()
    solved = live.solve(60.0)
    assert (solved.status, solved.bound, solved.values) == (Status.NO_SOLUTION_IN_TIME, None, None)
