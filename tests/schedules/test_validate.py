import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.schedule import Op, OpKind, Schedule, Slot, single_slots
from sapp_core.errors import ScheduleError
from sapp_core.schedules.registry import make_schedule
from sapp_core.schedules.validate import validate
from tests.recorded import FILES, accepted, recorded_schedule
from tests.strategies import schedules

RIGHT_ORDER_WRONG_GRADIENTS = "the per-process sequence-slice counter"
"""A fault of that reference's data loader: the recorded order itself can run."""


@pytest.mark.parametrize("file", FILES)
def test_every_recorded_order_is_judged_as_its_reference_ran(file):
    for case in accepted(file):
        problems = [text for text in case.get("problems", ()) if not text.startswith(RIGHT_ORDER_WRONG_GRADIENTS)]
        schedule = recorded_schedule(case)
        if problems:
            with pytest.raises(ScheduleError):
                validate(schedule)
        else:
            validate(schedule)


def test_the_recorded_cases_are_there():
    assert {file: len(list(accepted(file))) for file in FILES} == {
        "torch": 203,
        "megatron": 56,
        "paddle_vpp": 140,
        "dualpipe": 23,
        "seq1f1b": 47,
        "zerobubble": 105,
    }


def swapped(schedule: Schedule, stage: int, i: int, j: int) -> Schedule:
    slots = list(schedule.slots[stage])
    slots[i], slots[j] = slots[j], slots[i]
    return replace(schedule, slots=(*schedule.slots[:stage], tuple(slots), *schedule.slots[stage + 1 :]))


@given(schedules(), st.data())
def test_a_missing_or_doubled_op_is_named(schedule, data):
    stage = data.draw(st.integers(0, len(schedule.slots) - 1))
    slots = schedule.slots[stage]
    index = data.draw(st.integers(0, len(slots) - 1))
    op = slots[index].ops[0]
    token = re.escape(f"{op.kind}{op.chunk}.{op.micro_batch}" + (f".{op.sequence_split}" if op.sequence_split else ""))
    without = replace(
        schedule, slots=(*schedule.slots[:stage], slots[:index] + slots[index + 1 :], *schedule.slots[stage + 1 :])
    )
    with pytest.raises(ScheduleError, match=f"stage {stage} needs .*{token}"):
        validate(without)
    doubled = replace(schedule, slots=(*schedule.slots[:stage], (*slots, slots[index]), *schedule.slots[stage + 1 :]))
    with pytest.raises(ScheduleError, match=f"stage {stage} does {token} twice"):
        validate(doubled)


def test_a_circle_is_reported_with_its_ops():
    schedule = make_schedule("1f1b", Pipeline(2, 2))
    # Stage 0 wants F0 B0 F1 B1, stage 1 wants F0 F1 B0 B1.
    stuck = swapped(swapped(schedule, 0, 1, 2), 1, 1, 2)
    with pytest.raises(ScheduleError) as caught:
        validate(stuck)
    assert str(caught.value) == (
        "1f1b: the order waits for itself: B0.0 on stage 0 waits for B0.0 on stage 1; "
        "F0.1 on stage 1 waits for F0.1 on stage 0."
    )


def test_work_before_what_it_needs_on_the_same_stage_is_named():
    with pytest.raises(ScheduleError, match=r"on stage 0, B0\.0 comes before the work it needs, F0\.0"):
        validate(Schedule("any", Pipeline(1, 1), (single_slots([Op(OpKind.B, 0, 0), Op(OpKind.F, 0, 0)]),)))
    split = [Op(OpKind.F, 0, 0), Op(OpKind.W, 0, 0), Op(OpKind.I, 0, 0)]
    with pytest.raises(ScheduleError, match=r"W0\.0 comes before the work it needs, I0\.0"):
        validate(Schedule("any", Pipeline(1, 1), (single_slots(split),)))


def test_ops_that_the_pipeline_does_not_have_are_named():
    ops = [Op(OpKind.F, 0, 0), Op(OpKind.B, 0, 0)]
    for stranger in (Op(OpKind.F, 1, 0), Op(OpKind.F, 0, 1), Op(OpKind.F, 0, 0, 1)):
        with pytest.raises(ScheduleError, match="which the pipeline does not have"):
            validate(Schedule("any", Pipeline(1, 1), (single_slots([*ops, stranger]),)))


def test_a_backward_is_whole_or_split_never_both():
    ops = [Op(kind, 0, 0) for kind in (OpKind.F, OpKind.B, OpKind.I, OpKind.W)]
    with pytest.raises(ScheduleError, match=r"needs F0\.0 once and either B0\.0 or both I0\.0 and W0\.0"):
        validate(Schedule("any", Pipeline(1, 1), (single_slots(ops),)))


def test_sequence_splits_run_in_causal_order():
    pipeline = Pipeline(1, 1, num_sequence_splits=2)

    def order(*ops: tuple[OpKind, int]) -> Schedule:
        return Schedule("any", pipeline, (single_slots(Op(kind, 0, 0, q) for kind, q in ops),))

    f, b = OpKind.F, OpKind.B
    validate(order((f, 0), (f, 1), (b, 1), (b, 0)))
    for wrong in ([(f, 1), (f, 0), (b, 1), (b, 0)], [(f, 0), (f, 1), (b, 0), (b, 1)]):
        with pytest.raises(ScheduleError, match="out of turn"):
            validate(order(*wrong))


def test_overlapped_slots_run_when_their_data_comes_from_elsewhere():
    pair = Slot((Op(OpKind.F, 0, 1), Op(OpKind.B, 0, 0)))
    ops = (*single_slots([Op(OpKind.F, 0, 0)]), pair, *single_slots([Op(OpKind.B, 0, 1)]))
    validate(Schedule("any", Pipeline(1, 2), (ops,)))
