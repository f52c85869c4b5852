from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.costs import ChunkCosts, chunk_costs
from sapp_core.domain.pipeline import Pipeline, Placement
from sapp_core.domain.schedule import OP_KINDS, Op, OpKind, Schedule, Slot
from sapp_core.errors import ScheduleError
from sapp_core.schedules.registry import make_schedule
from sapp_core.simulator.engine import FEW, durations_of, prepare, simulate, step_times
from tests.recorded import FILES, accepted, label, recorded_schedule
from tests.strategies import schedules, studies


def unit_times(pipeline: Pipeline) -> np.ndarray:
    """F = 1, B = 2, I = 1, W = 1, as the recorded makespans."""
    times = np.ones((1, 4, pipeline.num_chunks, pipeline.num_stages))
    times[:, 1] = 2
    return times


@pytest.mark.parametrize("file", FILES)
def test_unit_makespans_equal_those_of_another_simulator(file):
    for case in accepted(file):
        if "problems" not in case:
            schedule = recorded_schedule(case)
            assert step_times(prepare(schedule), unit_times(schedule.pipeline))[0] == case["unit_makespan"], label(case)


def test_transfers_equal_the_recorded_makespans_of_the_zero_bubble_planner():
    compared = 0
    for case in accepted("zerobubble"):
        if case["options"].get("comm"):
            schedule = recorded_schedule(case)
            durations = np.ones_like(unit_times(schedule.pipeline))
            durations[:, 1] = 2
            found = step_times(prepare(schedule), durations, p2p_time=case["options"]["comm"])[0]
            assert found == pytest.approx(case["makespan"]), label(case)
            compared += 1
    assert compared >= 20


@given(studies())
def test_timelines_obey_every_rule(study):
    """Starts are as early as order, data and transfers allow, and no earlier."""
    profile, schedule, plan = study
    pipeline = schedule.pipeline
    costs = chunk_costs(profile, plan, pipeline)
    timeline = simulate(prepare(schedule), costs)
    durations = durations_of(costs, pipeline)
    last = pipeline.num_virtual_stages - 1

    def work(op: Op, stage: int) -> tuple[bool, int, int, int, int]:
        """(forward or not, copy of the model, virtual stage, micro-batch, split)."""
        copy = op.chunk if pipeline.placement is Placement.BIDIRECTIONAL else 0
        v = pipeline.virtual_stage(op.chunk, stage)
        return op.kind is OpKind.F, copy, v, op.micro_batch, op.sequence_split

    done = {
        work(op, s): (timeline.ends[s][i], s)
        for s, slots in enumerate(schedule.slots)
        for i, slot in enumerate(slots)
        for op in slot.ops
        if op.kind is not OpKind.W
    }
    for s, slots in enumerate(schedule.slots):
        earliest = 0.0
        for i, slot in enumerate(slots):
            for op in slot.ops:
                forward, copy, v, *unit = work(op, s)
                if op.kind is OpKind.W:
                    source = (False, copy, v, *unit)
                elif forward:
                    source = (True, copy, v - 1, *unit)
                else:
                    source = (False, copy, v + 1, *unit) if v < last else (True, copy, v, *unit)
                if source[2] >= 0:
                    end, stage = done[source]
                    earliest = max(earliest, end + (pipeline.p2p_time if stage != s else 0.0))
            lengths = sorted(durations[OP_KINDS.index(op.kind), op.chunk, s] for op in slot.ops)
            length = lengths[-1] + (1 - pipeline.overlap_efficiency) * sum(lengths[:-1])
            assert timeline.starts[s][i] == pytest.approx(earliest)
            assert timeline.ends[s][i] == pytest.approx(timeline.starts[s][i] + length)
            earliest = timeline.ends[s][i]
    assert timeline.step_time == max(max(ends) for ends in timeline.ends)


@given(schedules(), st.integers(0, 2**32 - 1))
def test_a_batch_equals_its_members_one_by_one(schedule, seed):
    prepared = prepare(schedule)
    shape = (3 * FEW, 4, schedule.pipeline.num_chunks, schedule.pipeline.num_stages)
    durations = np.random.default_rng(seed).integers(0, 100, shape) / 4
    together = step_times(prepared, durations)
    assert together.tolist() == [step_times(prepared, one[np.newaxis])[0] for one in durations]


