"""Charts and table of a sweep."""

from dataclasses import replace
from functools import cache

import pytest
from plotly.colors import sample_colorscale, unlabel_rgb

from sapp_core.charts.sweep import BUBBLE, DIMENSIONS, PEAK, PER_SAMPLE, STEP_TIME, heat_map_figure, pareto_figure
from sapp_core.charts.sweep_table import reasons, sweep_table
from sapp_core.charts.theme import DARK, LIGHT, contrast
from sapp_core.domain.sweep import PointResult, PointStatus, pareto_front
from sapp_core.sweep.run import tasks_of
from sapp_core.sweep.work import work_on
from tests.sweep.grids import SMALL, sample

SCHEDULE, STAGES, INTERLEAVE = DIMENSIONS[:3]


@cache
def results():
    refused = [PointResult(p, PointStatus.REFUSED, sentences=p.problems) for p in SMALL.points() if p.problems]
    return (*refused, *map(work_on, tasks_of(SMALL, sample())))


def traces(figure):
    return {trace.name: trace for trace in figure.data}


@pytest.mark.parametrize("measure", [PER_SAMPLE, STEP_TIME])
def test_every_simulated_point_is_drawn_where_its_numbers_are(measure):
    drawn = traces(pareto_figure(results(), sample(), LIGHT, measure))
    assert set(drawn) == {"Pareto front", "1f1b", "vpp", "Does not fit (even split)"}
    seen = set()
    for name in ("1f1b", "vpp", "Does not fit (even split)"):
        trace = drawn[name]
        for x, y, place in zip(trace.x, trace.y, trace.customdata, strict=True):
            result = results()[place]
            assert (x, y) == (result.highest_peak_mb / 1024, measure.value(result))
            assert result.point.schedule_name == name if result.fits else name.startswith("Does not")
            seen.add(place)
    assert seen == {place for place, result in enumerate(results()) if result.status is not PointStatus.REFUSED}


def test_shapes_and_not_only_colours_tell_them_apart():
    drawn = traces(pareto_figure(results(), sample(), LIGHT))
    symbols = [drawn[name].marker.symbol for name in ("1f1b", "vpp", "Does not fit (even split)")]
    assert len(set(symbols)) == 3
    assert symbols[-1] == "x-thin"
    # A plan that fits under one limit and not under another counts as one that fits.
    assert drawn["Does not fit (even split)"].zorder < (drawn["1f1b"].zorder or 0)


def test_the_front_is_that_of_the_results():
    front = traces(pareto_figure(results(), sample(), LIGHT))["Pareto front"]
    expected = pareto_front(results())
    assert list(front.x) == [result.highest_peak_mb / 1024 for result in expected]
    assert list(front.y) == [result.time_per_sample for result in expected]
    assert front.line.shape == "hv"


def test_limits_are_lines_with_their_numbers_unless_there_are_too_many():
    figure = pareto_figure(results(), sample(), DARK)
    assert [shape.x0 for shape in figure.layout.shapes] == [30_000 / 1024, 56_000 / 1024]
    assert [note.text for note in figure.layout.annotations] == ["29.3 GiB", "54.7 GiB"]
    some = results()[-1]
    small = replace(some, peak_memory_mb=(3_000.0,))
    figure = pareto_figure([small], sample(), LIGHT)
    # The axis has the unit of its largest number, which may be a limit.
    assert figure.layout.xaxis.title.text.endswith("(GiB)")
    assert figure.layout.shapes[0].x0 == small.point.memory_limit_mb / 1024
    many = [replace(some, point=replace(some.point, memory_limit_mb=56e3 + n)) for n in range(6)]
    assert not pareto_figure(many, sample(), LIGHT).layout.shapes


def test_what_cannot_be_drawn_is_counted():
    assert "6 of 16 points fit · 4 cannot run" in pareto_figure(results(), sample(), LIGHT).layout.title.text
    nothing = pareto_figure([result for result in results() if result.status is PointStatus.REFUSED], sample(), LIGHT)
    assert not nothing.data


