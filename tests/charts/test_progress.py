from sapp_core.charts.progress import progress_figure
from sapp_core.charts.theme import LIGHT
from sapp_core.domain.result import Progress

TRACE = (Progress(0.1, None, 90.0), Progress(0.5, 120.0, 90.0), Progress(2.0, 100.0, 99.0))


def test_best_and_bound_are_steps_that_reach_the_end_of_the_run():
    bound, best = progress_figure(TRACE, 3.0, LIGHT, "Step time (ms)", "model · vpp").data
    assert (list(bound.x), list(bound.y)) == ([0.1, 0.5, 2.0, 3.0], [90.0, 90.0, 99.0, 99.0])
    assert (list(best.x), list(best.y)) == ([0.5, 2.0, 3.0], [120.0, 100.0, 100.0])
    assert bound.line.shape == best.line.shape == "hv"
    assert bound.line.dash != best.line.dash


def test_a_run_that_found_nothing_is_drawn_without_a_plan():
    figure = progress_figure(TRACE[:1], 1.0, LIGHT, "<b>x</b>", "<i>y</i>")
    assert list(figure.data[1].x or []) == []
    assert "&lt;i&gt;y&lt;/i&gt; · &lt;b&gt;x" in figure.layout.title.text
