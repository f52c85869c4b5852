"""A sweep: every point of a grid answered exactly once, on whatever executor."""

from collections.abc import Collection, Iterator
from threading import Event

from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.sweep import PointResult, PointStatus, SweepPoint
from sapp_core.sweep.cluster import DaskCluster
from sapp_core.sweep.crew import LocalCrew
from sapp_core.sweep.executor import Executor, Line
from sapp_core.sweep.grid import Grid
from sapp_core.sweep.work import Task


def executor_for(scheduler: str | None, num_workers: int, line: Line | None = None) -> Executor:
    """The Dask cluster of an address, or processes of this machine without one.

    Args:
        scheduler: its address; None or empty = this machine.
        num_workers: of this machine.
        line: in which the points of this machine stand until it is their turn.

    Raises:
        SappError: so many workers are not possible.
    """
    return DaskCluster(scheduler) if scheduler else LocalCrew(num_workers, line)


def tasks_of(grid: Grid, profile: ModelProfile) -> tuple[Task, ...]:
    """Work for every point that can run, in the order of the grid."""
    return tuple(Task(point, grid.scenario(profile, point)) for point in grid.points() if not point.problems)


def sweep(
    grid: Grid, profile: ModelProfile, executor: Executor, stop: Event, done: Collection[SweepPoint] = ()
) -> Iterator[PointResult]:
    """Results as they come: first those of points that cannot run, then the others in the order they are ready.

    What a result says does not depend on executor, number of workers or order, unless balancing is cut by its time.

    Args:
        grid: of points.
        profile: what is placed at each of them.
        executor: who works.
        stop: ends the sweep within a second once it is set.
        done: points that have their result from an earlier run of the same grid: a sweep is resumed with them.

    Raises:
        SappError: the executor cannot work.
    """
    done = set(done)
    for point in grid.points():
        if point.problems and point not in done:
            yield PointResult(point, PointStatus.REFUSED, sentences=point.problems)
    tasks = [task for task in tasks_of(grid, profile) if task.point not in done]
    if not tasks:
        return
    still_open = {task.point for task in tasks}
    for result in executor.results(tasks, stop):
        # A cluster that loses a worker may answer a point again.
        if result.point in still_open:
            still_open.remove(result.point)
            yield result
