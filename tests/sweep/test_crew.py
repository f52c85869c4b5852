"""Points on processes of this machine. Waiting here has no time limits of its own: what hangs, hangs the tests."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from threading import Event, Timer

import pytest

from sapp_core.domain.sweep import PointStatus
from sapp_core.errors import SappError
from sapp_core.sweep import crew as crew_module
from sapp_core.sweep.crew import LocalCrew
from sapp_core.sweep.executor import MOST_TRIES
from sapp_core.sweep.run import sweep, tasks_of
from sapp_core.sweep.work import work_on
from tests.balancer.test_process import group, until
from tests.sweep.grids import LONG, SMALL, sample

ENDLESS = replace(SMALL, schedules=("vpp",), stages=(16,), micro_batches=(64,), chunks=(4,), seconds=3600.0)
"""A point that nobody can prove optimal in time."""


@pytest.fixture
def hired(monkeypatch):
    """All workers that were started."""
    workers = []
    start = crew_module.WorkerProcess

    def recorded(module):
        workers.append(start(module))
        return workers[-1]

    monkeypatch.setattr(crew_module, "WorkerProcess", recorded)
    return workers


def test_the_results_are_those_of_this_process(hired):
    results = list(sweep(SMALL, sample(), LocalCrew(2), Event()))
    assert len(results) == 16
    expected = {work_on(task) for task in tasks_of(SMALL, sample())}
    assert {result for result in results if result.status is not PointStatus.REFUSED} == expected
    assert len(hired) == 2
    assert [group(worker.pid) for worker in hired] == [[], []]


def test_no_more_workers_than_points(hired):
    grid = replace(SMALL, schedules=("1f1b",), stages=(4,), chunks=(1,), memory_limits_mb=(56e3,))
    assert len(list(sweep(grid, sample(), LocalCrew(8), Event()))) == 1
    assert len(hired) == 1


def test_a_worker_killed_at_its_work_is_replaced_and_nothing_is_lost_or_doubled(hired):
    results = []
    for result in sweep(LONG, sample(), LocalCrew(2), Event()):
        results.append(result)
        if len(results) in {1, 3}:
            # The last one hired is at work: there are points left.
            os.kill(hired[-1].pid, signal.SIGKILL)
    assert sorted(map(repr, (result.point for result in results))) == sorted(map(repr, LONG.points()))
    assert all(result.fits for result in results)
    assert len(hired) == 4
    assert set(results) == {work_on(task) for task in tasks_of(LONG, sample())}


def test_a_point_that_kills_its_workers_is_given_up_and_the_others_are_done(hired, monkeypatch):
    grid = replace(LONG, micro_batches=(128,), chunks=(2, 4))
    first, second = grid.points()

    def deadly(module, start=crew_module.WorkerProcess):
        worker = start(module)
        real = worker.connection.send

        class Deadly:
            def __getattr__(self, name):
                return getattr(worker_connection, name)

            def send(self, task):
                real(task)
                if task.point == first:
                    os.kill(worker.pid, signal.SIGKILL)

        worker_connection = worker.connection
        worker.connection = Deadly()
        return worker

    monkeypatch.setattr(crew_module, "WorkerProcess", deadly)
    results = {result.point: result for result in sweep(grid, sample(), LocalCrew(1), Event())}
    assert results[first].status is PointStatus.FAILED
    assert f"Given up after {MOST_TRIES} tries: its process ended with status -9" in results[first].sentences[0]
    assert results[second].fits
    assert len(hired) == MOST_TRIES + 1


class RecordedLine:
    """One turn at a time."""

    def __init__(self):
        self.line = []

    def draw(self):
        self.line.append(object())
        return self.line[-1]

    def place(self, ticket):
        return self.line.index(ticket)

    def leave(self, ticket):
        self.line.remove(ticket)


def test_points_stand_in_a_line_with_the_work_of_others(hired):
    line = RecordedLine()
    before_us = line.draw()
    Timer(0.5, line.leave, [before_us]).start()
    results = []
    for result in sweep(SMALL, sample(), LocalCrew(4, line), Event()):
        # Points that cannot run are told at once; nobody works before the other one has left.
        assert result.status is PointStatus.REFUSED or before_us not in line.line
        results.append(result)
    assert len(results) == SMALL.num_points
    assert len(hired) == 1
    assert not line.line


def test_whoever_stops_waiting_leaves_the_line(hired):
    line = RecordedLine()
    before_us, stop = line.draw(), Event()
    Timer(0.5, stop.set).start()
    assert list(LocalCrew(2, line).results(tasks_of(LONG, sample()), stop)) == []
    assert line.line == [before_us]
    assert not hired


@pytest.mark.parametrize("grid", [LONG, ENDLESS], ids=["simulating", "balancing"])
def test_cancel_ends_the_work_at_once(hired, grid):
    stop = Event()
    cancelled = []

    def cancel():
        cancelled.append(time.monotonic())
        stop.set()

    timer = Timer(0.5, cancel)
    timer.start()
    results = list(sweep(grid, sample(), LocalCrew(2), stop))
    ended = time.monotonic()
    timer.join()
    if cancelled and len(results) < grid.num_points:
        assert ended - cancelled[0] < 5  # the promise is 1 s on a machine that is not busy
    assert grid is LONG or not results
    assert all(group(worker.pid) == [] for worker in hired)
    assert not any(Path(worker.folder).exists() for worker in hired)


def test_closing_the_results_ends_the_work(hired):
    results = LocalCrew(2).results(tasks_of(LONG, sample()), Event())
    assert next(results).fits
    results.close()
    assert all(group(worker.pid) == [] for worker in hired)


def test_a_cancelled_sweep_is_resumed(hired):
    stop = Event()
    begun = []
    for result in sweep(LONG, sample(), LocalCrew(2), stop):
        begun.append(result)
        if len(begun) == 3:
            stop.set()
    assert 3 <= len(begun) < LONG.num_points
    rest = list(sweep(LONG, sample(), LocalCrew(2), Event(), [result.point for result in begun]))
    assert len(begun) + len(rest) == LONG.num_points
    assert {result.point for result in (*begun, *rest)} == set(LONG.points())


def test_the_workers_end_when_their_owner_is_killed():
    script = (
        "import os\n"
        "from threading import Event, Thread\n"
        "from sapp_core.sweep import crew\n"
        "from sapp_core.sweep.run import sweep\n"
        "from tests.sweep.grids import sample\n"
        "from tests.sweep.test_crew import ENDLESS\n"
        "start = crew.WorkerProcess\n"
        "def told(module):\n"
        "    worker = start(module)\n"
        "    print(worker.pid, flush=True)\n"
        "    return worker\n"
        "crew.WorkerProcess = told\n"
        "list(sweep(ENDLESS, sample(), crew.LocalCrew(2), Event()))\n"
    )
    root = Path(__file__).parents[2]
    owner = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=root)
    pids = [int(owner.stdout.readline()) for _ in range(2)]
    assert all(map(group, pids))
    owner.kill()
    owner.wait()
    owner.stdout.close()
    until(lambda: not any(map(group, pids)))


@pytest.mark.parametrize("count", [0, -1, 1000])
def test_an_impossible_number_of_workers_is_refused(count):
    with pytest.raises(SappError, match=f"workers: must lie between 1 and 256, found {count}."):
        LocalCrew(count)
