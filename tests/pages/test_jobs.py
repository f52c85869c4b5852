"""Runs of sessions in real worker processes."""

import os
import time

import pytest

from pages.shared import jobs as jobs_module
from pages.shared.jobs import Jobs
from pages.shared.sources import sample
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import BalanceResult, Status
from sapp_core.domain.scenario import Scenario

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
    jobs = Jobs()
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
    jobs = Jobs()
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
    jobs = Jobs()
    jobs.start("me", EASY)
    state = ended(jobs, "me")
    jobs.cancel("me")
    assert jobs.poll("me") == state
    jobs.cancel("nobody")


def test_sessions_do_not_see_each_other(started):
    jobs = Jobs()
    jobs.start("me", HARD)
    assert jobs.poll("you") is None
    jobs.cancel("you")
    jobs.dismiss("you")
    assert not jobs.poll("me").ended
    jobs.dismiss("me")
    assert all(map(gone, started))


def test_a_new_run_ends_the_one_before(started):
    jobs = Jobs()
    jobs.start("me", HARD)
    jobs.start("me", EASY)
    assert gone(started[0])
    assert isinstance(ended(jobs, "me").answer, BalanceResult)


def test_a_run_nobody_asks_about_is_ended(started):
    jobs = Jobs(patience=0.3)
    jobs.start("gone", HARD)
    jobs.start("here", HARD)
    wait_for(lambda: jobs.poll("here") and not jobs.has_job("gone"), seconds=20)
    wait_for(lambda: gone(started[0]), seconds=20)
    assert not gone(started[1])
    jobs.dismiss("here")
    assert gone(started[1])
