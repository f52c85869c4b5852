"""Balancing runs in their worker processes: one a session, in turn, ended when nobody looks at it any more."""

import threading
import time
from dataclasses import dataclass, field

import streamlit as st

from pages.shared.turns import Turns, turns
from pages.shared.visitor import Patience, connection
from sapp_core.balancer.process import BalanceProcess
from sapp_core.domain.result import BalanceResult, Progress
from sapp_core.domain.scenario import Scenario
from sapp_core.errors import SappError, SolverError

_LOOK_EVERY_SECONDS = 0.25

Answer = BalanceResult | SappError


@dataclass(slots=True)
class _Job:
    scenario: Scenario
    ticket: object
    connection: str
    asked: float
    lock: threading.Lock = field(default_factory=threading.Lock)
    process: BalanceProcess | None = None
    started: float = 0.0
    trace: tuple[Progress, ...] = ()
    cancelled: bool = False
    answer: Answer | None = None
    ended: float | None = None


@dataclass(frozen=True, slots=True)
class JobState:
    """What a session sees of its run.

    Attributes:
        scenario: that is being balanced.
        place: in the queue, 1 = next; 0 once it runs.
        seconds: since it began to run, until it ended.
        trace: best and bound so far, whenever they were news.
        best: the best plan so far, rated; None before the first.
        ended: whether there is nothing left to wait for.
        cancelled: whether it was ended by the user.
        answer: result or error of a run that ended by itself; of a cancelled one the best plan, if there was any.
    """

    scenario: Scenario
    place: int
    seconds: float
    trace: tuple[Progress, ...]
    best: BalanceResult | None
    ended: bool
    cancelled: bool
    answer: Answer | None


class Jobs:
    """The runs of all sessions of this server.

    An answer is kept until the session says that it has it: Streamlit may break off a script at any moment, between
    asking for the answer and storing it too. A run that waits for its turn has no process yet.

    Args:
        turns: who may run.
        patience: with visitors who left.
    """

    def __init__(self, turns: Turns, patience: Patience | None = None) -> None:
        self.turns = turns
        self._patience = patience or Patience()
        self._lock = threading.Lock()
        self._jobs: dict[str, _Job] = {}
        self._watcher: threading.Thread | None = None

    def start(self, session: str, scenario: Scenario) -> None:
        """Begin a run for a session, or queue it; a run it already has is ended."""
        self.dismiss(session)
        job = _Job(scenario, self.turns.draw(), connection(), asked=time.monotonic())
        with self._lock:
            self._jobs[session] = job
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="job watcher", daemon=True)
                self._watcher.start()
        self._advance(job)

    def has_job(self, session: str) -> bool:
        """Whether a session has a run it has not dismissed."""
        with self._lock:
            return session in self._jobs

    def waits(self, session: str) -> bool:
        """Whether a session's run is in the queue."""
        with self._lock:
            job = self._jobs.get(session)
        return job is not None and job.process is None and job.ended is None

    def poll(self, session: str) -> JobState | None:
        """State of a session's run, None without one."""
        now = time.monotonic()
        with self._lock:
            job = self._jobs.get(session)
            if job is None:
                return None
            job.asked, job.connection = now, connection()
        self._advance(job)
        with job.lock:
            waits = job.process is None and job.ended is None
            return JobState(
                scenario=job.scenario,
                place=self.turns.place(job.ticket) if waits else 0,
                seconds=(job.ended or time.monotonic()) - job.started if job.process else 0.0,
                trace=job.trace,
                best=job.process.best if job.process else None,
                ended=job.ended is not None,
                cancelled=job.cancelled,
                answer=job.answer,
            )

    def cancel(self, session: str) -> None:
        """End a session's run and all its processes now; the best plan so far becomes its answer."""
        with self._lock:
            job = self._jobs.get(session)
        if job is not None:
            self._end(job)

    def dismiss(self, session: str) -> None:
        """Forget a session's run; one that still works or waits is ended."""
        with self._lock:
            job = self._jobs.pop(session, None)
        if job is not None:
            self._end(job)

    def _dismiss_left(self, session: str, job: _Job) -> None:
        """Forget this run, but not one that its session has begun since."""
        with self._lock:
            if self._jobs.get(session) is job:
                del self._jobs[session]
        self._end(job)

    def _advance(self, job: _Job) -> None:
        """Start a run whose turn it is; take the news of one that works."""
        with job.lock:
            if job.ended is not None:
                return
            if job.process is None:
                if self.turns.place(job.ticket) == 0:
                    self._begin(job)
                return
            latest = job.process.poll()
            if isinstance(latest, Progress):
                job.trace = (*job.trace, latest) if _is_news(latest, job.trace) else job.trace
            elif latest is not None:
                job.answer, job.ended = latest, time.monotonic()
                self.turns.leave(job.ticket)

    def _begin(self, job: _Job) -> None:
        asked = job.scenario
        job.started = time.monotonic()
        try:
            job.process = BalanceProcess(asked.profile, asked.schedule_name, asked.pipeline, asked.request)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            job.answer = SolverError(f"solver: this server cannot start another process now ({reason}); try again.")
            job.ended = job.started
            self.turns.leave(job.ticket)

    def _end(self, job: _Job) -> None:
        with job.lock:
            if job.ended is None:
                job.answer = job.process.cancel() if job.process else None
                job.cancelled, job.ended = True, time.monotonic()
            self.turns.leave(job.ticket)

    def _watch(self) -> None:
        """Turns come and visitors go, whether or not a page asks at that moment."""
        while True:
            time.sleep(_LOOK_EVERY_SECONDS)
            with self._lock:
                if not self._jobs:
                    self._watcher = None
                    return
                found = tuple(self._jobs.items())
            for session, job in found:
                if self._patience.is_over(job.connection, job.asked):
                    self._dismiss_left(session, job)
            for _, job in found:
                self._advance(job)


def _is_news(latest: Progress, trace: tuple[Progress, ...]) -> bool:
    return not trace or (trace[-1].best, trace[-1].bound) != (latest.best, latest.bound)


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """The one registry of this server."""
    return Jobs(turns())
