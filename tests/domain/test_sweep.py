"""Order and front of the results of a sweep."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.sweep import PointResult, PointStatus, SweepPoint, best_first, pareto_front

POINT = SweepPoint("1f1b", 4, 1, 8, 1, None, None, 1, 2)


def result(stages, status=PointStatus.FEASIBLE, time=None, memory=None):
    peaks = () if memory is None else (memory, memory / 2)
    return PointResult(replace(POINT, num_stages=stages), status, time, peaks)


RESULTS = st.lists(
    st.tuples(st.sampled_from(PointStatus), st.integers(1, 9).map(float), st.integers(1, 9).map(float)), max_size=12
).map(
    lambda rows: tuple(
        result(number, status) if status in {"refused", "failed"} else result(number, status, time, memory)
        for number, (status, time, memory) in enumerate(rows, start=1)
    )
)


def test_times_and_memory_of_a_result():
    found = result(4, time=160.0, memory=50.0)
    assert found.point.global_batch == 16
    assert found.time_per_sample == 10.0
    assert found.highest_peak_mb == 50.0
    assert found.fits
    assert found.gap is None
    nothing = result(4, PointStatus.REFUSED)
    assert (nothing.time_per_sample, nothing.highest_peak_mb, nothing.fits) == (None, None, False)


def test_a_point_that_cannot_be_cut_has_no_batch():
    assert replace(POINT, num_micro_batches=None).global_batch is None
    assert replace(POINT, data_parallel=None).global_batch is None


@given(RESULTS, st.randoms(use_true_random=False))
def test_the_order_is_that_of_the_content(results, random):
    ordered = best_first(results)
    assert sorted(map(repr, ordered)) == sorted(map(repr, results))
    assert best_first(random.sample(results, len(results))) == ordered
    fitting = [found.fits for found in ordered]
    assert fitting == sorted(fitting, reverse=True)
    times = [found.time_per_sample for found in ordered if found.fits]
    assert times == sorted(times)


@given(RESULTS)
def test_the_front_is_what_nobody_beats(results):
    front = pareto_front(results)
    fitting = [found for found in results if found.fits]

    def beats(other, found):
        pairs = ((other.time_per_sample, found.time_per_sample), (other.highest_peak_mb, found.highest_peak_mb))
        return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)

    assert {(found.time_per_sample, found.highest_peak_mb) for found in front} == {
        (found.time_per_sample, found.highest_peak_mb)
        for found in fitting
        if not any(beats(other, found) for other in fitting)
    }
    memory = [found.highest_peak_mb for found in front]
    assert memory == sorted(set(memory))
