"""Who works on the points of a sweep: what processes of this machine and a Dask cluster have in common."""

from collections.abc import Iterator, Sequence
from threading import Event
from typing import Protocol

from sapp_core.domain.sweep import PointResult, PointStatus, SweepPoint
from sapp_core.sweep.work import Task

LOOK_SECONDS = 0.2
"""At least so often an executor looks whether it should stop."""

MOST_TRIES = 3
"""A point whose worker died so often is given up: it is probably what kills them."""


class Executor(Protocol):
    """Works on tasks, several at a time."""

    def results(self, tasks: Sequence[Task], stop: Event) -> Iterator[PointResult]:
        """Results as they come, in any order; one for each task, also when workers die meanwhile.

        Ends within a second when `stop` is set or the iterator is closed, and leaves nothing running here.

        Raises:
            SappError: nobody can work on them.
        """
        ...


class Line(Protocol):
    """First come, first served: whose turn it is to work on a machine that others use, too."""

    def draw(self) -> object:
        """A ticket: a place at the end of the line."""
        ...

    def place(self, ticket: object) -> int:
        """How many turns away it is; 0 = it has its turn, until it leaves the line."""
        ...

    def leave(self, ticket: object) -> None:
        """Give up turn or place; again does no harm."""
        ...


class NoLine:
    """Nobody else is there."""

    def draw(self) -> object:
        """See `Line.draw`."""
        return object()

    def place(self, ticket: object) -> int:  # noqa: ARG002
        """See `Line.place`."""
        return 0

    def leave(self, ticket: object) -> None:
        """See `Line.leave`."""


def given_up(point: SweepPoint, why: str) -> PointResult:
    """The result of a point that its workers did not survive."""
    return PointResult(
        point,
        PointStatus.FAILED,
        sentences=(f"Given up after {MOST_TRIES} tries: {why}. The machine may be short of memory for this point.",),
    )
