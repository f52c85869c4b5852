"""A worker of a `LocalCrew`: `python -m sapp_core.sweep.worker FD`.

FD is one end of a connection. The worker takes tasks from it, one after the other, and sends a result for each. When
the other end closes, its owner has gone or lost interest: the worker ends itself and everything it started.
"""

import sys
from multiprocessing.connection import Connection
from queue import SimpleQueue
from threading import Thread

from sapp_core.balancer.worker_process import end_own_group
from sapp_core.sweep.work import Task, work_on


def main(descriptor: int) -> None:
    """Work until the owner has gone."""
    connection = Connection(descriptor)
    tasks: SimpleQueue[Task] = SimpleQueue()
    # Listening never stops, so that the end of the connection is heard in the middle of a task too.
    Thread(target=_listen, args=(connection, tasks), daemon=True).start()
    while True:
        connection.send(work_on(tasks.get()))


def _listen(connection: Connection, tasks: "SimpleQueue[Task]") -> None:
    try:
        while True:
            tasks.put(connection.recv())
    except (EOFError, OSError):
        end_own_group()


if __name__ == "__main__":
    main(int(sys.argv[1]))
