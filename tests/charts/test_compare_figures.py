"""Charts of several plans: every plan is there, limits and what breaks them are marked."""

from itertools import pairwise

import pytest

from sapp_core.charts.compare_bubble import bubble_comparison_figure
from sapp_core.charts.compare_memory import MemoryBars, memory_comparison_figure
from sapp_core.charts.theme import DARK, LIGHT, contrast, series_look
from tests.charts.scenes import evaluation

PLANS = [evaluation(), evaluation(stages=6), evaluation(schedule="vpp", chunks=2)]


def bars(*limits) -> list[MemoryBars]:
    return [MemoryBars(f"plan {i}", PLANS[i], limit) for i, limit in enumerate(limits)]


def test_bars_stand_side_by_side_and_do_not_overlap():
    figure = memory_comparison_figure(bars(None, None, None), LIGHT)
    drawn = [trace for trace in figure.data if trace.type == "bar"]
    assert [len(trace.y) for trace in drawn] == [4, 6, 4]
    for stage in range(4):
        places = [trace.x[stage] for trace in drawn]
        assert places == sorted(places)
        assert all(b - a >= drawn[0].width for a, b in pairwise(places))
        assert all(abs(place - stage) < 0.5 for place in places)
    for trace, plan in zip(drawn, PLANS, strict=True):
        assert list(trace.y) == pytest.approx(list(plan.peak_memory_mb))  # MiB: all are below 4 GiB


def test_one_limit_is_one_line_as_long_as_the_longest_pipeline():
    lines = [
        t
        for t in memory_comparison_figure(bars(2000.0, 2000.0, 2000.0), LIGHT).data
        if t.type == "scatter" and t.mode == "lines"
    ]
    assert [line.name for line in lines] == ["Limit 2,000 MiB"]
    assert max(lines[0].x) == 5.5


def test_different_limits_are_lines_with_names_and_what_breaks_them_is_marked():
    figure = memory_comparison_figure(bars(1000.0, None, (1e4, 1e4, 1.0, 1e4)), LIGHT)
    lines = [trace.name for trace in figure.data if trace.type == "scatter" and trace.mode == "lines"]
    assert lines == ["Limit 1,000 MiB (plan 0)", "Limit (plan 2)"]
    marks = [trace for trace in figure.data if trace.type == "scatter" and trace.mode == "text"]
    assert [list(mark.text) for mark in marks] == [["▲"], ["▲"]]
    assert "stage 0: 420 MiB over the limit" in marks[0].hovertext[0]
    assert "stage 2" in marks[1].hovertext[0]


def test_the_parts_of_each_bubble_add_up_to_the_number_above_it():
    named = [(f"<b>{i}</b>", plan) for i, plan in enumerate(PLANS)]
    figure = bubble_comparison_figure(named, LIGHT)
    for row, plan in enumerate(PLANS):
        assert sum(trace.x[row] for trace in figure.data) == pytest.approx(plan.bubble.total)
        words = figure.layout.annotations[row].text
        assert f"{100 * plan.bubble.total:.1f} %" in words
        assert words.startswith("&lt;b&gt;")


def test_parts_that_nobody_has_are_left_out():
    assert {trace.name for trace in bubble_comparison_figure([("a", PLANS[0])], LIGHT).data} == {
        "Schedule itself",
        "Uneven stages",
    }


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_six_series_look_different_and_their_labels_can_be_read(theme):
    looks = [series_look(index, theme) for index in range(6)]
    assert len({(look.fill, look.pattern) for look in looks}) == 6
    assert all(contrast(look.fill, look.label) >= 4.5 for look in looks)
    assert all(contrast(look.fill, theme.background) >= 1.8 for look in looks)
