"""The command `sweep`: from its options to a grid and its results."""

import argparse
from collections.abc import Iterator
from threading import Event

from sapp_core.domain.pipeline import Pipeline, Remainder
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.result import Objective
from sapp_core.domain.sweep import PointResult
from sapp_core.errors import SappError
from sapp_core.sweep.estimate import forecast, usable_cores
from sapp_core.sweep.grid import Grid
from sapp_core.sweep.ranges import NO_LIMIT, read_lists
from sapp_core.sweep.run import executor_for, sweep, tasks_of


def grid_of(options: argparse.Namespace, profile: ModelProfile) -> Grid:
    """The grid that the options describe.

    Raises:
        SappError: with what is wrong with the lists, or with the grid they make.
    """
    usual = NO_LIMIT if profile.memory_limit_mb is None else str(profile.memory_limit_mb)
    problems: list[str] = []
    objectives = []
    for name in _names(options.objective):
        try:
            objectives.append(Objective(name))
        except ValueError:
            problems.append(f"objective: {name!r} is not known; choose from {', '.join(Objective)}.")
    try:
        lists = read_lists(
            stages=options.num_stages,
            chunks=options.num_chunks,
            micro_batches=options.num_micro_batches,
            sequence_splits=options.num_sequence_splits,
            memory_limits=options.memory_limit_mb or usual,
        )
    except SappError as error:
        raise SappError(*error.problems, *problems) from error
    if problems:
        raise SappError(*problems)
    known = profile.training.batch_size if profile.training else None
    return Grid(
        schedules=_names(options.schedule),
        stages=lists.stages,
        micro_batches=lists.micro_batches,
        chunks=lists.chunks,
        sequence_splits=lists.sequence_splits,
        memory_limits_mb=lists.memory_limits_mb,
        objectives=tuple(objectives),
        devices=options.devices,
        global_batch=options.global_batch,
        data_parallel=options.data_parallel,
        micro_batch_size=options.micro_batch_size or known or 1,
        knobs=Pipeline(
            num_stages=1,
            num_micro_batches=1,
            group_size=options.group_size,
            remainder=Remainder(options.remainder),
            p2p_time=options.p2p_time,
            overlap_efficiency=options.overlap_efficiency,
            input_gradient_share=options.input_gradient_share,
            weight_gradient_memory_share=options.weight_gradient_memory_share,
        ),
        seconds=options.time_limit,
        seed=options.seed,
    )


def plan_words(grid: Grid, profile: ModelProfile, options: argparse.Namespace) -> str:
    """What is about to be done, as one line: points, those that cannot run, and an estimate of the time."""
    tasks = tasks_of(grid, profile)
    refused = grid.num_points - len(tasks)
    words = f"{grid.num_points:,} points" + (f", {refused:,} of which cannot run" if refused else "")
    if options.scheduler or not tasks:
        return f"{words}."
    workers = _workers(options)
    processes = f"{workers} worker process{'' if workers == 1 else 'es'}"
    return f"{words}; estimated to take {forecast(tasks, workers).words} with {processes}."


def results_of(grid: Grid, profile: ModelProfile, options: argparse.Namespace) -> Iterator[PointResult]:
    """Results as they come.

    Raises:
        SappError: nobody can work on them.
    """
    return sweep(grid, profile, executor_for(options.scheduler, _workers(options)), Event())


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _workers(options: argparse.Namespace) -> int:
    return usable_cores() if options.workers is None else int(options.workers)
