import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.charts.block_traces import MAX_LABELLED, SHORTEST_LABELLED_PX
from sapp_core.charts.blocks import blocks_of
from sapp_core.charts.gantt import MAX_BLOCKS, NUM_BINS, gantt_figure
from sapp_core.charts.scene import clipped_window, shifted_window
from sapp_core.charts.theme import DARK, LIGHT
from tests.charts import scenes


def bars(figure):
    return [trace for trace in figure.data if trace.type == "bar"]


def texts(figure):
    return [trace for trace in figure.data if trace.type == "scatter" and trace.mode == "text"]


def all_of(traces, name):
    return np.concatenate([np.asarray(trace[name]) for trace in traces])


def blocks_in_view(evaluation, window):
    return blocks_of(evaluation).count_within(window)


@pytest.fixture(scope="module")
def large():
    """16 stages × 3 chunks × 64 micro-batches: 6,144 blocks."""
    return scenes.evaluation("vpp", stages=16, micro_batches=64, chunks=3, layers=192)


@pytest.mark.parametrize(("schedule", "chunks"), [("gpipe", 1), ("1f1b", 1), ("vpp", 3), ("vpp-less-memory", 2)])
def test_every_op_is_one_block(schedule, chunks):
    evaluation = scenes.evaluation(schedule, chunks=chunks)
    figure = gantt_figure(evaluation, LIGHT)
    assert len(all_of(bars(figure), "x")) == evaluation.schedule.num_ops
    assert len(bars(figure)) == 2 * chunks
    assert bars(figure)[0].name.startswith("Forward")


def test_blocks_lie_where_and_when_they_run():
    evaluation = scenes.evaluation()
    for trace in bars(gantt_figure(evaluation, LIGHT)):
        stage, micro_batch, start, end, duration, _ = np.asarray(trace.customdata).T
        assert (np.asarray(trace.y) == stage).all()
        assert np.asarray(trace.base) == pytest.approx(start, abs=1e-3)
        drawn_end = np.asarray(trace.base) + np.asarray(trace.x)
        pixel = evaluation.step_time / 1000
        assert (np.abs(drawn_end - end) <= pixel).all()
        assert end - start == pytest.approx(duration)
        assert set(micro_batch) == set(range(8))


def test_hover_says_everything_about_a_block():
    trace = bars(gantt_figure(scenes.evaluation("vpp", chunks=2), LIGHT))[1]
    for part in ("Forward", "micro-batch", "stage", "chunk 1", "%{hovertext}", "ms", "takes"):
        assert part in trace.hovertemplate
    assert set(trace.hovertext) <= {"warm-up", "steady", "cool-down"}


def test_stage_0_is_on_top_and_time_fills_the_width():
    evaluation = scenes.evaluation()
    figure = gantt_figure(evaluation, LIGHT)
    assert figure.layout.yaxis.range == (3.5, -0.5)
    assert figure.layout.xaxis.range == (0.0, evaluation.step_time)


def test_forward_and_backward_differ_by_more_than_colour():
    forward, backward = bars(gantt_figure(scenes.evaluation(), LIGHT))
    assert forward.width > backward.width
    assert forward.marker.color != backward.marker.color


def test_a_weight_gradient_is_hatched():
    kinds = {trace.name: trace.marker.pattern.shape for trace in bars(gantt_figure(scenes.overlapped(), LIGHT))}
    assert kinds["Weight grad., chunk 0"] == "/"
    assert kinds["Forward, chunk 0"] == ""


def test_overlapped_blocks_share_the_lane():
    figure = gantt_figure(scenes.overlapped(), LIGHT)
    halves = {trace.name: trace for trace in bars(figure)}
    upper, lower = halves["Forward, chunk 1"], halves["Backward, chunk 1"]
    assert (np.asarray(upper.y) < np.asarray(lower.y)).all()
    assert (np.asarray(upper.base) == np.asarray(lower.base)).all()
    gap = np.asarray(lower.y) - np.asarray(upper.y)
    assert (gap >= (np.asarray(upper.width) + np.asarray(lower.width)) / 2 - 1e-9).all()


def test_phase_lines_pass_the_first_backward_and_the_last_forward_of_every_stage():
    evaluation = scenes.evaluation()
    lines = {
        trace.name: trace
        for trace in gantt_figure(evaluation, LIGHT).data
        if trace.type == "scatter" and trace.mode == "lines"
    }
    limits = evaluation.schedule.phases()
    for s, (warm_up, before_cool_down) in enumerate(limits):
        first_backward = evaluation.timeline.starts[s][warm_up]
        assert set(np.asarray(lines["Warm-up end"].x)[2 * s : 2 * s + 2]) == {first_backward}
        starts = evaluation.timeline.starts[s]
        cool_down = starts[before_cool_down] if before_cool_down < len(starts) else evaluation.step_time
        assert set(np.asarray(lines["Cool-down start"].x)[2 * s : 2 * s + 2]) == {cool_down}


