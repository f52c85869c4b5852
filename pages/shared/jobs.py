"""Balancing runs in their worker processes: one a session, ended when nobody looks at it any more."""

import threading
import time
from dataclasses import dataclass

import streamlit as st

from pages.shared.scenario import Scenario
from sapp_core.balancer.process import BalanceProcess
from sapp_core.domain.result import BalanceResult, Progress
from sapp_core.errors import SappError

PATIENCE_SECONDS = 10.0
"""A run whose page has not asked for so long is ended: the tab was closed or reloaded.

A hidden tab asks at least once a second for its first five minutes, which is the longest time limit a page offers.
"""
_LOOK_EVERY_SECONDS = 1.0

Answer = BalanceResult | SappError


@dataclass(slots=True)
class _Job:
    scenario: Scenario
    process: BalanceProcess
    started: float
    asked: float
    trace: tuple[Progress, ...] = ()


@dataclass(frozen=True, slots=True)
class JobState:
    """What a session sees of its run.

    Attributes:
        scenario: that is being balanced.
        seconds: since it began.
        trace: best and bound so far, whenever they were news.
        answer: result or error once the run has ended; None before, and when it was cancelled before any plan.
    """

    scenario: Scenario
    seconds: float
    trace: tuple[Progress, ...]
    answer: Answer | None


class Jobs:
    """The runs of all sessions of this server.

    Args:
        patience: seconds without a question after which a run is ended.
    """

    def __init__(self, patience: float = PATIENCE_SECONDS) -> None:
        self._patience = patience
        self._lock = threading.Lock()
        self._jobs: dict[str, _Job] = {}
        self._watcher: threading.Thread | None = None

    def start(self, session: str, scenario: Scenario) -> None:
        """Begin a run for a session; a run it already has is ended."""
        self.cancel(session)
        process = BalanceProcess(scenario.profile, scenario.schedule_name, scenario.pipeline, scenario.request)
        now = time.monotonic()
        with self._lock:
            self._jobs[session] = _Job(scenario, process, started=now, asked=now)
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="job watcher", daemon=True)
                self._watcher.start()

    def poll(self, session: str) -> JobState | None:
        """State of a session's run, None without one. The answer is handed out once; then the run is forgotten."""
        now = time.monotonic()
        with self._lock:
            job = self._jobs.get(session)
            if job is None:
                return None
            job.asked = now
            latest = job.process.poll()
            answer = None if latest is None or isinstance(latest, Progress) else latest
            if answer is not None:
                del self._jobs[session]
            elif isinstance(latest, Progress) and _is_news(latest, job.trace):
                job.trace = (*job.trace, latest)
            return JobState(job.scenario, now - job.started, job.trace, answer)

    def is_running(self, session: str) -> bool:
        """Whether a session has a run whose answer it has not taken yet."""
        with self._lock:
            return session in self._jobs

    def cancel(self, session: str) -> JobState | None:
        """End a session's run and all its processes; its last state, with the best plan so far as the answer."""
        with self._lock:
            job = self._jobs.pop(session, None)
        if job is None:
            return None
        best = job.process.cancel()
        return JobState(job.scenario, time.monotonic() - job.started, job.trace, best)

    def _watch(self) -> None:
        while True:
            time.sleep(_LOOK_EVERY_SECONDS)
            with self._lock:
                limit = time.monotonic() - self._patience
                left = [session for session, job in self._jobs.items() if job.asked < limit]
                if not self._jobs:
                    self._watcher = None
                    return
            for session in left:
                self.cancel(session)


def _is_news(latest: Progress, trace: tuple[Progress, ...]) -> bool:
    return not trace or (trace[-1].best, trace[-1].bound) != (latest.best, latest.bound)


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """The one registry of this server."""
    return Jobs()
