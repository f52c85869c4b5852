"""The Measured tab of the Balance page."""

import csv
import io

import pytest

from sapp_core.domain.pipeline import Pipeline
from sapp_core.schedules.registry import make_schedule
from tests.pages.opened import Opened
from tests.pages.test_balance import blocks

TAB = "Measured"


def table(shift: float = 0.0) -> bytes:
    """Every op of the page's first scenario, one after the other: 8 stages, 32 micro-batches."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(("stage", "kind", "micro_batch", "start", "duration"))
    for stage, slots in enumerate(make_schedule("1f1b", Pipeline(8, 32)).slots):
        for number, slot in enumerate(slots):
            op = slot.ops[0]
            writer.writerow((stage, op.kind, op.micro_batch, 1e6 * stage + 100 * number + shift, 50))
    return out.getvalue().encode()


@pytest.fixture
def page(opened: Opened) -> Opened:
    return opened.tab(TAB)


def upload(page: Opened, *files: tuple[str, bytes]) -> Opened:
    page.at.file_uploader(key="measured_upload").set_value([(name, data, "text/csv") for name, data in files])
    return page.run()


def test_nothing_is_shown_before_there_is_a_file(page):
    assert len(page.figures) == 1
    assert not page.at.dataframe


def test_a_file_is_overlaid_and_its_differences_are_listed(page):
    upload(page, ("run.csv", table()))
    overlay = page.figure(1)
    assert "Measured against simulated" in overlay["layout"]["title"]["text"]
    assert blocks(overlay) == 2 * blocks(page.figure(0)) == 2 * 512
    differences, idle = (frame.value for frame in page.at.dataframe)
    assert list(differences["Runs"]) == [32] * 16
    assert set(differences["Measured (ms)"]) == {50.0}
    assert list(idle["Stage"]) == list(range(8))
    said = page.said.replace("*", "")
    assert "Compared with: run.csv." in said
    assert f"The measured step takes {7e6 + 6_350:,.0f} ms" in said
    assert "simulated one with" in said
    assert "their times include waiting" in said or "clocks of the stages disagree" in said


def test_several_files_and_several_steps(page):
    first, second = table(), table(shift=1e8)
    upload(page, ("one.csv", first), ("two.csv", second))
    assert list(page.at.dataframe[0].value["Runs"]) == [64] * 16
    assert "Of 2 measured steps it is the one of median length" in page.said.replace("*", "")


def test_the_file_stays_while_another_tab_is_open_and_goes_on_request(page):
    upload(page, ("run.csv", table()))
    page.tab("Plan")
    assert "Compared with" not in page.said
    page.tab(TAB)
    assert "Compared with: run.csv" in page.said
    page.at.button(key="measured_remove").click()
    page.run()
    assert "Compared with" not in page.said
    assert len(page.figures) == 1


def test_what_cannot_be_compared_is_said_in_sentences_and_keeps_the_page(page):
    before = page.numbers, page.figure(0)
    upload(page, ("<b>.csv", b"stage,kind,micro_batch,start,end\n9,F,0,0,1\n0,F,99,0,1\n"), ("b.json", b"{"))
    assert "cannot be compared with this plan" in page.said
    for sentence in (
        "<b>.csv, line 2: stage must be 0 to 7, found 9.",
        "line 3: micro_batch must be 0 to 31",
        "b.json",
    ):
        assert sentence in page.said
    assert (page.numbers, page.figure(0)) == before


def test_the_overlay_follows_the_time_window(page):
    page.at.session_state["time_window"] = (1000.0, 2000.0)
    upload(page, ("run.csv", table()))
    assert page.figure(1)["layout"]["xaxis"]["range"] == page.figure(0)["layout"]["xaxis"]["range"]


def test_durations_without_starts_have_no_overlay(page):
    upload(page, ("timers.csv", b"stage,kind,duration\n0,forward-compute,900\n0,backward-compute,2000\n"))
    assert len(page.figures) == 1
    assert list(page.at.dataframe[0].value["Work"]) == ["Forward", "Backward"]
    assert "The measured times have no starts" in page.said