def test_labels_are_micro_batch_numbers_in_the_middle_of_wide_blocks():
    evaluation = scenes.evaluation(micro_batches=4, stages=2)
    (labels,) = texts(gantt_figure(evaluation, LIGHT))
    assert len(labels.text) == evaluation.schedule.num_ops
    assert set(labels.text) == {"0", "1", "2", "3"}
    assert min(labels.textfont.size) >= 9
    assert len(set(labels.textfont.color)) == 2


def test_narrow_blocks_carry_no_label():
    evaluation = scenes.evaluation(stages=4, micro_batches=120)
    figure = gantt_figure(evaluation, LIGHT)
    assert len(all_of(bars(figure), "x")) == evaluation.schedule.num_ops
    assert not texts(figure)


def test_of_many_blocks_only_wide_ones_are_labelled(large):
    window = (0.0, 0.35 * large.step_time)
    assert MAX_LABELLED < blocks_in_view(large, window) <= MAX_BLOCKS
    figure = gantt_figure(large, LIGHT, window)
    shortest = SHORTEST_LABELLED_PX * (window[1] - window[0]) / 1100
    labelled = sum(len(trace.text) for trace in texts(figure))
    wide = sum((np.asarray(t.customdata)[:, 4] >= shortest).sum() for t in bars(figure))
    assert labelled <= wide


def test_too_many_blocks_are_shown_as_bins_of_time(large):
    figure = gantt_figure(large, LIGHT)
    assert large.schedule.num_ops == blocks_in_view(large, (0.0, large.step_time)) == 6144 > MAX_BLOCKS
    assert len(figure.data) <= 10
    maps = [trace for trace in figure.data if trace.type == "heatmap"]
    assert len(maps) == 6
    assert {np.asarray(trace.z).shape for trace in maps} == {(16, NUM_BINS)}


def test_a_closer_look_at_many_blocks_shows_the_blocks_again(large):
    window = (0.2 * large.step_time, 0.3 * large.step_time)
    figure = gantt_figure(large, LIGHT, window)
    assert len(all_of(bars(figure), "x")) == blocks_in_view(large, window) > 500
    assert len(figure.data) <= 10


@given(st.floats(0, 0.9), st.floats(0.01, 0.5))
def test_blocks_are_cut_at_the_window_but_tell_their_true_times(start, width):
    evaluation = scenes.evaluation()
    window = (start * evaluation.step_time, min(1.0, start + width) * evaluation.step_time)
    figure = gantt_figure(evaluation, LIGHT, window)
    assert figure.layout.xaxis.range == window
    assert sum(len(trace.x) for trace in bars(figure)) == blocks_in_view(evaluation, window)
    for trace in bars(figure):
        base, length = np.asarray(trace.base), np.asarray(trace.x)
        assert (base >= window[0] - 1e-2).all()
        assert (base + length <= window[1] + 1e-2).all()
        true = np.asarray(trace.customdata)
        assert true[:, 3] - true[:, 2] == pytest.approx(true[:, 4])


def test_text_of_a_profile_is_no_markup_in_the_figure():
    evaluation = scenes.evaluation(name="<b>%{x}</b>")
    figure = gantt_figure(evaluation, LIGHT)
    assert "<b>%{x}" not in figure.layout.title.text
    assert "&lt;b&gt;" in figure.layout.title.text


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_a_picture_has_the_background_of_its_theme(theme):
    figure = gantt_figure(scenes.evaluation(), theme)
    assert figure.layout.paper_bgcolor == theme.background
    assert figure.layout.font.color == theme.text


def test_windows_are_clipped_and_moved_within_the_step():
    assert clipped_window(None, 10.0) == (0.0, 10.0)
    assert clipped_window((-5.0, 3.0), 10.0) == (0.0, 3.0)
    assert clipped_window((20.0, 30.0), 10.0) == (0.0, 10.0)
    assert clipped_window((4.0, 4.0), 10.0) == (0.0, 10.0)
    assert shifted_window((2.0, 4.0), 0.5, 10.0) == (3.0, 5.0)
    assert shifted_window((2.0, 4.0), -5.0, 10.0) == (0.0, 2.0)
    assert shifted_window((2.0, 4.0), 50.0, 10.0) == (8.0, 10.0)
