"""The comparison report: one file, no network, nothing from a file as markup, its scenarios inside."""

from dataclasses import replace
from datetime import date

import pytest

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.profile import RecomputeMode
from sapp_core.interchange.comparison import comparison_from_json
from sapp_core.report.comparison import comparison_html
from tests.charts import scenes
from tests.comparison.candidates import candidate, without_memory
from tests.report.test_html import MADE, NASTY, Page, without_plotly

BASE = candidate(limit=1000.0)
FULL = candidate("full", mode=RecomputeMode.FULL, limit=1000.0)


def charts(page: Page) -> list[str]:
    return [attrs["id"] for tag, attrs in page.tags if tag == "div" and "plotly-graph-div" in attrs.get("class", "")]


def test_it_says_what_changed_in_words_numbers_and_charts():
    page = Page(without_plotly(comparison_html([BASE, FULL], BASE, MADE)))
    for words in ("2026-01-02", "2 scenarios against base", "mostly because recomputation rose", "−47.3 %", "Settings"):
        assert words in page.text
    assert charts(page) == ["timeline-0", "timeline-1", "memory", "bubbles"]
    assert not [attrs for _, attrs in page.tags if {"src", "href"} & set(attrs)]


def test_its_scenarios_can_be_opened_again():
    html = comparison_html([BASE, FULL], BASE, MADE)
    read = comparison_from_json(html.encode(), "report.html").scenarios
    assert [(found.name, found.saved.scenario, found.saved.plan) for found in read] == [
        (found.name, found.scenario, found.plan) for found in (BASE, FULL)
    ]


def test_text_from_files_is_text():
    profile = replace(scenes.profile(), name=NASTY, time_unit="<i>t</i>")
    nasty = [candidate(f"{NASTY}{index}"[:80], profile=profile, limit=10.0) for index in range(2)]
    page = Page(without_plotly(comparison_html(nasty, nasty[0], MADE)))
    assert "alert(1)" in page.text
    assert {tag for tag, _ in page.tags} & {"b", "i"} == set()
    assert [tag for tag, _ in page.tags].count("script") == 3 + 4  # data, the library, printing, and one for each chart


def test_without_memory_there_is_no_memory_chart():
    one = candidate(profile=without_memory(scenes.profile()))
    assert charts(Page(without_plotly(comparison_html([one, replace(one, name="b")], one, MADE)))) == [
        "timeline-0",
        "timeline-1",
        "bubbles",
    ]


@pytest.mark.parametrize(
    ("schedule", "pipeline"), [("1f1b", Pipeline(8, 70)), ("zb-1p", Pipeline(8, 48)), ("vpp", Pipeline(64, 128, 3))]
)
def test_six_large_steps_stay_below_six_megabytes(schedule, pipeline):
    one = candidate(schedule=schedule, pipeline=pipeline, profile=scenes.profile(layers=pipeline.num_virtual_stages))
    html = comparison_html([replace(one, name=f"scenario {i}") for i in range(6)], one, date(2026, 1, 2))
    assert len(html.encode()) < 6_000_000


def test_a_large_step_takes_no_blocks_from_the_small_ones_beside_it():
    layers = scenes.profile(layers=192)
    small = [candidate(f"small {n}", schedule="1f1b", pipeline=Pipeline(8, 70), profile=layers) for n in range(4)]
    large = [candidate(f"large {n}", schedule="vpp", pipeline=Pipeline(64, 128, 3), profile=layers) for n in range(2)]
    html = comparison_html([*small, *large], small[0], MADE)
    assert len(html.encode()) < 6_000_000
    traces = without_plotly(html).count('"type":"heatmap"')
    assert traces == 2 * 2 * 3  # two large ones, forward and backward, three chunks
