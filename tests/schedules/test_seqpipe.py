import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.pipeline import Pipeline
from sapp_core.errors import PipelineError
from sapp_core.schedules.in_flight import peak_in_flight
from sapp_core.schedules.registry import make_schedule
from tests.recorded import accepted, compute_order, label

OURS = [("Seq1F1B", "seqpipe", 22), ("Seq1F1B-interleaved", "seqpipe-vpp", 20)]


@pytest.mark.parametrize(("theirs", "ours", "count"), OURS)
def test_order_equals_every_sound_recorded_case(theirs, ours, count):
    compared = 0
    for case in accepted("seq1f1b", theirs):
        splits = case["options"]["seq_splits"]
        pipeline = Pipeline(case["ranks"], case["microbatches"], case["chunks"], splits)
        if "problems" in case:
            # Its slices get out of step when K does not divide S.
            with pytest.raises(PipelineError, match="num_sequence_splits: seqpipe-vpp needs a divisor"):
                make_schedule(ours, pipeline)
            continue
        assert make_schedule(ours, pipeline).tokens() == compute_order(case), label(case)
        compared += 1
    assert compared == count


@given(st.integers(1, 8), st.integers(1, 12), st.integers(1, 6))
def test_seqpipe_has_the_closed_form_peak(stages, count, splits):
    schedule = make_schedule("seqpipe", Pipeline(stages, count, num_sequence_splits=splits))
    units = [round(peak * splits) for (peak,) in peak_in_flight(schedule)]
    assert units == [min(stages - s - 1 + splits, count * splits) for s in range(stages)]


@given(st.integers(1, 8), st.integers(1, 12))
def test_one_split_is_1f1b(stages, count):
    pipeline = Pipeline(stages, count)
    assert make_schedule("seqpipe", pipeline).slots == make_schedule("1f1b", pipeline).slots


@pytest.mark.parametrize(
    ("pipeline", "words"),
    [
        (
            Pipeline(4, 10, 2, 2),
            "num_micro_batches: seqpipe-vpp needs a multiple of the 4 stages, found 10; take 8 or 12",
        ),
        (Pipeline(4, 2, 2, 2), "found 2; take 4"),
        (
            Pipeline(6, 12, 2, 4),
            "num_sequence_splits: seqpipe-vpp needs a divisor of the 6 stages, found 4; take 3 or 6",
        ),
        (Pipeline(2, 4, 2, 4), "found 4; take 2"),
    ],
)
def test_refusals_name_the_nearest_legal_values(pipeline, words):
    with pytest.raises(PipelineError, match=words):
        make_schedule("seqpipe-vpp", pipeline)
