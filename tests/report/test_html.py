"""The report: one file, no network, nothing from a file as markup, its scenario inside."""

import re
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser

import pytest

from sapp_core.charts.files import plotly_script
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import even_split
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import BalanceResult, Objective, Progress, Status
from sapp_core.domain.scenario import Scenario
from sapp_core.interchange.scenario import scenario_from_json
from sapp_core.report.html import report_html
from sapp_core.schedules.registry import make_schedule
from sapp_core.study import Study, evaluate, reference_for
from tests.charts import scenes

MADE = date(2026, 1, 2)
NASTY = "</script><script>alert(1)</script><b>*x*</b>"


def study(profile: ModelProfile, *, schedule="vpp", pipeline=None, limit=None, balanced=True) -> Study:
    pipeline = pipeline or Pipeline(4, 8, 2)
    order = make_schedule(schedule, pipeline)
    scenario = Scenario(profile, schedule, pipeline, BalanceRequest(limit))
    found = evaluate(profile, order, even_split(profile, pipeline))
    step = found.step_time
    result = BalanceResult(
        *(Status.FEASIBLE, found.plan, step, step / 2, 0.5, Objective.EXACT, step, step / 2, "highs", 1.5),
        notes=(f"A note {NASTY}.",),
        trace=(Progress(0.1, step, None), Progress(1.0, step, step / 2)),
    )
    return Study(
        scenario,
        found,
        reference_for(profile, order, scenario.request.limits(pipeline.num_stages)),
        result if balanced else None,
    )


class Page(HTMLParser):
    """Tags and visible text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.words: list[str] = []
        self._hidden = False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._hidden = tag in {"script", "style"}

    def handle_endtag(self, tag):
        self._hidden = False

    def handle_data(self, data):
        if not self._hidden:
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))


def without_plotly(html: str) -> str:
    assert html.count(plotly_script()) == 1
    return html.replace(plotly_script(), "")


def test_it_says_everything_a_design_review_asks():
    page = Page(without_plotly(report_html(study(scenes.profile(), limit=5000.0), MADE)))
    for words in (
        "Which numbers matter",
        "Measure first:",
        "2026-01-02",
        "Step time",
        "Bubble",
        "Peak memory",
        "Certified gap",
        "50.00 %",
        "times in ms",
    ):
        assert words in page.text
    for heading in ("Settings", "Who computes when", "Memory", "The plan", "Against the even split", "Certificate"):
        assert heading in page.text
    assert "How to read this report" in page.text
    assert "at most 100.00 % above it" in page.text
    charts = [attrs["id"] for tag, attrs in page.tags if tag == "div" and "plotly-graph-div" in attrs.get("class", "")]
    assert charts == ["timeline", "memory", "memory-over-time", "bubbles", "plan", "search", "sensitivity"]


def test_it_needs_no_network():
    html = without_plotly(report_html(study(scenes.profile()), MADE))
    assert not [attrs for _, attrs in Page(html).tags if {"src", "href"} & set(attrs)]
    assert "@import" not in html
    assert "url(" not in html


def test_text_from_files_is_text():
    layers = tuple(replace(layer, name=f"{NASTY}{index}") for index, layer in enumerate(scenes.profile(kinds=2).layers))
    profile = replace(scenes.profile(), name=NASTY, layers=layers, time_unit="<i>t</i>")
    nasty = study(profile, limit=10.0)
    html = without_plotly(report_html(nasty, MADE))
    page = Page(html)
    assert "alert(1)" in page.text
    assert "*x*" in page.text
    assert {tag for tag, _ in page.tags} & {"b", "i"} == set()
    plain = Page(without_plotly(report_html(study(scenes.profile(kinds=2), limit=10.0), MADE)))
    assert [tag for tag, _ in page.tags].count("script") == [tag for tag, _ in plain.tags].count("script")
    # And the page that opens it gets the very same scenario.
    saved = scenario_from_json(html.encode(), "report.html")
    assert (saved.scenario, saved.plan, saved.result) == (nasty.scenario, nasty.evaluation.plan, nasty.result)


def test_a_plan_that_was_only_simulated_claims_nothing():
    page = Page(without_plotly(report_html(study(scenes.profile(), balanced=False), MADE)))
    assert "Nothing is proven about this plan." in page.text
    assert "Time limit" not in page.text
    assert not [attrs for tag, attrs in page.tags if attrs.get("id") == "search"]


def test_without_memory_there_are_no_memory_charts():
    layers = tuple(
        replace(layer, parameter_mb=0.0, activation_mb=tuple(None if v is None else 0.0 for v in layer.activation_mb))
        for layer in scenes.profile().layers
    )
    page = Page(without_plotly(report_html(study(replace(scenes.profile(), layers=layers)), MADE)))
    assert "the profile gives no memory" in page.text
    assert not [attrs for tag, attrs in page.tags if attrs.get("id") in {"memory", "memory-over-time"}]


def test_stages_over_the_limit_are_named_but_not_all_of_many():
    html = report_html(study(scenes.profile(layers=64), pipeline=Pipeline(16, 16, 2), limit=1.0), MADE)
    text = Page(without_plotly(html)).text
    assert "Stage 5 needs" in text
    assert "Stage 6 needs" not in text
    assert "10 more stages are over their limit" in text


@pytest.mark.parametrize(
    ("schedule", "pipeline"),
    [("1f1b", Pipeline(128, 390)), ("vpp", Pipeline(64, 256, 3)), ("vpp", Pipeline(16, 62, 2))],
)
def test_large_steps_stay_below_six_megabytes(schedule, pipeline):
    profile = scenes.profile(layers=pipeline.num_virtual_stages)
    html = report_html(study(profile, schedule=schedule, pipeline=pipeline, balanced=False), MADE)
    assert len(html.encode()) < 6_000_000
