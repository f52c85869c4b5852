"""The Compare page: what is kept, how it is compared, and that it comes back."""

import json
from dataclasses import replace
from datetime import date

import pytest

from pages.shared.kept_link import LONGEST
from sapp_core.comparison.candidate import Candidate
from sapp_core.comparison.words import what_changed
from sapp_core.interchange.comparison import comparison_from_json, comparison_to_json
from sapp_core.report.comparison import comparison_html
from tests.pages.opened import Opened, profile_file, unescaped

PAGE = "pages/compare.py"


def press(opened: Opened, key: str) -> Opened:
    opened.at.button(key=key).click()
    return opened.run()


def go(opened: Opened, page: str) -> Opened:
    opened.at.switch_page(page)
    return opened.run()


def names(opened: Opened) -> list[str]:
    """Of the kept scenarios, from top to bottom."""
    return [field.value for field in opened.at.text_input if field.key.startswith("kept_name_")]


def table(opened: Opened):
    return opened.at.dataframe[0].value


def keep_two(opened: Opened) -> Opened:
    """The sample as it opens, and the same with half the micro-batches, both kept."""
    press(opened, "keep")
    opened.at.slider(key="micro_batches").set_value(16)
    opened.run().balance()
    return go(press(opened, "keep"), PAGE)


@pytest.fixture
def compared(opened):
    return keep_two(opened)


def test_an_empty_page_says_what_to_do_and_starts_with_one_click(opened):
    go(opened, PAGE)
    assert "Nothing is kept yet" in opened.at.subheader[0].value
    press(opened, "kept_start")
    even, balanced = names(opened)
    assert even.startswith("even split")
    assert f"What changed: {balanced}" in opened.said
    assert "The settings are the same." in opened.said
    assert len(opened.figures) == 2


def test_without_any_result_the_empty_page_leads_to_balance():
    opened = Opened(PAGE)
    assert "kept_start" not in [button.key for button in opened.at.button]
    assert "Go to the Balance page" in [link.label for link in opened.at.get("page_link")]


def test_two_results_kept_on_balance_are_compared(compared):
    first, second = names(compared)
    assert list(table(compared).columns) == ["", first, second]
    assert [figure["layout"]["xaxis"]["range"] for figure in compared.figures] == [
        compared.figure(0)["layout"]["xaxis"]["range"]
    ] * 2
    for words in ("micro-batches 24 → 16" if "24" in first else "→ 16", "For each micro-batch", "Compare with"):
        assert words in compared.said or words == "Compare with"
