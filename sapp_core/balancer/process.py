"""Balancing in the background: started at once, asked now and then, ended within a second, nothing left behind."""

from contextlib import suppress
from types import TracebackType
from typing import Self

from sapp_core.balancer.messages import Ended, Improved, Job
from sapp_core.balancer.worker_process import WorkerProcess
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import BalanceResult, Progress
from sapp_core.errors import SappError, SolverError


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
        self._worker = WorkerProcess(f"{__package__}.worker")
        with suppress(BrokenPipeError):  # The worker died at once; the first poll says so.
            self._worker.connection.send(Job(profile, schedule_name, pipeline, request))

    @property
    def best(self) -> BalanceResult | None:
        """The best plan known at the last poll: found on the way, or in the end the answer's."""
        return self._best

    @property
    def pid(self) -> int:
        """Of the worker; also the id of its process group."""
        return self._worker.pid

    @property
    def folder(self) -> str:
        """Where its solvers put their files; gone when the run is."""
        return self._worker.folder

    def poll(self) -> Progress | BalanceResult | SappError | None:
        """The latest news without waiting: None before the first, then progress, at last and for ever the answer."""
        try:
            while not self._ended and self._worker.connection.poll():
                self._take(self._worker.connection.recv())
        except (EOFError, OSError):
            self._close()
            self._latest = SolverError(
                f"solver: the balancing process ended before its answer (exit status {self._worker.exit_status})."
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
        self._ended = True
        self._worker.close()
