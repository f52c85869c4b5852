"""Points worked on by processes of this machine; one that dies is replaced and its point done again."""

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import wait
from threading import Event

from sapp_core.balancer.worker_process import WorkerProcess
from sapp_core.domain.sweep import PointResult
from sapp_core.errors import SappError
from sapp_core.sweep.executor import LOOK_SECONDS, MOST_TRIES, Line, NoLine, given_up
from sapp_core.sweep.work import Task

MOST_WORKERS = 256

_MODULE = f"{__package__}.worker"


class LocalCrew:
    """An executor of worker processes that live as long as they have work.

    Args:
        num_workers: at a time.
        line: in which every point stands until it is its turn.

    Raises:
        SappError: so many are not possible.
    """

    def __init__(self, num_workers: int, line: Line | None = None) -> None:
        if not 1 <= num_workers <= MOST_WORKERS:
            raise SappError(f"workers: must lie between 1 and {MOST_WORKERS}, found {num_workers}.")
        self._num_workers = num_workers
        self._line = line or NoLine()

    def results(self, tasks: Sequence[Task], stop: Event) -> Iterator[PointResult]:
        """See `Executor.results`."""
        waiting, tries = deque(tasks), Counter[Task]()
        line, tickets = self._line, deque[object]()
        idle: list[WorkerProcess] = []
        busy: dict[WorkerProcess, tuple[Task, object]] = {}
        try:
            while (waiting or busy) and not stop.is_set():
                while len(tickets) < min(len(waiting), self._num_workers - len(busy)):
                    tickets.append(line.draw())
                while tickets and line.place(tickets[0]) == 0:
                    worker, task = idle.pop() if idle else WorkerProcess(_MODULE), waiting.popleft()
                    busy[worker] = task, tickets.popleft()
                    with suppress(OSError):  # A worker that died meanwhile: waiting for its answer says so.
                        worker.connection.send(task)
                by_connection = {worker.connection: worker for worker in busy}
                for connection in wait(list(by_connection), timeout=LOOK_SECONDS):
                    worker = by_connection[connection]  # type: ignore[index]
                    task, ticket = busy.pop(worker)
                    line.leave(ticket)
                    try:
                        result: PointResult = worker.connection.recv()
                    except (EOFError, OSError):
                        worker.close()
                        tries[task] += 1
                        if tries[task] < MOST_TRIES:
                            waiting.appendleft(task)
                            continue
                        result = given_up(task.point, f"its process ended with status {worker.exit_status}")
                    else:
                        idle.append(worker)
                    yield result
        finally:
            for worker in (*idle, *busy):
                worker.close()
            for ticket in (*tickets, *(ticket for _, ticket in busy.values())):
                line.leave(ticket)
