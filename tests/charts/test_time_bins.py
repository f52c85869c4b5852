import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.charts.blocks import blocks_of
from sapp_core.charts.time_bins import bin_traces, time_bins
from tests.charts import scenes


@given(st.integers(1, 200), st.floats(0, 0.6), st.floats(0.05, 0.4))
def test_work_in_bins_adds_up_to_the_work_in_the_window(num_bins, start, width):
    evaluation = scenes.evaluation("vpp", stages=4, micro_batches=8, chunks=2)
    window = (start * evaluation.step_time, (start + width) * evaluation.step_time)
    blocks = blocks_of(evaluation).within(window)
    bins = time_bins(blocks, 4, window, num_bins)
    work = np.minimum(blocks.end, window[1]) - np.maximum(blocks.start, window[0])
    for stage in range(4):
        counted = bins.busy[stage].sum() * (window[1] - window[0]) / num_bins
        assert counted == pytest.approx(work[blocks.stage == stage].sum(), abs=1e-6)


def test_a_bin_shows_what_fills_most_of_it():
    evaluation = scenes.overlapped()
    bins = time_bins(blocks_of(evaluation), 2, (0.0, 12.0), 12)
    kinds = [bins.activities[a] if a >= 0 else None for a in bins.busiest[0].tolist()]
    # 0-1 F of chunk 0; 1-3 F and B of chunk 1 together; 3-4 I; 4-6 W; then waiting.
    assert kinds[0] == (0, 0)
    assert kinds[1] in {(0, 1), (1, 1)}
    assert kinds[3:6] == [(2, 0), (3, 0), (3, 0)]
    assert kinds[6:] == [None] * 6
    assert bins.busy[0].max() <= 1.0


def test_bins_without_blocks_only_wait():
    blocks = blocks_of(scenes.evaluation()).within((1e9, 2e9))
    bins = time_bins(blocks, 4, (1e9, 2e9), 10)
    assert bins.activities == ()
    assert (bins.busiest == -1).all()
    assert (bins.busy == 0).all()


def test_every_bin_is_coloured_by_one_trace_or_none():
    evaluation = scenes.evaluation("vpp", stages=4, micro_batches=8, chunks=2)
    blocks = blocks_of(evaluation)
    traces = bin_traces(blocks, evaluation.schedule.pipeline, (0.0, evaluation.step_time), 50, "ms")
    coloured = sum((~np.isnan(np.asarray(trace.z, dtype=float))).astype(int) for trace in traces)
    bins = time_bins(blocks, 4, (0.0, evaluation.step_time), 50)
    assert (coloured == (bins.busiest >= 0)).all()
    assert len(traces) == 4