@pytest.mark.parametrize("measure", [PER_SAMPLE, STEP_TIME, PEAK, BUBBLE])
def test_a_cell_of_the_heat_map_is_the_best_of_all_that_share_its_values(measure):
    heat, _ = heat_map_figure(results(), sample(), LIGHT, SCHEDULE, STAGES, measure).data
    assert (list(heat.x), list(heat.y)) == (["1f1b", "vpp"], ["4", "8"])
    for row, stages in enumerate((4, 8)):
        for column, name in enumerate(("1f1b", "vpp")):
            fitting = [
                measure.value(result)
                for result in results()
                if result.fits and (result.point.schedule_name, result.point.num_stages) == (name, stages)
            ]
            assert heat.z[row][column] == (min(fitting) if fitting else None)


def test_a_cell_where_nothing_fits_says_so():
    heat, points = heat_map_figure(results(), sample(), LIGHT, SCHEDULE, INTERLEAVE).data
    assert heat.z[1][0] is None  # 1f1b holds one chunk
    labels = dict(zip(zip(points.x, points.y, strict=True), points.text, strict=True))
    assert labels["1f1b", "2"] == "×"
    assert labels["vpp", "2"] == PER_SAMPLE.text(heat.z[1][1], sample().time_unit)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("count", [1, 2, 21])
def test_labels_can_be_read_on_every_cell(theme, count):
    """Against the fill that Plotly computes for the value, not the one that the label was chosen for."""
    some = next(result for result in results() if result.fits)
    found = [
        replace(some, point=replace(some.point, num_stages=stages), step_time=100.0 + stages) for stages in range(count)
    ]
    heat, points = heat_map_figure(found, sample(), theme, SCHEDULE, STAGES, STEP_TIME).data
    for stages, label in enumerate(points.textfont.color):
        share = 1 - stages / (count - 1) if count > 1 else 0.5
        (fill,) = sample_colorscale([colour for _, colour in heat.colorscale], share)
        assert contrast(label, "#" + "".join(f"{round(part):02x}" for part in unlabel_rgb(fill))) > 4
    assert heat.reversescale


def test_a_cell_leads_to_its_point_and_says_why_nothing_fits():
    heat, points = heat_map_figure(results(), sample(), LIGHT, SCHEDULE, INTERLEAVE).data
    assert set(zip(points.x, points.y, strict=True)) == {(x, y) for x in ("1f1b", "vpp") for y in ("1", "2")}
    for x, y, place, words in zip(points.x, points.y, points.customdata, points.hovertext, strict=True):
        found = results()[place]
        assert (found.point.schedule_name, str(found.point.num_chunks)) == (x, y)
        best = heat.z[int(y) - 1][("1f1b", "vpp").index(x)]
        assert (PER_SAMPLE.value(found) if found.fits else None) == best
        assert ("num_chunks: 1f1b holds 1" in words) == (best is None)


def test_reasons_are_counted():
    why = reasons(results())
    assert sum(count for _, count in why) == sum(not result.fits for result in results())
    assert why[0][1] == 4
    assert why[0][0].startswith("num_chunks: 1f1b holds 1")


def test_values_of_an_axis_are_in_their_own_order():
    shuffled = results()[::-1]
    heat, _ = heat_map_figure(shuffled, sample(), LIGHT, DIMENSIONS[5], STAGES).data
    assert list(heat.x) == ["29.3 GiB", "54.7 GiB"]


def test_names_from_files_are_no_markup():
    named = replace(sample(), name="<b>x</b>", time_unit="<i>")
    figure = pareto_figure(results(), named, LIGHT)
    assert "&lt;b&gt;" in figure.layout.title.text
    assert "<i>" not in figure.layout.yaxis.title.text


def test_the_table_has_numbers_and_leaves_out_what_says_nothing():
    table = sweep_table(results(), sample())
    assert len(table) == 16
    assert "Splits" not in table
    assert "Objective" not in table
    assert list(table["Front"]) == [result in pareto_front(results()) for result in results()]
    by_hand = [result.highest_peak_mb and result.highest_peak_mb / 1024 for result in results()]
    assert [None if value != value else value for value in table["Peak (GiB)"]] == by_hand
    assert table["Remark"][0].startswith("num_chunks: 1f1b holds 1")
