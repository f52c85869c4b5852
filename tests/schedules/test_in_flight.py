import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.schedule import OpKind
from sapp_core.schedules.in_flight import peak_in_flight, peak_vectors
from sapp_core.schedules.registry import make_schedule
from tests.recorded import FILES, accepted, label, recorded_schedule
from tests.strategies import schedules


def test_peaks_equal_the_recorded_ones_of_all_references():
    for file in FILES:
        for case in accepted(file):
            if "problems" in case:
                continue
            schedule = recorded_schedule(case)
            splits = schedule.pipeline.num_sequence_splits
            units = [[round(count * splits) for count in row] for row in peak_in_flight(schedule)]
            assert units == case["peak_inflight"]["w"], label(case)


@given(st.integers(1, 9), st.integers(1, 30))
def test_1f1b_never_exceeds_its_micro_batches(stages, count):
    schedule = make_schedule("1f1b", Pipeline(stages, count))
    assert peak_in_flight(schedule) == tuple((min(stages - s, count),) for s in range(stages))


@given(st.integers(2, 6), st.integers(2, 4), st.integers(1, 4))
def test_vpp_has_the_closed_form_peaks(stages, chunks, rounds):
    schedule = make_schedule("vpp", Pipeline(stages, stages * rounds, chunks))
    count = schedule.pipeline.num_micro_batches
    for s, (peaks, vectors) in enumerate(zip(peak_in_flight(schedule), peak_vectors(schedule), strict=True)):
        expected = [
            min(count, stages + max(0, min((chunks - 2 * c) * stages - 2 * s - 1, stages))) for c in range(chunks - 1)
        ]
        assert peaks == (*expected, min(count, stages, 2 * (stages - s) - 1))
        assert max(map(sum, vectors)) == min(chunks * count, chunks * stages + stages - 2 * s - 1)


@given(schedules(), st.lists(st.integers(0, 50), min_size=3, max_size=3))
def test_no_weights_make_any_moment_exceed_the_kept_vectors(schedule, weights):
    kept = schedule.pipeline.weight_gradient_memory_share
    change = {OpKind.F: 1.0, OpKind.B: -1.0, OpKind.I: kept - 1.0, OpKind.W: -kept}
    for slots, vectors in zip(schedule.slots, peak_vectors(schedule), strict=True):
        alive = [0.0] * schedule.pipeline.num_chunks
        highest = 0.0
        for op in (op for slot in slots for op in slot.ops):
            alive[op.chunk] += change[op.kind] / schedule.pipeline.num_sequence_splits
            highest = max(highest, sum(n * w for n, w in zip(alive, weights, strict=False)))
        promised = max(sum(n * w for n, w in zip(vector, weights, strict=False)) for vector in vectors)
        assert highest == pytest.approx(promised)


@given(schedules())
def test_kept_vectors_do_not_cover_each_other(schedule):
    for vectors in peak_vectors(schedule):
        assert vectors
        for a in vectors:
            assert not any(a != b and all(x <= y for x, y in zip(a, b, strict=True)) for b in vectors)
