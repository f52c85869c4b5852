"""Points of a grid: how many, which, and why some cannot run."""

from dataclasses import replace
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.pipeline import Pipeline, Remainder
from sapp_core.domain.result import Objective
from sapp_core.errors import PipelineError
from sapp_core.schedules.registry import SCHEDULES, family, make_schedule, placed
from sapp_core.sweep.grid import MOST_POINTS, Grid
from tests.sweep.grids import SMALL, sample

NAMES = [family.name for family in SCHEDULES]


def some(values, most=3):
    return st.lists(values, min_size=1, max_size=most, unique=True).map(tuple)


@st.composite
def grids(draw) -> Grid:
    constant_batch = draw(st.booleans())
    constant_devices = draw(st.booleans())
    return Grid(
        schedules=draw(some(st.sampled_from(NAMES))),
        stages=draw(some(st.integers(1, 6))),
        micro_batches=() if constant_batch else draw(some(st.integers(1, 12))),
        chunks=draw(some(st.none() | st.integers(1, 3))),
        sequence_splits=draw(some(st.integers(1, 3), 2)),
        memory_limits_mb=draw(some(st.none() | st.integers(100, 60_000).map(float), 2)),
        objectives=draw(some(st.sampled_from(Objective), 2)),
        devices=draw(st.integers(1, 24)) if constant_devices else None,
        global_batch=draw(st.integers(1, 64)) if constant_batch else None,
        data_parallel=1 if constant_devices else draw(st.integers(1, 3)),
        micro_batch_size=draw(st.integers(1, 3)),
        knobs=Pipeline(
            1, 1, group_size=draw(st.none() | st.integers(1, 6)), remainder=draw(st.sampled_from(Remainder))
        ),
        seconds=draw(st.none() | st.just(5.0)),
    )


@given(grids())
def test_there_is_one_point_for_each_combination(grid):
    points = grid.points()
    assert len(points) == grid.num_points
    lists = [grid.schedules, grid.stages, grid.chunks, grid.micro_batches or (0,), grid.sequence_splits]
    lists += [grid.memory_limits_mb, (0,) if grid.seconds is None else grid.objectives]
    assert grid.num_points == prod(map(len, lists))
    # `None` and the number a schedule fixes are the same chunks, and only then are two points alike.
    if None not in grid.chunks:
        assert len(set(points)) == len(points)


@given(grids())
def test_a_point_is_refused_exactly_when_its_schedule_or_a_constant_refuses_it(grid):
    for point in grid.points():
        if point.data_parallel is None:
            assert grid.devices % point.num_stages
            assert f"{point.num_stages} do not divide the {grid.devices} devices" in point.problems[0]
            continue
        if point.num_micro_batches is None:
            assert grid.global_batch % (point.data_parallel * point.micro_batch_size) or (
                grid.global_batch < point.data_parallel * point.micro_batch_size
            )
            assert point.problems[0].startswith("global_batch: ")
            continue
        sizes = Pipeline(
            num_stages=point.num_stages,
            num_micro_batches=point.num_micro_batches,
            num_chunks=point.num_chunks,
            num_sequence_splits=point.num_sequence_splits,
            group_size=grid.knobs.group_size if family(point.schedule_name).uses_groups else None,
            remainder=grid.knobs.remainder,
        )
        refusal = ()
        try:
            make_schedule(point.schedule_name, placed(point.schedule_name, sizes))
        except PipelineError as error:
            refusal = error.problems
        assert point.problems == refusal
        if not refusal:
            assert grid.scenario(sample(), point).pipeline == placed(point.schedule_name, sizes)


@given(grids())
def test_what_is_constant_is_constant(grid):
    for point in grid.points():
        if point.problems:
            continue
        if grid.devices is not None:
            assert point.num_stages * point.data_parallel == grid.devices
        else:
            assert point.data_parallel == grid.data_parallel
        if grid.global_batch is not None:
            assert point.global_batch == grid.global_batch
        assert point.global_batch == point.num_micro_batches * point.micro_batch_size * point.data_parallel
        assert (point.objective is None) == (grid.seconds is None)


def test_a_point_becomes_the_scenario_it_asks_for():
    grid = replace(SMALL, seconds=7.0, objectives=(Objective.SAPP_1,), knobs=Pipeline(1, 1, p2p_time=2.0), seed=3)
    point = grid.points()[-1]
    scenario = grid.scenario(sample(), point)
    assert (scenario.profile, scenario.schedule_name) == (sample(), "vpp")
    assert scenario.pipeline == Pipeline(8, 8, 2, p2p_time=2.0)
    request = scenario.request
    assert (request.memory_limit_mb, request.objective, request.time_limit, request.seed) == (56e3, "sapp-1", 7.0, 3)


def test_stages_that_do_not_divide_the_devices_name_those_that_would():
    point = Grid(("1f1b",), (5,), (8,), devices=16).points()[0]
    assert point.problems == ("num_stages: 5 do not divide the 16 devices; 4 or 8 would.",)
    assert Grid(("1f1b",), (32,), (8,), devices=16).points()[0].problems == (
        "num_stages: 32 do not divide the 16 devices; 16 would.",
    )


def test_a_global_batch_that_leaves_a_rest_names_those_that_would_not():
    point = Grid(("1f1b",), (4,), global_batch=100, devices=16, micro_batch_size=3).points()[0]
    assert point.problems == (
        "global_batch: 100 samples are not a whole number of micro-batches of 3 for 4 pipelines; 96 or 108 would be.",
    )
    assert "; 8 would be." in Grid(("1f1b",), (2,), global_batch=4, devices=16).points()[0].problems[0]


def test_a_point_that_cannot_be_cut_has_no_scenario():
    grid = Grid(("1f1b",), (4,), global_batch=3, data_parallel=2)
    with pytest.raises(PipelineError, match="global_batch"):
        grid.scenario(sample(), grid.points()[0])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"schedules": ("2f2b",)}, "schedule: '2f2b' is not known; choose from gpipe, 1f1b,"),
        ({"schedules": ()}, "schedule: needs at least one value."),
        ({"stages": ()}, "num_stages: needs at least one value."),
        ({"stages": (0,)}, "num_stages: must be whole numbers of at least 1, found 0."),
        ({"chunks": ()}, "num_chunks: needs at least one value."),
        ({"chunks": (None, -1)}, "num_chunks: must be whole numbers of at least 1, found -1."),
        ({"micro_batches": ()}, "num_micro_batches: needs at least one value."),
        ({"micro_batches": (8, 8)}, "num_micro_batches: each value is swept once, found one twice."),
        ({"global_batch": 8}, "num_micro_batches: follow from the global batch; leave out one of the two."),
        ({"memory_limits_mb": ()}, "memory_limit_mb: needs at least one value."),
        ({"memory_limits_mb": (-5.0,)}, "memory_limit_mb: must be a number above 0, found -5.0."),
        ({"devices": 0}, "devices: must be a whole number of at least 1, found 0."),
        (
            {"devices": 8, "data_parallel": 2},
            "data_parallel: follows from devices and stages; leave out one of the two.",
        ),
        ({"seconds": 0.0}, "time_limit: must be a number of seconds above 0, found 0.0."),
        (
            {"stages": tuple(range(1, 301)), "micro_batches": tuple(range(1, 301))},
            f"sweep: up to {MOST_POINTS:,} points can be swept, these lists make 720,000.",
        ),
    ],
)
def test_a_grid_that_means_nothing_is_refused(changes, sentence):
    with pytest.raises(PipelineError) as refused:
        replace(SMALL, **changes)
    assert [problem for problem in refused.value.problems if sentence in problem]
