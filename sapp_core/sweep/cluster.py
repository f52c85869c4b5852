"""Points worked on by a Dask cluster (`distributed`, an optional package that is imported only here and only now)."""

import gc
import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Event
from typing import TYPE_CHECKING
from uuid import uuid4

from sapp_core.domain.sweep import PointResult, PointStatus
from sapp_core.errors import SappError
from sapp_core.sweep.executor import LOOK_SECONDS, given_up
from sapp_core.sweep.work import Task, work_on

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_SECONDS = 5.0
CLOSE_SECONDS = 0.5


class DaskCluster:
    """An executor on the workers of a Dask scheduler.

    A worker that dies is Dask's own business: it gives the points to others. Workers import this package, so they run
    in the same environment as the caller. A point that a worker has begun is worked on to its end there, also after a
    cancel; nobody waits for it.

    Args:
        address: of the scheduler, as `tcp://host:8786`.
    """

    def __init__(self, address: str) -> None:
        self._address = address

    def results(self, tasks: Sequence[Task], stop: Event) -> Iterator[PointResult]:
        """See `Executor.results`."""
        client = self._connected()
        name = f"sapp-sweep-{uuid4().hex}"
        ended: SimpleQueue[tuple[Task, Future]] = SimpleQueue()
        try:
            if not client.scheduler_info(n_workers=1)["workers"]:
                raise SappError(
                    f"scheduler: {self._address} has no workers; start some with `dask worker {self._address}`."
                )
            open_futures = {}
            for number, task in enumerate(tasks):
                future = client.submit(work_on, task, key=f"{name}-{number}", pure=False)
                open_futures[future.key] = future
                future.add_done_callback(lambda future, task=task: ended.put((task, future)))
            while open_futures and not stop.is_set():
                try:
                    task, future = ended.get(timeout=LOOK_SECONDS)
                except Empty:
                    self._check_connection(client)
                    continue
                if stop.is_set():
                    return
                yield self._result(task, future)
                # Lets the worker forget its copy.
                open_futures.pop(future.key).release()
        finally:
            with suppress(Exception):
                # Whatever goes wrong now, the cluster has to forget the rest on its own.
                client.cancel(list(open_futures.values()), force=True)
            client.close(timeout=CLOSE_SECONDS)

    def _connected(self) -> "Client":
        try:
            from distributed import Client  # noqa: PLC0415 (optional, and slow to import)
        except ImportError as error:
            raise SappError(
                "scheduler: sweeps on a cluster need the package distributed; install it with "
                '`pip install "distributed>=2025"` or leave the address out.'
            ) from error
        # Dask writes its own view of a lost connection, with tracebacks; what our caller is told is one sentence.
        for handler in logging.getLogger("distributed").handlers:
            handler.setLevel(logging.CRITICAL)
        # TimeoutError is an OSError; an unknown protocol is a ValueError or lacks its module.
        with suppress(OSError, ValueError, ImportError):
            return Client(self._address, timeout=CONNECT_SECONDS, set_as_default=False)
        # Half a client is left in a circle of references. Its end waits for its thread: here and now, and not in the
        # thread of the next client, which would then seem not to start.
        gc.collect()
        raise SappError(
            f"scheduler: no Dask scheduler answers at {self._address!r}; an address looks like tcp://host:8786."
        )

    def _check_connection(self, client: "Client") -> None:
        if client.status in {"closed", "closing", "newly-created"} or client.scheduler_comm is None:
            raise SappError(f"scheduler: the connection to {self._address} was lost; what is done is kept.")

    def _result(self, task: Task, future: "Future") -> PointResult:
        if future.status == "cancelled":
            raise SappError(f"scheduler: the connection to {self._address} was lost; what is done is kept.")
        error = future.exception()
        if error is None:
            result: PointResult = future.result()
            return result
        if type(error).__name__ == "KilledWorker":
            return given_up(task.point, "it ended the workers that took it")
        if isinstance(error, ImportError):
            raise SappError(
                f"scheduler: the workers of {self._address} cannot import what they need ({error}); start them in the "
                "environment and folder of this program."
            )
        return PointResult(
            task.point, PointStatus.FAILED, sentences=(f"The worker reported {type(error).__name__}: {error}",)
        )
