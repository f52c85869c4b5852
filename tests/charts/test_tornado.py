import pytest

from sapp_core.charts.theme import LIGHT
from sapp_core.charts.tornado import MOST_BARS, drawn, sensitivity_rows, tornado_figure
from sapp_core.domain.profile import RecomputeMode
from sapp_core.domain.sensitivity import Excess, ProfileNumber, Quantity, Reaction, Sensitivity
from tests.charts import scenes


def number(layer="Block", quantity=Quantity.FORWARD, mode=None):
    return ProfileNumber(quantity, layer, mode, 20.0)


def found(times=(), memory=(), idle=()):
    return Sensitivity(0.1, 1000.0, 2000.0, tuple(times), tuple(memory), tuple(idle))


def test_bars_lie_on_both_sides_of_the_plan_with_the_largest_swing_on_top():
    reactions = [Reaction(number("A"), 930.0, 1080.0), Reaction(number("B"), 995.0, 1005.0)]
    figure = tornado_figure(found(reactions), scenes.evaluation(), LIGHT)
    smaller, larger = figure.data
    assert list(smaller.x) == pytest.approx([-0.07, -0.005])
    assert list(larger.x) == pytest.approx([0.08, 0.005])
    assert list(larger.y) == ["A<br>forward time", "B<br>forward time"]
    assert list(larger.text) == ["+8.0 %", "+0.5 %"]
    assert "20 ms → <b>1,080 ms</b>" in larger.hovertext[0]
    low, high = figure.layout.xaxis.range
    assert low < -0.08
    assert high > 0.08
    assert figure.layout.yaxis.autorange == "reversed"


def test_what_no_longer_fits_is_hatched_and_says_what_is_lacking():
    tight = Reaction(number(quantity=Quantity.ACTIVATIONS, mode=RecomputeMode.FULL), 1900.0, 2100.0, Excess(3, 40.0))
    _, larger = tornado_figure(found(memory=[tight]), scenes.evaluation(), LIGHT, memory=True).data
    assert list(larger.marker.pattern.shape) == ["x"]
    assert list(larger.y) == ["Block<br>activation mem. (full)"]
    assert "stage 3 would need 40 MiB more than its limit" in larger.hovertext[0]


def test_bars_that_cannot_be_seen_are_left_out_but_for_the_largest():
    tiny = [Reaction(number(str(n)), 999.9, 1000.1) for n in range(3)]
    assert drawn(found(tiny)) == (tiny[0],)
    many = [Reaction(number(str(n)), 900.0, 1100.0) for n in range(MOST_BARS + 3)]
    assert len(drawn(found(many))) == MOST_BARS
    assert drawn(found()) == ()
    assert tornado_figure(found(), scenes.evaluation(), LIGHT).data


def test_names_are_no_markup():
    figure = tornado_figure(found([Reaction(number("<b>%{x}"), 900.0, 1100.0)]), scenes.evaluation(), LIGHT)
    assert figure.data[0].y[0] == "&lt;b&gt;%&#123;x}<br>forward time"


def test_every_number_has_a_row():
    rows = sensitivity_rows(
        found(
            [Reaction(number("A"), 930.0, 1080.0)],
            [Reaction(number("", Quantity.CONSTANT), 1900.0, 2100.0, Excess(0, 5.0))],
            [number("C", Quantity.RECOMPUTE, RecomputeMode.SELECT)],
        ),
        "ms",
    )
    assert [(row["Layer"], row["Number"], row["Unit"]) for row in rows] == [
        ("A", "forward time", "ms"),
        ("all stages", "constant memory", "MiB"),
        ("C", "recompute time (select)", "ms"),
    ]
    assert rows[0]["Change if larger"] == pytest.approx(0.08)
    assert rows[1]["Beyond the limit, MiB"] == 5.0
    assert rows[2]["If larger"] is None
