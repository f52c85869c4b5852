"""Balancing runs in their worker processes: one a session, ended when nobody looks at it any more."""

import threading
import time
from dataclasses import dataclass

import streamlit as st

from sapp_core.balancer.process import BalanceProcess
from sapp_core.domain.result import BalanceResult, Progress
from sapp_core.domain.scenario import Scenario
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
    cancelled: bool = False
    answer: Answer | None = None
    ended: float | None = None


@dataclass(frozen=True, slots=True)
class JobState:
    """What a session sees of its run.

    Attributes:
        scenario: that is being balanced.
        seconds: since it began, until it ended.
        trace: best and bound so far, whenever they were news.
        best: the best plan so far, rated; None before the first.
        ended: whether there is nothing left to wait for.
        cancelled: whether it was ended by the user.
        answer: result or error of a run that ended by itself; of a cancelled one the best plan, if there was any.
    """

    scenario: Scenario
    seconds: float
    trace: tuple[Progress, ...]
    best: BalanceResult | None
    ended: bool
    cancelled: bool
    answer: Answer | None


class Jobs:
    """The runs of all sessions of this server.

    An answer is kept until the session says that it has it: Streamlit may break off a script at any moment, between
    asking for the answer and storing it too.

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
        self.dismiss(session)
        process = BalanceProcess(scenario.profile, scenario.schedule_name, scenario.pipeline, scenario.request)
        now = time.monotonic()
        with self._lock:
            self._jobs[session] = _Job(scenario, process, started=now, asked=now)
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="job watcher", daemon=True)
                self._watcher.start()

    def has_job(self, session: str) -> bool:
        """Whether a session has a run it has not dismissed."""
        with self._lock:
            return session in self._jobs

    def poll(self, session: str) -> JobState | None:
        """State of a session's run, None without one."""
        now = time.monotonic()
        with self._lock:
            job = self._jobs.get(session)
            if job is None:
                return None
            job.asked = now
            latest = None if job.ended else job.process.poll()
            if isinstance(latest, Progress):
                job.trace = (*job.trace, latest) if _is_news(latest, job.trace) else job.trace
            elif latest is not None:
                job.answer, job.ended = latest, now
            return JobState(
                scenario=job.scenario,
                seconds=(job.ended or now) - job.started,
                trace=job.trace,
                best=job.process.best,
                ended=job.ended is not None,
                cancelled=job.cancelled,
                answer=job.answer,
            )

    def cancel(self, session: str) -> None:
        """End a session's run and all its processes now; the best plan so far becomes its answer."""
        with self._lock:
            job = self._jobs.get(session)
            if job is not None and job.ended is None:
                job.answer, job.cancelled, job.ended = job.process.cancel(), True, time.monotonic()

    def dismiss(self, session: str) -> None:
        """Forget a session's run; one that still works is ended."""
        with self._lock:
            job = self._jobs.pop(session, None)
        if job is not None:
            job.process.cancel()

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
                self.dismiss(session)


def _is_news(latest: Progress, trace: tuple[Progress, ...]) -> bool:
    return not trace or (trace[-1].best, trace[-1].bound) != (latest.best, latest.bound)


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """The one registry of this server."""
    return Jobs()
