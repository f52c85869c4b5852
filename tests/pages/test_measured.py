"""The Measured tab of the Balance page."""

import csv
import io
import json

import pytest
from streamlit.testing.v1 import AppTest

from sapp_core.domain.pipeline import Pipeline
from sapp_core.schedules.registry import make_schedule
from tests.pages.opened import unescaped

STAGES, MICRO_BATCHES = 4, 8


def table(stages: int = STAGES, micro_batches: int = MICRO_BATCHES, shift: float = 0.0) -> bytes:
    """Every op of a 1F1B step, one after the other and stage after stage."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(("stage", "kind", "micro_batch", "start", "duration"))
    for stage, slots in enumerate(make_schedule("1f1b", Pipeline(stages, micro_batches)).slots):
        for number, slot in enumerate(slots):
            op = slot.ops[0]
            writer.writerow((stage, op.kind, op.micro_batch, 1e6 * stage + 100 * number + shift, 50))
    return out.getvalue().encode()


def alone() -> None:
    """The tab without the page around it."""
    from pages.shared.cached import Simulated
    from pages.shared.measured import measured_tab
    from tests.charts import scenes

    measured_tab(Simulated("scene", scenes.evaluation()))


@pytest.fixture
def tab() -> AppTest:
    return AppTest.from_function(alone, default_timeout=60).run()


def upload(at: AppTest, *files: tuple[str, bytes]) -> AppTest:
    at.file_uploader(key="measured_upload").set_value([(name, data, "text/csv") for name, data in files])
    at.run()
    assert not at.exception
    return at


def said(at: AppTest) -> str:
    texts = [element.value for kind in ("error", "info", "markdown", "caption") for element in getattr(at, kind)]
    return unescaped("\n".join(texts)).replace("*", "")


def figures(at: AppTest) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]


def ops_drawn(figure: dict) -> int:
    return sum(len(trace["hovertext"]) for trace in figure["data"] if trace["type"] == "bar")


def test_on_the_page_a_file_is_overlaid_and_stays_until_it_is_removed(opened):
    opened.tab("Measured")
    assert len(opened.figures) == 1
    upload(opened.at, ("run.csv", table(8, 32)))
    assert ops_drawn(opened.figure(1)) == 2 * ops_drawn(opened.figure(0)) == 2 * 512
    opened.tab("Plan")
    assert "Compared with" not in opened.said
    opened.tab("Measured")
    assert "Compared with: run.csv" in opened.said
    assert len(opened.figures) == 2
    opened.at.button(key="measured_remove").click()
    opened.run()
    assert "Compared with" not in opened.said
    assert len(opened.figures) == 1


def test_nothing_is_shown_before_there_is_a_file(tab):
    assert not figures(tab)
    assert not tab.dataframe
    assert "Files stay in this session" in said(tab)


def test_differences_and_idle_times_are_listed(tab):
    upload(tab, ("run.csv", table()))
    differences, idle = (frame.value for frame in tab.dataframe)
    assert list(differences["Runs"]) == [MICRO_BATCHES] * 2 * STAGES
    assert set(differences["Measured (ms)"]) == {50.0}
    assert set(differences["Simulated (ms)"]) > {60.0, 120.0}
    assert list(idle["Stage"]) == list(range(STAGES))
    assert "The measured step takes 3,001,550 ms, +" in said(tab)
    assert "their times include waiting for data" in said(tab)
    (button,) = tab.get("download_button")
    assert button.proto.label == "Differences (CSV)"


def test_several_files_and_several_steps(tab):
    upload(tab, ("one.csv", table()), ("two.csv", table(shift=1e8)))
    assert list(tab.dataframe[0].value["Runs"]) == [2 * MICRO_BATCHES] * 2 * STAGES
    assert "Compared with: one.csv, two.csv." in said(tab)
    assert "Of 2 measured steps it is the one of median length" in said(tab)


def test_what_cannot_be_compared_is_said_in_sentences(tab):
    wrong = b"stage,kind,micro_batch,start,end\n9,F,0,0,1\n0,F,99,0,1\n"
    upload(tab, ("<b>.csv", wrong), ("b.json", b"{"))
    assert not figures(tab)
    assert "cannot be compared with this plan" in said(tab)
    for sentence in (
        "<b>.csv, line 2: stage must be 0 to 3, found 9.",
        "<b>.csv, line 3: micro_batch must be 0 to 7",
        "b.json: line 1, column 2 is not valid JSON",
    ):
        assert sentence in said(tab)


def test_the_overlay_follows_the_time_window(tab):
    tab.session_state["time_window"] = (100.0, 200.0)
    upload(tab, ("run.csv", table()))
    assert figures(tab)[0]["layout"]["xaxis"]["range"] == [100.0, 200.0]


def test_durations_without_starts_have_no_overlay(tab):
    upload(tab, ("timers.csv", b"stage,kind,duration\n0,forward-compute,900\n0,backward-compute,2000\n"))
    assert not figures(tab)
    assert list(tab.dataframe[0].value["Work"]) == ["Forward", "Backward"]
    assert "The measured times have no starts" in said(tab)
