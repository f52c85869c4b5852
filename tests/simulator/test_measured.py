"""Measured against simulated: nothing differs where nothing does, and clocks, steps and gaps are seen through."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.measured import Sample
from sapp_core.domain.schedule import Op, OpKind
from sapp_core.errors import FormatError
from sapp_core.interchange.chrome_trace import evaluation_to_chrome_trace
from sapp_core.interchange.measured import read_measured
from sapp_core.interchange.tables import ops_csv
from sapp_core.simulator.measured import compare
from sapp_core.study import evaluate
from tests.charts import scenes
from tests.strategies import studies

GRID = 1e-5
"""Traces count whole nanoseconds, here of a unit of one millisecond."""


def samples_of(evaluation, shifts=None, late=0.0, stretch=1.0):
    """The simulated step as if it had been measured, clocks of the stages shifted."""
    times = zip(evaluation.timeline.starts, evaluation.timeline.ends, evaluation.schedule.slots, strict=True)
    return [
        Sample(stage, op.kind, stretch * (end - start), op, stretch * start + late + (shifts[stage] if shifts else 0.0))
        for stage, (starts, ends, slots) in enumerate(times)
        for start, end, slot in zip(starts, ends, slots, strict=True)
        for op in slot.ops
    ]


@given(studies(), st.booleans())
def test_what_was_exported_comes_back_as_measured_without_differences(study, as_trace):
    evaluation = evaluate(*study)
    text = evaluation_to_chrome_trace(evaluation) if as_trace else ops_csv(evaluation)
    read = read_measured([("file", text.encode())], evaluation.schedule, evaluation.profile.time_unit)
    found = compare(evaluation, read.samples, read.notes)
    assert not found.notes
    assert found.num_steps == 1
    assert sum(row.count for row in found.kinds) == evaluation.schedule.num_ops
    for row in found.kinds:
        assert row.difference == pytest.approx(0, abs=GRID)
    # A measured step begins with its first op, the simulated one too.
    assert found.step_time == pytest.approx(evaluation.step_time, abs=GRID)
    assert found.idle == pytest.approx(found.simulated_idle, abs=GRID * evaluation.schedule.num_ops)
    starts = [
        start
        for starts, slots in zip(evaluation.timeline.starts, evaluation.schedule.slots, strict=True)
        for start, slot in zip(starts, slots, strict=True)
        for _ in slot.ops
    ]
    assert list(found.step.starts) == pytest.approx(starts, abs=GRID)


def test_idle_time_is_the_step_without_the_ops():
    evaluation = scenes.overlapped()
    found = compare(evaluation, samples_of(evaluation))
    assert found.simulated_idle == (0.0, 0.0)
    assert compare(evaluation, samples_of(evaluation, stretch=2.0)).idle == (0.0, 0.0)
    even = scenes.evaluation()
    busy = sum(end - start for start, end in zip(even.timeline.starts[1], even.timeline.ends[1], strict=True))
    assert compare(even, samples_of(even)).idle[1] == pytest.approx(even.step_time - busy)


def test_differences_are_of_medians_by_stage_and_kind():
    evaluation = scenes.evaluation()
    slow = [
        replace(sample, duration=2 * sample.duration) if (sample.stage, sample.kind) == (2, OpKind.B) else sample
        for sample in samples_of(evaluation)
    ]
    slow[0] = replace(slow[0], duration=1000.0)
    found = compare(evaluation, slow)
    assert [(row.stage, str(row.kind)) for row in found.kinds] == [(s, k) for s in range(4) for k in "FB"]
    assert {row.count for row in found.kinds} == {8}
    for row in found.kinds:
        assert row.share == pytest.approx(1.0 if (row.stage, row.kind) == (2, OpKind.B) else 0.0)


def test_of_several_steps_the_one_of_median_length_is_shown_and_all_count():
    evaluation = scenes.evaluation()
    length = evaluation.step_time
    runs = [
        sample
        for number, stretch in enumerate((3.0, 1.0, 1.5))
        for sample in samples_of(evaluation, late=10 * number * length, stretch=stretch)
    ]
    found = compare(evaluation, runs)
    assert found.num_steps == 3
    assert found.step_time == pytest.approx(1.5 * length)
    assert {row.count for row in found.kinds} == {24}
    assert all(row.share == pytest.approx(0.5) for row in found.kinds)


def test_steps_that_are_cut_are_refused():
    evaluation = scenes.evaluation()
    once = samples_of(evaluation)
    with pytest.raises(FormatError, match=r"found .* 1 times and .* 2 times; cut the file to whole steps"):
        compare(evaluation, once + samples_of(evaluation, late=1e6)[:5])


def test_replicas_at_the_same_time_are_refused():
    evaluation = scenes.evaluation()
    with pytest.raises(FormatError, match=r"F0\.0 on stage 0 runs twice at the same time"):
        compare(evaluation, samples_of(evaluation) + samples_of(evaluation, late=0.5))


def test_what_was_not_measured_is_said_and_no_step_is_made_up():
    evaluation = scenes.evaluation()
    part = [sample for sample in samples_of(evaluation) if sample.stage in {1, 2}]
    part.remove(next(sample for sample in part if sample.op == Op(OpKind.B, 0, 3) and sample.stage == 2))
    found = compare(evaluation, part)
    assert found.notes == (
        "No op of stages 0, 3 was measured.",
        "On stage 2, 1 ops were not measured: B0.3.",
        "Step time and idle time need every op, so they are not compared.",
    )
    assert found.step_time is None
    assert found.idle is None
    assert found.step.ends.count(None) == 2 * 16 + 1


def test_without_starts_only_durations_are_compared_with_the_mean():
    evaluation = scenes.evaluation(layers=26)
    found = compare(evaluation, [Sample(0, OpKind.F, 100.0), Sample(0, OpKind.F, 110.0)])
    (row,) = found.kinds
    durations = [
        end - start
        for start, end, slot in zip(
            evaluation.timeline.starts[0], evaluation.timeline.ends[0], evaluation.schedule.slots[0], strict=True
        )
        if slot.ops[0].kind is OpKind.F
    ]
    assert (row.measured, row.simulated) == (105.0, pytest.approx(sum(durations) / len(durations)))
    assert found.step is None
    assert found.num_steps == 0
    assert "no starts" in found.notes[0]


@given(st.lists(st.floats(-1e4, 1e4), min_size=4, max_size=4))
def test_clocks_that_contradict_the_order_of_work_are_put_right(shifts):
    """Traffic of equal delay both ways, as simulated, pins the clocks down to the slack of the schedule."""
    evaluation = scenes.evaluation(p2p_time=2.0)
    found = compare(evaluation, samples_of(evaluation, shifts))
    assert found.step is not None
    assert len(found.notes) <= 1
    if found.notes:
        assert "The clocks of the stages disagree" in found.notes[0]
    again = [
        replace(sample, start=found.step.starts[number])
        for number, sample in enumerate(samples_of(evaluation))
    ]  # fmt: skip
    assert not compare(evaluation, again).notes, "on the clocks found, no op starts too soon"


def test_ops_that_wait_inside_leave_the_clocks_alone():
    evaluation = scenes.evaluation()
    waiting = []
    free = dict.fromkeys(range(4), 0.0)
    for sample in samples_of(evaluation):
        # As a host sees it: an op begins when the one before has ended, and waits for its data inside.
        end = sample.start + sample.duration
        waiting.append(replace(sample, start=free[sample.stage], duration=end - free[sample.stage]))
        free[sample.stage] = end
    found = compare(evaluation, waiting)
    assert "their times include waiting for data" in found.notes[0]
    assert found.step_time == pytest.approx(evaluation.step_time)
