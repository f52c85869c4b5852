"""Sweeps in the background: one a session, ended when nobody looks at it any more."""

import threading
import time
from dataclasses import dataclass, field, replace

import streamlit as st

from pages.shared.visitor import Patience, connection
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.sweep import PointResult
from sapp_core.errors import SappError
from sapp_core.sweep.executor import Executor
from sapp_core.sweep.grid import Grid
from sapp_core.sweep.run import sweep

_LOOK_EVERY_SECONDS = 1.0
_ENDING_SECONDS = 2.0
_SEEN = "sweep_seen"


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep goes through.

    Attributes:
        grid: of points.
        profile: what is placed, the chosen constant memory included.
    """

    grid: Grid
    profile: ModelProfile


@dataclass(slots=True)
class _Job:
    swept: Swept
    results: list[PointResult]
    resumed_with: int
    begun: float
    asked: float
    connection: str
    stop: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None
    problems: tuple[str, ...] = ()
    ended: float | None = None


@dataclass(frozen=True, slots=True)
class SweepState:
    """What a session sees of its sweep.

    Attributes:
        swept: what it goes through.
        results: so far, in the order they came.
        resumed_with: how many of them an earlier run had found.
        seconds: since it began or was resumed, until it ended.
        ended: whether there is nothing left to wait for.
        problems: sentences on why it ended before its time; empty when it was done or cancelled.
    """

    swept: Swept
    results: tuple[PointResult, ...]
    resumed_with: int
    seconds: float
    ended: bool
    problems: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every point has its result."""
        return len(self.results) >= self.swept.grid.num_points


class SweepJobs:
    """The sweeps of all sessions of this server.

    Args:
        patience: with visitors who left.
    """

    def __init__(self, patience: Patience | None = None) -> None:
        self._patience = patience or Patience()
        self._lock = threading.Lock()
        self._jobs: dict[str, _Job] = {}
        self._watcher: threading.Thread | None = None

    def start(self, session: str, swept: Swept, executor: Executor, done: tuple[PointResult, ...] = ()) -> None:
        """Begin a sweep for a session; one it already has is ended.

        Args:
            session: whose.
            swept: what to go through.
            executor: who works.
            done: results of an earlier run of the same sweep, which are not worked on again.
        """
        self.dismiss(session)
        now = time.monotonic()
        job = _Job(swept, list(done), len(done), begun=now, asked=now, connection=connection())
        job.thread = threading.Thread(target=self._run, args=(job, executor), name="sweep", daemon=True)
        with self._lock:
            self._jobs[session] = job
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="sweep watcher", daemon=True)
                self._watcher.start()
        job.thread.start()

    def poll(self, session: str) -> SweepState | None:
        """State of a session's sweep, None without one."""
        now = time.monotonic()
        with self._lock:
            job = self._jobs.get(session)
            if job is None:
                return None
            job.asked, job.connection = now, connection()
            return SweepState(
                swept=job.swept,
                results=tuple(job.results),
                resumed_with=job.resumed_with,
                seconds=(job.ended or now) - job.begun,
                ended=job.ended is not None,
                problems=job.problems,
            )

    def cancel(self, session: str) -> None:
        """End a session's sweep and its processes now; what is done is kept."""
        with self._lock:
            job = self._jobs.get(session)
        if job is not None:
            _end(job)

    def dismiss(self, session: str) -> None:
        """Forget a session's sweep; one that still works is ended."""
        with self._lock:
            job = self._jobs.pop(session, None)
        if job is not None:
            _end(job)

    def _run(self, job: _Job, executor: Executor) -> None:
        done = {result.point for result in job.results}
        problems: tuple[str, ...] = ()
        try:
            for result in sweep(job.swept.grid, job.swept.profile, executor, job.stop, done):
                with self._lock:
                    job.results.append(result)
        except SappError as error:
            problems = error.problems
        finally:
            with self._lock:
                job.problems, job.ended = problems, time.monotonic()

    def _watch(self) -> None:
        while True:
            time.sleep(_LOOK_EVERY_SECONDS)
            with self._lock:
                if not self._jobs:
                    self._watcher = None
                    return
                over = self._patience.is_over
                left = [session for session, job in self._jobs.items() if over(job.connection, job.asked)]
            for session in left:
                self.dismiss(session)


def _end(job: _Job) -> None:
    """Stop the work; processes of this machine are gone then, a cluster that does not answer is not waited for."""
    job.stop.set()
    if job.thread is not None:
        job.thread.join(_ENDING_SECONDS)


@st.cache_resource(show_spinner=False)
def sweep_jobs() -> SweepJobs:
    """The one registry of this server."""
    return SweepJobs()


def seen_state(session: str) -> SweepState | None:
    """State of this session's sweep; what was seen last when it was ended because nobody looked."""
    state = sweep_jobs().poll(session)
    if state is not None:
        st.session_state[_SEEN] = state
        return state
    seen: SweepState | None = st.session_state.get(_SEEN)
    return None if seen is None else replace(seen, ended=True)
