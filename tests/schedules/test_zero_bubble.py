"""Zero-bubble orders against the recorded ones of the planners and of PyTorch, and their properties at any size."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.pipeline import Pipeline, Placement
from sapp_core.domain.schedule import OP_KINDS, OpKind, Schedule
from sapp_core.schedules.in_flight import peak_vectors
from sapp_core.schedules.squeeze import OpTimes
from sapp_core.schedules.validate import validate
from sapp_core.schedules.zero_bubble import PLANNED, op_times, plan, v_half, v_min, zb_1p, zb_2p, zbv
from sapp_core.simulator.engine import prepare, step_times
from tests.recorded import accepted, compute_order, label

GENERATORS = {"zb-1p": zb_1p, "zb-2p": zb_2p, "zbv": zbv, "v-half": v_half, "v-min": v_min}
NAMES = sorted(GENERATORS)
THEIRS = {"ZB-1p": "zb-1p", "ZB-2p": "zb-2p", "ZBV": "zbv", "V-Half": "v-half", "V-Min": "v-min"}


def pipeline_of(name: str, stages: int, micro_batches: int) -> Pipeline:
    if name.startswith("zb-"):
        return Pipeline(stages, micro_batches)
    return Pipeline(stages, micro_batches, 2, placement=Placement.V)


def made(name: str, stages: int, micro_batches: int) -> Schedule:
    pipeline = pipeline_of(name, stages, micro_batches)
    schedule = Schedule(name, pipeline, GENERATORS[name](pipeline))
    validate(schedule)
    return schedule


def step_time(schedule: Schedule, p2p_time: float = 0.0, durations: np.ndarray | None = None) -> float:
    """With ops of length 1 when no durations `[kind][chunk][stage]` are given."""
    if durations is None:
        durations = np.ones((len(OP_KINDS), schedule.pipeline.num_chunks, schedule.pipeline.num_stages))
    return float(step_times(prepare(schedule), durations[np.newaxis], p2p_time)[0])


def peaks(schedule: Schedule) -> list[float]:
    """`[stage]`, chunk activations in flight until W."""
    return [max(map(sum, vectors)) for vectors in peak_vectors(schedule)]


@pytest.mark.parametrize(("theirs", "least"), [("ZB-1p", 6), ("ZB-2p", 9), ("ZBV", 10), ("V-Half", 9), ("V-Min", 11)])
def test_no_recorded_planner_is_faster_or_needs_less_memory(theirs, least):
    compared = 0
    for case in accepted("zerobubble", theirs):
        schedule = made(THEIRS[theirs], case["ranks"], case["microbatches"])
        assert step_time(schedule, case["options"]["comm"]) <= case["makespan"] + 1e-9, label(case)
        assert max(peaks(schedule)) <= max(case["peak_inflight"]["w_total"]), label(case)
        compared += 1
    assert compared >= least


def test_zbv_equals_torch_as_soon_as_its_warm_up_is_full():
    equal, shorter = 0, 0
    for case in accepted("torch", "ZBVZeroBubble"):
        stages, micro_batches = case["ranks"], case["microbatches"]
        schedule = made("zbv", stages, micro_batches)
        if micro_batches >= 2 * stages - 1:
            assert schedule.tokens() == compute_order(case), label(case)
            equal += 1
        else:
            assert step_time(schedule) <= case["unit_makespan"], label(case)
            shorter += step_time(schedule) < case["unit_makespan"]
    assert (equal, shorter) == (10, 6)


@pytest.mark.parametrize(
    ("name", "caps"),
    [
        ("zb-1p", [1, 2, 3, 4, 5, 6, 7, 8]),
        ("zb-2p", [2, 4, 6, 8, 10, 12, 14, 16]),
        ("zbv", [2, 4, 6, 8, 10, 12, 14, 16]),
        ("v-half", [2, 4, 4, 6, 6, 8, 8, 10]),
        ("v-min", [2, 4, 4, 4, 6, 6, 6, 8]),
    ],
)
def test_caps_in_chunk_activations(name, caps):
    assert [PLANNED[name].cap(stages) for stages in range(1, 9)] == caps
    # Enough micro-batches use all of it somewhere.
    assert [max(peaks(made(name, stages, 3 * stages))) for stages in range(1, 9)] == caps


@pytest.mark.parametrize(
    ("name", "idle"),
    [
        # S = 1 … 12, what the step takes beyond a stage's work. The first three wait only until the last stage has data.
        ("zb-1p", [stages - 1 for stages in range(1, 13)]),
        ("zb-2p", [stages - 1 for stages in range(1, 13)]),
        ("zbv", [stages - 1 for stages in range(1, 13)]),
        ("v-half", [0, 1, 5, 5, 11, 11, 17, 17, 23, 23, 29, 29]),
        ("v-min", [0, 1, 5, 11, 11, 17, 23, 23, 29, 35, 35, 41]),
    ],
)
def test_idle_time_beyond_the_work_of_a_stage(name, idle):
    for stages, expected in enumerate(idle, start=1):
        for micro_batches in (2 * stages, 5 * stages):
            schedule = made(name, stages, micro_batches)
            work = 3 * micro_batches * schedule.pipeline.num_chunks
            assert step_time(schedule) - work == expected, (stages, micro_batches)


@given(st.sampled_from(NAMES), st.integers(1, 9), st.integers(1, 24), st.sampled_from([0.0, 0.1, 0.25, 1.0]))
def test_every_size_runs_within_its_cap_and_not_faster_than_possible(name, stages, micro_batches, p2p_time):
    schedule = made(name, stages, micro_batches)
    assert max(peaks(schedule)) <= PLANNED[name].cap(stages)
    chunks = schedule.pipeline.num_chunks
    starts_last = (stages - 1) * (1 + p2p_time)
    chain = chunks * 2 * (stages + (stages - 1) * p2p_time) + 1
    shortest = max(starts_last + 3 * chunks * micro_batches, chain)
    assert step_time(schedule, p2p_time) >= shortest - 1e-9


@given(st.sampled_from(NAMES), st.integers(1, 9))
def test_one_micro_batch_takes_its_way_there_and_back(name, stages):
    schedule = made(name, stages, 1)
    chunks = schedule.pipeline.num_chunks
    assert step_time(schedule) == max(2 * stages * chunks + 1, 3 * chunks)


@given(st.sampled_from(NAMES), st.integers(2, 6), st.integers(1, 20), st.data())
def test_planning_again_with_other_times_never_loses(name, stages, micro_batches, data):
    pipeline = pipeline_of(name, stages, micro_batches)
    shape = (len(OP_KINDS), pipeline.num_chunks, stages)
    size = int(np.prod(shape))
    quarters = data.draw(st.lists(st.integers(1, 12), min_size=size, max_size=size))
    durations = np.array(quarters).reshape(shape) / 4
    p2p_time = data.draw(st.sampled_from([0.0, 0.25, 1.0]))
    again = Schedule(name, pipeline, plan(PLANNED[name], pipeline, op_times(durations.tolist(), p2p_time)))
    validate(again)
    assert max(peaks(again)) <= PLANNED[name].cap(stages)
    equal_times = OpTimes(((1.0,) * stages,) * (3 * pipeline.num_chunks))
    before = Schedule(name, pipeline, plan(PLANNED[name], pipeline, equal_times))
    assert step_time(again, p2p_time, durations) <= step_time(before, p2p_time, durations) + 1e-9


def test_planning_again_shortens_a_step_of_other_times():
    pipeline = pipeline_of("v-min", 8, 32)
    durations = np.ones((len(OP_KINDS), 2, 8))
    durations[OP_KINDS.index(OpKind.I)] = 2.0
    before = made("v-min", 8, 32)
    again = replace(before, slots=plan(PLANNED["v-min"], pipeline, op_times(durations.tolist(), 0.0)))
    assert step_time(again, durations=durations) < 0.9 * step_time(before, durations=durations)


def test_of_two_orders_that_end_together_the_one_that_stands_late_data_is_taken():
    schedule = made("v-half", 4, 32)
    assert step_time(schedule) == 6 * 32 + 5
    # Only filling and draining wait for transfers; with weight gradients in bubbles only, every period would.
    assert step_time(schedule, 0.1) == pytest.approx(6 * 32 + 6.8)


def test_times_of_passes_are_taken_by_kind_and_chunk():
    durations = [[[10 * kind + chunk + stage / 10 for stage in range(3)] for chunk in range(2)] for kind in range(4)]
    times = op_times(durations, 0.5)
    kinds = {kind: k for k, kind in enumerate(OP_KINDS)}
    expected = [durations[kinds[kind]][chunk] for kind in (OpKind.F, OpKind.I, OpKind.W) for chunk in range(2)]
    assert [list(row) for row in times.passes] == expected
    assert times.p2p_time == 0.5


@pytest.mark.parametrize("name", NAMES)
def test_more_micro_batches_than_ways_are_compared_on_still_run(name):
    schedule = made(name, 3, 100)
    assert schedule.num_ops == 3 * 3 * 100 * schedule.pipeline.num_chunks
    assert max(peaks(schedule)) <= PLANNED[name].cap(3)
