from dataclasses import replace

import numpy as np
import pytest

from sapp_core.charts.lanes import MAX_STEPS
from sapp_core.charts.memory import memory_figure
from sapp_core.charts.memory_time import memory_over_time_figure
from sapp_core.charts.theme import LIGHT
from tests.charts import scenes


def named(figure):
    return {trace.name: trace for trace in figure.data if trace.name}


def numbers(figure):
    (trace,) = [trace for trace in figure.data if trace.type == "scatter" and trace.mode == "text"]
    return list(trace.text)


def stacked(figure):
    return sum(
        np.asarray(trace.customdata, dtype=float)
        for trace in figure.data
        if trace.type == "bar" and trace.name != "Over the limit"
    )


@pytest.mark.parametrize(("schedule", "chunks"), [("1f1b", 1), ("vpp", 3)])
def test_the_parts_of_a_bar_add_up_to_the_peak(schedule, chunks):
    evaluation = scenes.evaluation(schedule, chunks=chunks)
    figure = memory_figure(evaluation, LIGHT, None)
    assert stacked(figure) == pytest.approx(evaluation.peak_memory_mb)
    assert {"Parameters", "Constant"} <= set(named(figure))
    assert "Over the limit" not in named(figure)


def test_a_stage_over_its_limit_is_hatched_marked_and_named_with_its_excess():
    evaluation = scenes.by_hand(((0.0, 500.0, 0.0, 0.0), (0.0, 300.0, 0.0, 0.0)))
    figure = memory_figure(evaluation, LIGHT, 450.0)
    over = named(figure)["Over the limit"]
    assert list(over.x) == [0]
    assert list(over.base) == [450.0]
    assert list(over.y) == [pytest.approx(150.0)]
    assert over.marker.pattern.shape
    assert numbers(figure) == ["▲ +150", "400"]
    assert "Limit 450 MiB" in named(figure)


def test_rounding_is_not_over_the_limit():
    evaluation = scenes.by_hand(((0.0, 500.0, 0.0, 0.0), (0.0, 300.0, 0.0, 0.0)))
    assert "Over the limit" not in named(memory_figure(evaluation, LIGHT, 600.0 - 1e-9))
    assert "Over the limit" not in named(memory_over_time_figure(evaluation, LIGHT, 600.0 - 1e-9))


def test_limits_of_single_stages_are_a_stepped_line():
    evaluation = scenes.by_hand(((0.0, 500.0, 0.0, 0.0), (0.0, 300.0, 0.0, 0.0)))
    figure = memory_figure(evaluation, LIGHT, (700.0, 350.0))
    assert list(named(figure)["Limit"].y) == [700.0, 700.0, 350.0, 350.0]
    assert list(named(figure)["Over the limit"].x) == [1]


def test_large_amounts_are_in_gib():
    evaluation = scenes.by_hand(((0.0, 102_300.0, 0.0, 0.0), (0.0, 300.0, 0.0, 0.0)))
    figure = memory_figure(evaluation, LIGHT, 204_800.0)
    assert figure.layout.yaxis.title.text == "Memory (GiB)"
    assert numbers(figure)[0] == "100.0"
    assert max(figure.layout.yaxis.range) > 200


def test_another_plan_is_shown_as_dashes_and_never_squashes_the_bars():
    evaluation = scenes.by_hand(((0.0, 500.0, 0.0, 0.0), (0.0, 300.0, 0.0, 0.0)))
    other = scenes.by_hand(((0.0, 9000.0, 0.0, 0.0), (0.0, 250.0, 0.0, 0.0)))
    figure = memory_figure(evaluation, LIGHT, None, other)
    dashes = named(figure)["Even split"]
    top = max(figure.layout.yaxis.range)
    assert top < 1200
    assert dashes.y[0] < top
    assert dashes.y[1] == 350.0
    assert dashes.marker.symbol[0] != dashes.marker.symbol[1]
    assert dashes.hovertext[0] == "8.9 GiB"


