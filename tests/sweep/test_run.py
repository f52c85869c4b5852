"""A sweep as a whole: exactly once, in any order, resumed."""

import random
from dataclasses import replace
from threading import Event

from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.sweep import PointStatus
from sapp_core.sweep.estimate import Estimate, estimate, forecast, measured_costs
from sapp_core.sweep.run import sweep, tasks_of
from sapp_core.sweep.work import work_on
from tests.sweep.grids import SMALL, sample


class Here:
    """An executor in this process that answers in a random order, some points twice, and may stop early."""

    def __init__(self, seed=0, stop_after=None):
        self.asked = []
        self._random = random.Random(seed)
        self._stop_after = stop_after

    def results(self, tasks, stop):
        self.asked = [task.point for task in tasks]
        shuffled = self._random.sample(tasks, len(tasks))
        for task in shuffled[: self._stop_after]:
            result = work_on(task)
            yield result
            if self._random.random() < 0.3:
                yield result


def run(executor, done=()):
    return list(sweep(SMALL, sample(), executor, Event(), done))


def test_every_point_is_answered_once_whatever_the_order():
    first, second = run(Here(seed=1)), run(Here(seed=2))
    assert sorted(map(repr, (result.point for result in first))) == sorted(map(repr, SMALL.points()))
    assert [result.point for result in first] != [result.point for result in second]
    assert set(first) == set(second)


def test_points_that_cannot_run_come_first_and_reach_no_worker():
    executor = Here()
    results = run(executor)
    refused = [point for point in SMALL.points() if point.problems]
    assert len(refused) == 4
    assert [result.point for result in results[:4]] == refused
    assert all(result.status is PointStatus.REFUSED for result in results[:4])
    assert [result.sentences for result in results[:4]] == [point.problems for point in refused]
    assert not set(refused) & set(executor.asked)


@given(st.integers(0, 12))
def test_a_sweep_that_is_resumed_does_what_is_missing(stopped_after):
    begun = run(Here(stop_after=stopped_after))
    executor = Here(seed=5)
    rest = run(executor, {result.point for result in begun})
    assert len(executor.asked) == 12 - stopped_after
    assert len(begun) + len(rest) == 16
    assert {*begun, *rest} == set(run(Here()))


def test_a_finished_sweep_asks_nobody():
    executor = Here()
    assert run(executor, SMALL.points()) == []
    assert executor.asked == []


def test_the_estimate_of_a_simulation_rests_on_a_measurement():
    tasks = tasks_of(SMALL, sample())
    costs = measured_costs(tasks)
    assert set(costs) == {"1f1b", "vpp"}
    assert all(0 < cost < 0.1 for cost in costs.values())
    small, large = (estimate(tasks[:count], 1, costs) for count in (1, 12))
    assert small.seconds < large.seconds
    assert not large.at_most
    assert forecast(tasks, 2).words.startswith("about ")


def test_the_estimate_of_balancing_is_an_upper_one():
    tasks = tasks_of(replace(SMALL, seconds=5.0), sample())
    found = forecast(tasks, 5)
    assert found.at_most
    assert found.seconds >= 3 * 5.0  # 12 points on 5 workers take three rounds
    assert found.words == "at most 16 s"
    assert Estimate(200.0, at_most=False).words == "about 4 min"
    assert forecast((), 2).seconds == 0
