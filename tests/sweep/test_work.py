"""What is found at one point."""

from dataclasses import replace

import pytest

from sapp_core.balancer.balance import balance
from sapp_core.domain.plan import even_split
from sapp_core.domain.profile import RecomputeMode
from sapp_core.domain.result import Status
from sapp_core.domain.sweep import PointStatus
from sapp_core.schedules.registry import make_schedule
from sapp_core.study import evaluate
from sapp_core.sweep.grid import Grid
from sapp_core.sweep.run import tasks_of
from sapp_core.sweep.work import work_on
from tests.sweep.grids import sample


def found(profile=None, **values):
    grid = Grid(**{"schedules": ("1f1b",), "stages": (4,), "micro_batches": (8,)} | values)
    (task,) = tasks_of(grid, profile or sample("small32"))
    return task, work_on(task)


def test_a_simulated_point_is_the_even_split_with_the_least_recomputation_that_fits():
    profile = sample("small32")
    task, free = found()
    assert (free.status, free.recompute) == (PointStatus.FEASIBLE, RecomputeMode.NONE)
    task, result = found(memory_limits_mb=(free.highest_peak_mb - 1,))
    assert result.status is PointStatus.FEASIBLE
    assert result.recompute is not RecomputeMode.NONE
    schedule = make_schedule("1f1b", task.scenario.pipeline)
    evaluation = evaluate(profile, schedule, even_split(profile, schedule.pipeline, result.recompute))
    assert (result.step_time, result.peak_memory_mb, result.bubble, result.plan) == (
        evaluation.step_time,
        evaluation.peak_memory_mb,
        evaluation.bubble.total,
        evaluation.plan,
    )
    assert result.highest_peak_mb <= task.point.memory_limit_mb


def test_a_point_that_does_not_fit_says_by_how_much_and_keeps_numbers_for_orientation():
    _, result = found(memory_limits_mb=(500.0,))
    assert result.status is PointStatus.INFEASIBLE
    assert not result.fits
    over = f"{result.highest_peak_mb - 500:,.0f} MiB more than the limit"
    assert over in result.sentences[0]
    assert result.recompute is RecomputeMode.FULL
    assert result.step_time > 0


def test_a_balanced_point_is_the_answer_of_the_balancer():
    task, result = found(seconds=20.0, memory_limits_mb=(12_000.0,))
    expected = balance(task.scenario.profile, make_schedule("1f1b", task.scenario.pipeline), task.scenario.request)
    assert result.status is PointStatus.OPTIMAL
    assert (result.plan, result.step_time, result.gap) == (expected.plan, expected.step_time, expected.gap)
    assert result.balance.status is Status.OPTIMAL
    assert result.recompute is None


@pytest.mark.parametrize("seconds", [None, 20.0])
def test_too_few_layers_are_infeasible_whoever_places_them(seconds):
    _, result = found(stages=(64,), micro_batches=(2,), seconds=seconds)
    assert result.status is PointStatus.INFEASIBLE
    assert "cannot fill 64 virtual stages" in result.sentences[0]


def test_a_limit_no_plan_meets_is_infeasible_with_the_smallest_one_that_would_do():
    _, result = found(memory_limits_mb=(500.0,), seconds=20.0)
    assert result.status is PointStatus.INFEASIBLE
    assert any("The smallest limit that would do" in sentence for sentence in result.sentences)
    assert result.balance.infeasibility.smallest_limit_mb > 500
    assert result.recompute is RecomputeMode.FULL


def test_what_the_profile_cannot_do_is_refused():
    profile = replace(sample("small32"), training=None)
    _, result = found(profile, schedules=("seqpipe",), sequence_splits=(2,))
    assert result.status is PointStatus.REFUSED
    assert "training.batch_size" in result.sentences[0]
    assert (result.step_time, result.peak_memory_mb, result.plan) == (None, (), None)
    assert result.time_per_sample is None


def test_the_time_of_a_sample_counts_all_pipelines():
    _, result = found(devices=16, micro_batch_size=3)
    assert result.time_per_sample == result.step_time / (8 * 3 * 4)
