"""A balancing run in a process of its own: `python -m sapp_core.balancer.worker FD`, started by `process`.

FD is one end of a connection. The worker takes one `Job` from it and sends `Progress`, `Improved` and at last `Ended`.
When the other end closes, its owner has gone or lost interest: the worker ends itself and every solver it started.
"""

import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from threading import Thread

from sapp_core.balancer.balance import balance
from sapp_core.balancer.messages import Ended, Improved, Job
from sapp_core.balancer.worker_process import end_own_group
from sapp_core.domain.result import BalanceResult
from sapp_core.errors import SappError
from sapp_core.schedules.registry import make_schedule


def main(descriptor: int) -> None:
    """Do the one job that comes through a file descriptor."""
    connection = Connection(descriptor)
    job: Job = connection.recv()
    Thread(target=_end_with_owner, args=(connection,), daemon=True).start()
    connection.send(Ended(_answer(job, connection)))


def _answer(job: Job, connection: Connection) -> BalanceResult | SappError:
    try:
        return balance(
            job.profile,
            make_schedule(job.schedule_name, job.pipeline),
            job.request,
            progress=connection.send,
            improved=lambda result: connection.send(Improved(result)),
        )
    except SappError as error:
        return error


def _end_with_owner(connection: Connection) -> None:
    """Wait for a message that never comes; the end of the connection is the end of this process group."""
    # An owner that is killed with our messages unread resets the connection instead of closing it.
    with suppress(EOFError, OSError):
        connection.recv()
    end_own_group()


if __name__ == "__main__":
    main(int(sys.argv[1]))
