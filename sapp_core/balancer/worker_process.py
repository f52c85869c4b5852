"""A module of ours in a process of its own: started at once, ended within a second, nothing left behind.

Not `multiprocessing.Process`: its "spawn" runs the main script again, which for a Streamlit page is the page.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from multiprocessing import Pipe
from pathlib import Path
from typing import NoReturn

PROJECT = Path(__file__).parents[2]
"""Where `sapp_core` is found, whatever directory this process works in."""

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""For the small matrix products of a search: its other core is busy, and threads would wait for it."""

DYING_SECONDS = 0.5
"""A killed process needs a moment to be gone."""


class WorkerProcess:
    """A running module, with all processes it starts in one process group.

    Args:
        module: started as `python -m module FD`; FD is its end of the connection.

    Attributes:
        connection: our end.
    """

    def __init__(self, module: str) -> None:
        self._ended = False
        # Solvers write files; one that is killed leaves them, so they get a folder that goes with the worker.
        self._folder = tempfile.TemporaryDirectory(prefix="balance-")
        self.connection, other_end = Pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, str(other_end.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(other_end.fileno(),),
            start_new_session=True,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": _python_path(), "TMPDIR": self._folder.name},
        )
        other_end.close()

    @property
    def pid(self) -> int:
        """Of the worker; also the id of its process group."""
        return self._process.pid

    @property
    def folder(self) -> str:
        """Where its solvers put their files; gone when the worker is."""
        return self._folder.name

    @property
    def exit_status(self) -> int | None:
        """How the process ended, negative for a signal; None before `close`."""
        return self._process.returncode

    def close(self) -> None:
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
        self.connection.close()
        self._folder.cleanup()

    def _signal_group(self, number: int) -> bool:
        """Signal all of the process group; whether there was somebody to signal."""
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):  # macOS: not permitted when only unreaped processes are left
            return False
        return True


def end_own_group() -> NoReturn:
    """For a worker whose owner has gone: end it and every process it started."""
    os.killpg(os.getpgrp(), signal.SIGKILL)
    raise SystemExit


def _python_path() -> str:
    inherited = os.environ.get("PYTHONPATH")
    return os.pathsep.join((str(PROJECT), inherited) if inherited else (str(PROJECT),))
