import pytest

from sapp_core.charts.bubble import bubble_figure
from sapp_core.charts.theme import LIGHT
from tests.charts import scenes


def test_parts_are_drawn_in_order_and_add_up():
    evaluation = scenes.evaluation("vpp", chunks=2, mode="full", p2p_time=3.0)
    (trace,) = bubble_figure([("Plan", evaluation)], LIGHT).data
    assert list(trace.measure) == ["relative"] * 4 + ["total"]
    assert sum(trace.x[:4]) == pytest.approx(trace.x[4]) == pytest.approx(evaluation.bubble.total)


def test_each_part_is_given_in_percent_and_in_time():
    evaluation = scenes.bubbles(0.2, -0.05, 0.1, 0.0)
    (trace,) = bubble_figure([("Plan", evaluation)], LIGHT).data
    assert list(trace.text) == [
        "+20.0 %<br>200 ms",
        "−5.0 %<br>-50 ms",
        "+10.0 %<br>100 ms",
        "0.0 %<br>0 ms",
        "+25.0 %<br>250 ms",
    ]


def test_the_axis_holds_every_step_of_the_waterfall_and_its_numbers():
    figure = bubble_figure([("Plan", scenes.bubbles(0.1, -0.3, 0.1, 0.0))], LIGHT)
    low, high = figure.layout.xaxis.range
    assert low < -0.2
    assert high > 0.1


def test_plans_stand_side_by_side_and_names_are_no_markup():
    figure = bubble_figure([("<i>a</i>", scenes.bubbles(0.2, 0, 0, 0)), ("b", scenes.bubbles(0.1, 0, 0, 0))], LIGHT)
    assert [trace.name for trace in figure.data] == ["&lt;i&gt;a&lt;/i&gt;", "b"]
    assert figure.layout.waterfallmode == "group"
    assert figure.data[0].increasing.marker.color != figure.data[1].increasing.marker.color


def test_a_step_without_any_bubble_has_an_axis():
    low, high = bubble_figure([("Plan", scenes.bubbles(0.0, 0.0, 0.0, 0.0))], LIGHT).layout.xaxis.range
    assert low < high
