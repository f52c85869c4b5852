"""Sweeps of sessions in the background."""

import threading

import pytest

from pages.shared.sweep_jobs import SweepJobs, Swept
from pages.shared.visitor import Patience
from sapp_core.errors import SappError
from sapp_core.sweep.work import work_on
from tests.pages.test_jobs import wait_for
from tests.sweep.grids import SMALL, sample

SWEPT = Swept(SMALL, sample())


class Stepwise:
    """An executor that goes on when it is told to, and says when it has ended."""

    def __init__(self, error=None):
        self.steps = threading.Semaphore(0)
        self.asked = []
        self.ended = threading.Event()
        self._error = error

    def results(self, tasks, stop):
        self.asked = [task.point for task in tasks]
        try:
            for task in tasks:
                while not self.steps.acquire(timeout=0.02):
                    if stop.is_set():
                        return
                if self._error:
                    raise self._error
                yield work_on(task)
        finally:
            self.ended.set()


@pytest.fixture
def jobs():
    made = SweepJobs()
    yield made
    made.dismiss("me")


def test_results_are_there_as_they_come(jobs):
    executor = Stepwise()
    jobs.start("me", SWEPT, executor)
    wait_for(lambda: len(jobs.poll("me").results) == 4)  # those that cannot run
    executor.steps.release()
    wait_for(lambda: len(jobs.poll("me").results) == 5)
    state = jobs.poll("me")
    assert not state.ended
    assert not state.complete
    executor.steps.release(11)
    wait_for(lambda: jobs.poll("me").ended)
    assert jobs.poll("me").complete
    assert jobs.poll("you") is None


def test_cancel_keeps_what_is_done_and_resume_does_the_rest(jobs):
    executor = Stepwise()
    jobs.start("me", SWEPT, executor)
    executor.steps.release(3)
    wait_for(lambda: len(jobs.poll("me").results) == 7)
    jobs.cancel("me")
    state = jobs.poll("me")
    assert executor.ended.is_set()
    assert (state.ended, state.complete, len(state.results)) == (True, False, 7)

    rest = Stepwise()
    rest.steps.release(100)
    jobs.start("me", SWEPT, rest, state.results)
    wait_for(lambda: jobs.poll("me").ended)
    state = jobs.poll("me")
    assert state.complete
    assert state.resumed_with == 7
    assert len(rest.asked) == 9
    assert len({result.point for result in state.results}) == 16


def test_why_it_stopped_is_told(jobs):
    executor = Stepwise(SappError("scheduler: it is gone."))
    executor.steps.release(1)
    jobs.start("me", SWEPT, executor)
    wait_for(lambda: jobs.poll("me").ended)
    assert jobs.poll("me").problems == ("scheduler: it is gone.",)
    assert len(jobs.poll("me").results) == 4


def test_a_new_sweep_ends_the_one_before(jobs):
    first = Stepwise()
    jobs.start("me", SWEPT, first)
    jobs.start("me", SWEPT, Stepwise())
    assert first.ended.is_set()


def test_a_sweep_nobody_asks_about_is_ended():
    jobs = SweepJobs(Patience(closed=0.3))
    gone, here = Stepwise(), Stepwise()
    jobs.start("gone", SWEPT, gone)
    jobs.start("here", SWEPT, here)
    wait_for(lambda: jobs.poll("here") and gone.ended.is_set())
    assert not here.ended.is_set()
    jobs.dismiss("here")
    assert here.ended.is_set()


def test_a_sweep_of_an_open_tab_is_waited_for_longer():
    jobs = SweepJobs(Patience(closed=0.1, opened=60.0, is_open=lambda _: True))
    looked_away = Stepwise()
    jobs.start("me", SWEPT, looked_away)
    assert not looked_away.ended.wait(2.5)  # the watcher has looked twice
    jobs.dismiss("me")
    assert looked_away.ended.is_set()
