"""Runs of sessions in real worker processes."""

import os
import time

import pytest

from pages.shared import jobs as jobs_module
from pages.shared.jobs import Jobs
from pages.shared.sources import sample
from pages.shared.turns import Turns
from pages.shared.visitor import Patience
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import BalanceResult, Status
from sapp_core.domain.scenario import Scenario
from sapp_core.errors import SolverError

EASY = Scenario(sample("small32").profile, "1f1b", Pipeline(4, 8), BalanceRequest(12_000.0))
HARD = Scenario(sample("sim192").profile, "vpp", Pipeline(16, 16, 3), BalanceRequest(53_000.0))


@pytest.fixture
def started(monkeypatch):
    """Process groups of all runs begun."""
    pids = []
    start = jobs_module.BalanceProcess.__init__

    def recorded(self, *args):
        start(self, *args)
        pids.append(self.pid)

    monkeypatch.setattr(jobs_module.BalanceProcess, "__init__", recorded)
    return pids


def gone(pid):
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return True
    return False


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def ended(jobs, session):
    states = []
    wait_for(lambda: states.append(jobs.poll(session)) or states[-1].ended)
    return states[-1]


def test_an_answer_is_kept_until_it_is_dismissed(started):
    jobs = Jobs(Turns(8))
    jobs.start("me", EASY)
    assert jobs.has_job("me")
    state = ended(jobs, "me")
    assert isinstance(state.answer, BalanceResult)
    assert state.answer.status is Status.OPTIMAL
    assert not state.cancelled
    assert all(map(gone, started))
    assert jobs.poll("me") == state
    jobs.dismiss("me")
    assert not jobs.has_job("me")
    assert jobs.poll("me") is None


def test_cancel_ends_the_processes_and_answers_with_what_was_found(started):
    jobs = Jobs(Turns(8))
    jobs.start("me", HARD)
    wait_for(lambda: (trace := jobs.poll("me").trace) and trace[-1].best is not None)
    jobs.cancel("me")
    assert all(map(gone, started))
    state = jobs.poll("me")
    assert state.ended
    assert state.cancelled
    assert state.answer is None or state.answer.plan is not None
    assert state.scenario == HARD


def test_cancelling_what_has_ended_changes_nothing(started):
    jobs = Jobs(Turns(8))
    jobs.start("me", EASY)
    state = ended(jobs, "me")
    jobs.cancel("me")
    assert jobs.poll("me") == state
    jobs.cancel("nobody")


def test_sessions_do_not_see_each_other(started):
    jobs = Jobs(Turns(8))
    jobs.start("me", HARD)
    assert jobs.poll("you") is None
    jobs.cancel("you")
    jobs.dismiss("you")
    assert not jobs.poll("me").ended
    jobs.dismiss("me")
    assert all(map(gone, started))


def test_a_new_run_ends_the_one_before(started):
    jobs = Jobs(Turns(8))
    jobs.start("me", HARD)
    jobs.start("me", EASY)
    assert gone(started[0])
    assert isinstance(ended(jobs, "me").answer, BalanceResult)


def test_a_run_nobody_asks_about_is_ended(started):
    jobs = Jobs(Turns(8), Patience(closed=0.3))
    jobs.start("gone", HARD)
    jobs.start("here", HARD)
    wait_for(lambda: jobs.poll("here") and not jobs.has_job("gone"), seconds=20)
    wait_for(lambda: gone(started[0]), seconds=20)
    assert not gone(started[1])
    jobs.dismiss("here")
    assert gone(started[1])


def test_more_runs_than_turns_queue_in_order(started):
    jobs = Jobs(Turns(1))
    for session in ("first", "second", "third"):
        jobs.start(session, EASY)
    assert [jobs.poll(session).place for session in ("second", "third")] == [1, 2]
    assert len(started) == 1
    assert jobs.poll("third").seconds == 0.0
    for session in ("first", "second", "third"):
        assert isinstance(ended(jobs, session).answer, BalanceResult)
    assert len(started) == 3
    assert all(map(gone, started))


def test_the_time_of_a_run_counts_from_its_turn(started):
    jobs = Jobs(Turns(1))
    jobs.start("first", HARD)
    jobs.start("second", EASY)
    time.sleep(1.0)
    assert jobs.poll("second").seconds == 0.0
    jobs.dismiss("first")
    state = jobs.poll("second")
    assert state.place == 0
    assert state.seconds < 1.0
    assert isinstance(ended(jobs, "second").answer, BalanceResult)


def test_cancel_leaves_the_queue(started):
    jobs = Jobs(Turns(1))
    for session in ("first", "second", "third"):
        jobs.start(session, HARD)
    jobs.cancel("second")
    state = jobs.poll("second")
    assert state.ended
    assert state.cancelled
    assert state.answer is None
    assert jobs.poll("third").place == 1
    jobs.cancel("first")
    wait_for(lambda: len(started) == 2)  # The next one begins without being asked about.
    assert jobs.poll("third").place == 0
    jobs.dismiss("third")
    assert all(map(gone, started))


def test_who_has_left_frees_turn_and_place(started):
    jobs = Jobs(Turns(1), Patience(closed=0.5))
    for session in ("left", "left too", "here"):
        jobs.start(session, HARD)
    wait_for(lambda: jobs.poll("here").place == 0, seconds=20)
    assert not jobs.has_job("left")
    assert not jobs.has_job("left too")
    assert all(map(gone, started[:-1]))
    assert not gone(started[-1])
    jobs.dismiss("here")
    assert gone(started[-1])


def test_a_silent_tab_that_is_still_open_keeps_its_run(started):
    jobs = Jobs(Turns(8), Patience(closed=0.2, opened=1.5, is_open=lambda _: True))
    jobs.start("hidden", HARD)
    time.sleep(0.9)
    assert jobs.has_job("hidden")
    wait_for(lambda: not jobs.has_job("hidden"), seconds=20)
    wait_for(lambda: gone(started[0]), seconds=20)


def test_a_server_that_can_start_no_process_says_so(monkeypatch):
    def full(self, *args):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(jobs_module.BalanceProcess, "__init__", full)
    jobs = Jobs(Turns(1))
    jobs.start("me", EASY)
    state = jobs.poll("me")
    assert state.ended
    assert isinstance(state.answer, SolverError)
    assert "Resource temporarily unavailable" in str(state.answer)
    ticket = jobs.turns.draw()
    assert jobs.turns.place(ticket) == 0  # Its turn is free again.