@pytest.mark.parametrize("file", FILES)
def test_batches_equal_single_runs_for_overlapped_and_split_orders(file):
    rng = np.random.default_rng(0)
    for case in list(accepted(file))[::7]:
        if "problems" in case:
            continue
        schedule = recorded_schedule(case)
        schedule = replace(schedule, pipeline=replace(schedule.pipeline, p2p_time=0.25, overlap_efficiency=0.5))
        prepared = prepare(schedule)
        durations = rng.integers(0, 100, (FEW + 2, *unit_times(schedule.pipeline).shape[1:])) / 4
        one_by_one = [step_times(prepared, one[np.newaxis])[0] for one in durations]
        assert step_times(prepared, durations).tolist() == one_by_one, label(case)


@given(studies(), st.integers(2, 5))
def test_time_scales_with_the_costs(study, factor):
    profile, schedule, plan = study
    durations = durations_of(chunk_costs(profile, plan, schedule.pipeline), schedule.pipeline)[np.newaxis]
    prepared, delay = prepare(schedule), schedule.pipeline.p2p_time
    once = step_times(prepared, durations, delay)
    assert step_times(prepared, factor * durations, factor * delay) == factor * once


@given(studies())
def test_no_step_is_shorter_than_the_busiest_stage(study):
    profile, schedule, plan = study
    schedule = replace(schedule, pipeline=replace(schedule.pipeline, overlap_efficiency=0.0))
    costs = chunk_costs(profile, plan, schedule.pipeline)
    busiest = max(
        sum(costs.forward[c][s] + costs.backward[c][s] + costs.recompute[c][s] for c in range(len(costs.forward)))
        for s in range(schedule.pipeline.num_stages)
    )
    least = schedule.pipeline.micro_batches_per_chunk * busiest
    assert simulate(prepare(schedule), costs).step_time >= least * (1 - 1e-12)


def costs_of(forward: float, backward: float, recompute: float = 0.0) -> ChunkCosts:
    return ChunkCosts(((forward,),), ((backward,),), ((recompute,),), ((1.0,),), (0.0,), 0.0)


@pytest.mark.parametrize(("efficiency", "length"), [(0.0, 3 + 4), (0.5, 4 + 1.5), (1.0, 4)])
def test_an_overlapped_pair_takes_the_longer_op_and_what_is_left_of_the_shorter(efficiency, length):
    pair = Slot((Op(OpKind.F, 0, 1), Op(OpKind.B, 0, 0)))
    order = (Slot((Op(OpKind.F, 0, 0),)), pair, Slot((Op(OpKind.B, 0, 1),)))
    schedule = Schedule("pair", Pipeline(1, 2, overlap_efficiency=efficiency), (order,))
    timeline = simulate(prepare(schedule), costs_of(3.0, 4.0))
    assert timeline.starts == ((0.0, 3.0, 3.0 + length),)
    assert timeline.step_time == 3 + length + 4


def test_recomputation_goes_to_the_input_gradient():
    pipeline = Pipeline(1, 1, input_gradient_share=0.25)
    durations = durations_of(costs_of(3.0, 8.0, 5.0), pipeline)
    assert durations[:, 0, 0].tolist() == [3.0, 13.0, 2.0 + 5.0, 6.0]


def test_sequence_splits_share_the_time_of_a_micro_batch():
    assert durations_of(costs_of(3.0, 8.0), Pipeline(1, 1, num_sequence_splits=4))[0, 0, 0] == 0.75


def test_an_order_that_cannot_run_is_refused():
    b_first = (Slot((Op(OpKind.B, 0, 0),)), Slot((Op(OpKind.F, 0, 0),)))
    with pytest.raises(ScheduleError, match="before the work it needs"):
        prepare(Schedule("wrong", Pipeline(1, 1), (b_first,)))


def test_many_micro_batches_need_no_recursion():
    # The reference's recursion ends near 2,000 micro-batches on 8 stages.
    schedule = make_schedule("1f1b", Pipeline(8, 4096))
    assert step_times(prepare(schedule), unit_times(schedule.pipeline))[0] == 3 * (4096 + 7)
