import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.pipeline import Pipeline, Remainder
from sapp_core.domain.schedule import OpKind, Schedule
from sapp_core.schedules.in_flight import peak_in_flight
from sapp_core.schedules.interleaved_zb import interleaved_zb
from sapp_core.schedules.validate import validate
from tests.recorded import accepted, cases, compute_order, label


def made(pipeline: Pipeline) -> Schedule:
    schedule = Schedule("interleaved-zb", pipeline, interleaved_zb(pipeline))
    validate(schedule)
    return schedule


def test_order_and_peaks_equal_every_recorded_case_of_torch():
    compared = 0
    for case in accepted("torch", "InterleavedZeroBubble"):
        schedule = made(Pipeline(case["ranks"], case["microbatches"], case["chunks"]))
        assert schedule.tokens() == compute_order(case), label(case)
        assert [list(row) for row in peak_in_flight(schedule)] == case["peak_inflight"]["w"], label(case)
        compared += 1
    assert compared == 54


@pytest.mark.parametrize("remainder", Remainder)
def test_numbers_of_micro_batches_that_torch_refuses_run_in_groups_with_a_remainder(remainder):
    refused = [case for case in cases("torch") if case["schedule"] == "InterleavedZeroBubble" and "rejected" in case]
    assert len(refused) >= 8
    for case in refused:
        stages, count, chunks = case["ranks"], case["microbatches"], case["chunks"]
        grouped = made(Pipeline(stages, count, chunks, group_size=stages, remainder=remainder))
        assert made(Pipeline(stages, count, chunks, remainder=remainder)).slots == grouped.slots


def test_groups_are_equal_or_of_s():
    def groups_of(size, count):
        return made(Pipeline(4, count, 2, group_size=size)).slots

    assert made(Pipeline(4, 10, 2)).slots == groups_of(5, 10)
    # ⌊11/4⌋ = 2 rounds do not divide 11.
    assert made(Pipeline(4, 11, 2)).slots == groups_of(4, 11) != groups_of(5, 11)


@given(st.integers(1, 8), st.integers(1, 26), st.integers(1, 4), st.sampled_from(Remainder), st.data())
def test_every_size_and_group_runs_and_stage_s_is_s_weight_gradients_behind(stages, count, chunks, remainder, data):
    groups = st.integers(stages, count) if count >= stages else st.none()
    size = data.draw(st.none() | groups)
    schedule = made(Pipeline(stages, count, chunks, group_size=size, remainder=remainder))
    for stage, slots in enumerate(schedule.slots):
        behind = 0
        for slot in slots:
            behind += {OpKind.F: 0, OpKind.I: 1, OpKind.W: -1}[slot.ops[0].kind]
            assert 0 <= behind <= stage + 1