def test_no_memory_at_all_still_gives_a_figure():
    evaluation = scenes.without_memory()
    assert numbers(memory_figure(evaluation, LIGHT, None)) == ["0"] * 4


def lanes(trace, stages):
    """Heights of a trace of lanes, stage by stage, as shares of the lane."""
    x, y = np.asarray(trace.x, dtype=float), np.asarray(trace.y, dtype=float)
    gaps = np.flatnonzero(np.isnan(x))
    return [
        (0.5 - (y[start:end] - stage) / 0.88)
        for stage, (start, end) in enumerate(zip([0, *(gaps[:-1] + 1)], gaps, strict=True))
    ][:stages]


def test_each_lane_follows_its_stage():
    evaluation = scenes.by_hand(((0.0, 500.0, 200.0, 0.0), (0.0, 300.0, 0.0, 0.0)))
    figure = memory_over_time_figure(evaluation, LIGHT, 1000.0)
    used = next(trace for trace in figure.data if trace.name == "Memory in use")
    first, second = lanes(used, 2)
    # The last point ends the step; what is released at that moment no longer shows.
    assert first == pytest.approx(np.array([100, 600, 300, 300]) / 1000, abs=1e-6)
    assert second == pytest.approx(np.array([100, 400, 100, 100]) / 1000, abs=1e-6)
    assert np.asarray(used.x)[:4].tolist() == [0.0, 1.0, 2.0, 5.0]
    assert np.asarray(used.customdata)[:4, 1].tolist() == [100, 600, 300, 300]


def test_a_lane_over_its_limit_is_filled_in_the_alarm_colour():
    evaluation = scenes.by_hand(((0.0, 500.0, 200.0, 0.0), (0.0, 300.0, 0.0, 0.0)))
    figure = memory_over_time_figure(evaluation, LIGHT, 450.0)
    over = named(figure)["Over the limit"]
    assert over.fillcolor == LIGHT.alarm
    first, second = lanes(over, 2)
    assert first.max() == pytest.approx(1.0, abs=1e-6)
    assert second.max() == pytest.approx(450 / 600, abs=1e-6)


def test_a_window_starts_with_what_is_alive_then():
    evaluation = scenes.by_hand(((0.0, 500.0, 200.0, 0.0), (0.0, 300.0, 0.0, 0.0)))
    figure = memory_over_time_figure(evaluation, LIGHT, 1000.0, (1.5, 3.0))
    used = next(trace for trace in figure.data if trace.name == "Memory in use")
    assert np.asarray(used.x)[:3].tolist() == [1.5, 2.0, 3.0]
    assert np.asarray(used.customdata)[:3, 1].tolist() == [600, 300, 300]


def test_thinning_loses_no_peak():
    times = tuple(float(i) for i in range(5000))
    spike = [0.0] * 5000
    spike[3333] = 400.0
    evaluation = scenes.by_hand((tuple(spike), (0.0,) * 5000), times)
    evaluation = replace(evaluation, timeline=replace(evaluation.timeline, step_time=5000.0))
    figure = memory_over_time_figure(evaluation, LIGHT, None)
    used = next(trace for trace in figure.data if trace.name == "Memory in use")
    assert len(used.x) == 2 * (MAX_STEPS + 2)
    assert np.asarray(used.customdata)[:, 1].max() == 500.0
    high = np.asarray(used.x)[np.asarray(used.customdata)[:, 1] == 500.0]
    assert len(high) <= 2
    assert abs(high[0] - 3333) <= 5000 / MAX_STEPS


def test_drawn_peaks_are_the_simulated_ones():
    evaluation = scenes.evaluation("vpp", stages=4, micro_batches=16, chunks=2)
    figure = memory_over_time_figure(evaluation, LIGHT, None)
    used = np.asarray(next(t for t in figure.data if t.name == "Memory in use").customdata)
    for stage, peak in enumerate(evaluation.peak_memory_mb):
        assert used[used[:, 0] == stage, 1].max() == pytest.approx(peak)
