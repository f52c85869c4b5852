from dataclasses import replace

import numpy as np
import pytest

from sapp_core.charts.gantt import MAX_BLOCKS
from sapp_core.charts.measured import difference_table, idle_table, measured_figure
from sapp_core.charts.theme import DARK, LIGHT
from sapp_core.domain.measured import KindDifference, MeasuredComparison, MeasuredStep
from sapp_core.domain.schedule import OpKind
from tests.charts import scenes


def step_of(evaluation, stretch=1.0):
    """The simulated step as a measured one, every time stretched."""
    times = [
        [
            stretch * time
            for stage, slots in enumerate(evaluation.schedule.slots)
            for time, slot in zip(source[stage], slots, strict=True)
            for _ in slot.ops
        ]
        for source in (evaluation.timeline.starts, evaluation.timeline.ends)
    ]
    return MeasuredStep(*map(tuple, times))


def bars(figure):
    return [trace for trace in figure.data if trace.type == "bar"]


def test_every_op_is_there_twice_in_its_own_half_of_the_lane():
    evaluation = scenes.evaluation()
    figure = measured_figure(evaluation, step_of(evaluation, 1.25), LIGHT)
    upper, lower = bars(figure)[:2], bars(figure)[2:]
    assert sum(len(trace.x) for trace in upper) == sum(len(trace.x) for trace in lower) == 4 * 16
    for traces, sign, stretch in ((upper, -1, 1.0), (lower, 1, 1.25)):
        for trace in traces:
            facts = np.asarray(trace.customdata)
            middle, height = np.asarray(trace.y), np.asarray(trace.width)
            assert (sign * (middle - facts[:, 0]) - height / 2 > 0).all()
            assert (sign * (middle - facts[:, 0]) + height / 2 < 0.5).all()
            assert ("simulated" if sign < 0 else "measured") in trace.hovertemplate
            assert facts[:, 3].max() <= stretch * evaluation.step_time + 1e-9
    assert figure.layout.xaxis.range == (0.0, 1.25 * evaluation.step_time)


def test_overlapped_ops_share_their_half():
    evaluation = scenes.overlapped()
    figure = measured_figure(evaluation, step_of(evaluation), LIGHT)
    for trace in bars(figure):
        offset = np.asarray(trace.y) - np.asarray(trace.customdata)[:, 0]
        assert (np.abs(np.abs(offset) - 0.25) <= 0.1 + 1e-9).all()


def test_the_halves_are_told_apart_without_colour():
    evaluation = scenes.evaluation()
    figure = measured_figure(evaluation, step_of(evaluation), LIGHT)
    assert figure.layout.yaxis.ticktext[:3] == ("0 sim", "meas", "1 sim")
    assert [(shape.y0, shape.y1) for shape in figure.layout.shapes] == [(s, s + 0.5) for s in range(4)]
    assert "above: simulated" in figure.layout.title.text
    many = scenes.evaluation(stages=24, micro_batches=24)
    assert measured_figure(many, step_of(many), DARK).layout.yaxis.ticktext[1] == "1"


def test_the_legend_names_each_kind_once():
    evaluation = scenes.evaluation("vpp", chunks=2)
    named = [trace.name for trace in bars(measured_figure(evaluation, step_of(evaluation), LIGHT)) if trace.showlegend]
    assert len(named) == len(set(named)) == 4


def test_what_was_not_measured_is_not_drawn():
    evaluation = scenes.evaluation()
    step = step_of(evaluation)
    part = MeasuredStep((None, *step.starts[1:]), (None, *step.ends[1:]))
    figure = measured_figure(evaluation, part, LIGHT)
    assert sum(len(trace.x) for trace in bars(figure)) == 2 * 64 - 1


def test_too_many_blocks_are_bins_of_time_in_both_halves():
    evaluation = scenes.evaluation("vpp", stages=16, micro_batches=30, chunks=3, layers=96)
    assert evaluation.schedule.num_ops < MAX_BLOCKS < 2 * evaluation.schedule.num_ops
    figure = measured_figure(evaluation, step_of(evaluation), LIGHT)
    maps = [trace for trace in figure.data if trace.type == "heatmap"]
    assert not bars(figure)
    assert {(trace.y0, trace.dy) for trace in maps} == {(-0.25, 0.5), (0.25, 0.5)}
    simulated, measured = (
        [np.asarray(trace.z) for trace in maps if trace.y0 == first] for first in (-0.25, 0.25)
    )  # fmt: skip
    for z in (*simulated, *measured):
        assert z.shape[0] == 32
        assert np.isnan(z[1::2]).all()
        assert not np.isnan(z[::2]).all()
    np.testing.assert_array_equal(simulated, measured)
    window = (0.4 * evaluation.step_time, 0.45 * evaluation.step_time)
    assert bars(measured_figure(evaluation, step_of(evaluation), LIGHT, window))


def test_tables_have_units_and_numbers():
    rows = (KindDifference(0, OpKind.F, 3, 11.0, 10.0), KindDifference(1, OpKind.W, 3, 1.0, 0.0))
    found = MeasuredComparison(rows, None, 1, 5.0, 4.0, (1.0, 2.0), (0.5, 0.5), ())
    table = difference_table(found, "ms")
    assert table["Work"] == ["Forward", "Weight gradient"]
    assert table["Difference (ms)"] == [1.0, 1.0]
    assert table["Difference (%)"] == [pytest.approx(10), None]
    assert idle_table(found, "ms")["Idle, measured (ms)"] == [1.0, 2.0]
    assert idle_table(replace(found, idle=None), "ms") == {}
