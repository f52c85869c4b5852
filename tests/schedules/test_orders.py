"""Orders equal the recorded ones of the frameworks."""

import pytest

from sapp_core.domain.pipeline import Pipeline, Remainder
from sapp_core.errors import PipelineError
from sapp_core.schedules.in_flight import peak_in_flight, peak_vectors
from sapp_core.schedules.registry import make_schedule
from tests.recorded import accepted, cases, compute_order, label

OURS = [
    ("torch", "GPipe", "gpipe"),
    ("torch", "1F1B", "1f1b"),
    ("torch", "Interleaved1F1B", "vpp"),
    ("megatron", "1F1B", "1f1b"),
    ("megatron", "Interleaved1F1B", "vpp"),
    ("zerobubble", "vpp", "vpp"),
]


def pipeline_of(case) -> Pipeline:
    stages, count = case["ranks"], case["microbatches"]
    group = case["options"].get("microbatch_group_size_per_vp_stage")
    if case["source"].startswith("torch") and case["schedule"] == "Interleaved1F1B" and count >= stages:
        group = count // (count // stages)
    return Pipeline(stages, count, case["chunks"], group_size=group)


@pytest.mark.parametrize(("file", "theirs", "ours"), OURS)
def test_order_and_peaks_equal_every_recorded_case(file, theirs, ours):
    compared = 0
    for case in accepted(file, theirs):
        schedule = make_schedule(ours, pipeline_of(case))
        assert schedule.tokens() == compute_order(case), label(case)
        assert [list(row) for row in peak_in_flight(schedule)] == case["peak_inflight"]["b"], label(case)
        compared += 1
    assert compared >= 9


def test_a_short_last_group_runs_as_paddle_does_or_is_refused_where_paddle_deadlocks():
    equal, refused = 0, 0
    for case in accepted("paddle_vpp"):
        stages, count, chunks = case["ranks"], case["microbatches"], case["chunks"]
        if count == stages or case["options"]["effective_split"]:
            continue  # Paddle's own special case, all forwards first: not this schedule.
        pipeline = Pipeline(stages, count, chunks)
        if "problems" in case:
            with pytest.raises(PipelineError, match="num_micro_batches"):
                make_schedule("vpp", pipeline)
            refused += 1
        else:
            assert make_schedule("vpp", pipeline).tokens() == compute_order(case), label(case)
            equal += 1
    assert (equal, refused) == (98, 14)


def test_what_megatron_refuses_for_its_group_size_is_refused_here_too():
    for case in cases("megatron"):
        group, count = case["options"].get("microbatch_group_size_per_vp_stage"), case["microbatches"]
        if "rejected" in case and group > count:
            with pytest.raises(PipelineError, match="group_size: must lie between"):
                make_schedule("vpp", pipeline_of(case))


@pytest.mark.parametrize(
    ("stages", "chunks", "count", "legal"), [(4, 3, 5, (4, 6)), (8, 2, 20, (17, 22)), (8, 3, 9, (8, 14))]
)
def test_the_nearest_legal_numbers_of_micro_batches_are_named(stages, chunks, count, legal):
    below, above = legal
    with pytest.raises(PipelineError, match=f"take {below} or {above}, or set remainder to first"):
        make_schedule("vpp", Pipeline(stages, count, chunks))
    for other in legal:
        make_schedule("vpp", Pipeline(stages, other, chunks))
    make_schedule("vpp", Pipeline(stages, count, chunks, remainder=Remainder.FIRST))


def test_less_memory_with_a_remainder_runs():
    # The reference deadlocks here: its warm-up forgets the larger first group.
    for remainder in Remainder:
        make_schedule("vpp-less-memory", Pipeline(4, 10, 3, remainder=remainder))


def test_less_memory_keeps_fewer_in_flight():
    pipeline = Pipeline(8, 16, 2)
    usual, less = (
        [max(map(sum, vectors)) for vectors in peak_vectors(make_schedule(name, pipeline))]
        for name in ("vpp", "vpp-less-memory")
    )
    assert usual == [16 + 8 - 2 * s - 1 for s in range(8)]
    assert less == [16 - s for s in range(8)]
