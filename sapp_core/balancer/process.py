"""Balancing in the background: started at once, asked now and then, ended within a second, nothing left behind.

Not `multiprocessing.Process`: its "spawn" runs the main script again, which for a Streamlit page is the page.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from multiprocessing import Pipe
from pathlib import Path
from types import TracebackType
from typing import Self

from sapp_core.balancer.messages import Ended, Improved, Job
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import BalanceResult, Progress
from sapp_core.errors import SappError, SolverError

PROJECT = Path(__file__).parents[2]
"""Where `sapp_core` is found, whatever directory this process works in."""

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""For the small matrix products of a search: its other core is busy with the proof, and threads would wait for it."""

DYING_SECONDS = 0.5
"""A killed process needs a moment to be gone."""


class BalanceProcess:
    """One balancing run in a process of its own, with all solvers it starts in one process group.

    Args:
        profile: what to place.
        schedule_name: as registered; a name that is not known is an answer, not an exception.
        pipeline: where.
        request: limits and choices.
    """

    def __init__(self, profile: ModelProfile, schedule_name: str, pipeline: Pipeline, request: BalanceRequest) -> None:
        self._latest: Progress | BalanceResult | SappError | None = None
        self._best: BalanceResult | None = None
        self._ended = False
        # Solvers write files; one that is killed leaves them, so they get a folder that goes with the run.
        self._folder = tempfile.TemporaryDirectory(prefix="balance-")
        self._connection, other_end = Pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"{__package__}.worker", str(other_end.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(other_end.fileno(),),
            start_new_session=True,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": _python_path(), "TMPDIR": self._folder.name},
        )
        other_end.close()
        with suppress(BrokenPipeError):  # The worker died at once; the first poll says so.
            self._connection.send(Job(profile, schedule_name, pipeline, request))

    @property
    def best(self) -> BalanceResult | None:
        """The best plan known at the last poll: found on the way, or in the end the answer's."""
        return self._best

    @property
    def pid(self) -> int:
        """Of the worker; also the id of its process group."""
        return self._process.pid

    @property
    def folder(self) -> str:
        """Where its solvers put their files; gone when the run is."""
        return self._folder.name

    def poll(self) -> Progress | BalanceResult | SappError | None:
        """The latest news without waiting: None before the first, then progress, at last and for ever the answer."""
        try:
            while not self._ended and self._connection.poll():
                self._take(self._connection.recv())
        except (EOFError, OSError):
            self._close()
            self._latest = SolverError(
                f"solver: the balancing process ended before its answer (exit status {self._process.returncode})."
            )
        return self._latest

    def cancel(self) -> BalanceResult | None:
        """End the run and all its processes now; the best plan so far, None without one."""
        self.poll()
        self._close()
        return self._best

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _take(self, message: object) -> None:
        if isinstance(message, Progress):
            self._latest = message
        elif isinstance(message, Improved):
            self._best = message.result
        elif isinstance(message, Ended):
            self._latest = message.answer
            if isinstance(message.answer, BalanceResult) and message.answer.plan is not None:
                self._best = message.answer
            self._close()

    def _close(self) -> None:
        """Kill what is left of the process group, reap it, and let go of everything."""
        if self._ended:
            return
        self._ended = True
        self._signal_group(signal.SIGKILL)
        self._process.wait()
        # A solver is not our own child: nobody tells us when it has died, and until then it may write files.
        deadline = time.monotonic() + DYING_SECONDS
        while self._signal_group(0) and time.monotonic() < deadline:
            time.sleep(0.005)
        self._connection.close()
        self._folder.cleanup()

    def _signal_group(self, number: int) -> bool:
        """Signal all of the process group; whether there was somebody to signal."""
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):  # macOS: not permitted when only unreaped processes are left
            return False
        return True


def _python_path() -> str:
    inherited = os.environ.get("PYTHONPATH")
    return os.pathsep.join((str(PROJECT), inherited) if inherited else (str(PROJECT),))
