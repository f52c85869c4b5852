import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.pipeline import Pipeline, Placement
from sapp_core.domain.schedule import OP_KINDS, Op, OpKind, Schedule, single_slots
from sapp_core.schedules.building_block import building_block
from sapp_core.schedules.squeeze import KINDS, OpTimes, WeightGradients, finish_time, squeeze
from sapp_core.schedules.zero_bubble import PLANNED, V_HALF, V_MIN, ZB_1P
from sapp_core.simulator.engine import prepare, step_times

RULES = st.sampled_from(sorted(PLANNED.values(), key=lambda rule: rule.offsets))
QUARTERS = st.integers(0, 12).map(lambda n: n / 4)


@st.composite
def op_times(draw, stages: int, chunks: int) -> OpTimes:
    row = st.lists(QUARTERS, min_size=stages, max_size=stages).map(tuple)
    rows = st.lists(row, min_size=3 * chunks, max_size=3 * chunks).map(tuple)
    return OpTimes(draw(rows), draw(QUARTERS))


def unit(stages: int, chunks: int) -> OpTimes:
    return OpTimes(((1.0,) * stages,) * (3 * chunks))


def as_schedule(orders, times: OpTimes, micro_batches: int) -> Schedule:
    chunks = times.num_chunks
    slots = []
    for order in orders:
        done = [0] * len(times.passes)
        ops = []
        for pass_ in order:
            ops.append(Op(KINDS[pass_ // chunks], pass_ % chunks, done[pass_]))
            done[pass_] += 1
        slots.append(single_slots(ops))
    placement = Placement.V if chunks == 2 else Placement.LOOP
    return Schedule("any", Pipeline(len(orders), micro_batches, chunks, placement=placement), tuple(slots))


@given(RULES, st.integers(1, 7), st.integers(1, 20), st.sampled_from(WeightGradients), st.data())
def test_any_times_give_an_order_that_runs_within_the_cap_and_ends_when_the_engine_says(
    rule, stages, micro_batches, weight_gradients, data
):
    times = data.draw(op_times(stages, len(rule.offsets) // 2))
    cap = rule.cap(stages)
    orders = squeeze(building_block(stages, rule.offsets, cap), micro_batches, cap, times, weight_gradients)
    chunks = times.num_chunks
    for order in orders:
        in_flight = 0
        for pass_ in order:
            in_flight += (pass_ < chunks) - (pass_ >= 2 * chunks)
            assert in_flight <= cap
    prepared = prepare(as_schedule(orders, times, micro_batches))
    durations = np.zeros((1, len(OP_KINDS), chunks, stages))
    for pass_, row in enumerate(times.passes):
        durations[0, OP_KINDS.index(KINDS[pass_ // chunks]), pass_ % chunks] = row
    assert finish_time(orders, times) == pytest.approx(step_times(prepared, durations, times.p2p_time)[0], abs=1e-9)


def test_the_steady_phase_repeats_every_pass_once_a_period():
    cap = V_HALF.cap(8)
    for order in squeeze(building_block(8, V_HALF.offsets, cap), 40, cap, unit(8, 2), WeightGradients.BLOCK):
        start = [n for n, pass_ in enumerate(order) if pass_ == 0][18]
        assert sorted(order[start : start + 6]) == list(range(6))
        assert order[start : start + 60] == order[start : start + 6] * 10


def test_forwards_overtake_while_the_pipeline_fills_but_leave_room_for_what_comes_before_them():
    cap = V_HALF.cap(4)
    first = squeeze(building_block(4, V_HALF.offsets, cap), 8, cap, unit(4, 2), WeightGradients.BLOCK)[0]
    # The block has two forwards here before chunk 1 comes back; memory is for six, and one of those is chunk 1's.
    assert first[:6] == [0, 0, 0, 0, 0, 1]


def test_weight_gradients_fill_bubbles_only():
    cap = ZB_1P.cap(4)
    block = building_block(4, ZB_1P.offsets, cap)
    filled = squeeze(block, 8, cap, unit(4, 1), WeightGradients.FILL)
    placed = squeeze(block, 8, cap, unit(4, 1), WeightGradients.BLOCK)
    f, i, w = range(3)
    assert placed[3] == [f, i, w] * 8
    # The last stage always has work: W waits until memory is needed for a forward.
    assert filled[3][:9] == [f, i, f, i, f, i, f, i, w]
    assert finish_time(placed, unit(4, 1)) - finish_time(filled, unit(4, 1)) == 3


def test_late_data_is_waited_for_and_delays_the_end():
    cap = V_MIN.cap(4)
    orders = squeeze(building_block(4, V_MIN.offsets, cap), 8, cap, unit(4, 2), WeightGradients.BLOCK)
    assert finish_time(orders, unit(4, 2)) == 59
    assert finish_time(orders, OpTimes(unit(4, 2).passes, 0.1)) == pytest.approx(63)


def test_a_pass_is_a_kind_of_op_of_a_chunk():
    assert KINDS == (OpKind.F, OpKind.I, OpKind.W)
    assert (unit(5, 2).num_stages, unit(5, 2).num_chunks) == (5, 2)
