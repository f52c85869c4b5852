"""The Compare page: what is kept, how it is compared, and that it comes back."""

import json
from dataclasses import replace

import pytest

from pages.shared.kept import add
from pages.shared.kept_link import to_link
from pages.shared.saved import as_named
from pages.shared.sources import sample
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import even_split
from sapp_core.domain.profile import RecomputeMode
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.scenario import Scenario
from sapp_core.interchange.comparison import comparison_to_json
from tests.pages.opened import Opened, profile_file

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


def shelf(opened: Opened):
    return opened.at.session_state["kept_scenarios"]


@pytest.fixture
def quick():
    """A sample that is solved in no time."""
    return Opened(stages="4", micro_batches="8", limited="false").settled()


@pytest.fixture
def compared():
    """Two scenarios of a sample, with 8 and with 12 micro-batches, as a link brings them."""
    profile = sample("llama2_70b").profile
    entries = ()
    for micro_batches in (8, 12):
        pipeline = Pipeline(4, micro_batches)
        scenario = Scenario(profile, "1f1b", pipeline, BalanceRequest(None))
        entries = add(entries, scenario, even_split(profile, pipeline, RecomputeMode.FULL), None)
    return Opened(PAGE, kept=to_link(entries))


def test_an_empty_page_says_what_to_do_and_starts_with_one_click(quick):
    go(quick, PAGE)
    assert "Nothing is kept yet" in quick.at.subheader[0].value
    press(quick, "kept_start")
    even, balanced = names(quick)
    assert even.startswith("even split")
    assert f"What changed: {balanced}" in quick.said
    assert "The settings are the same." in quick.said
    assert len(quick.figures) == 2


def test_without_any_result_the_empty_page_leads_to_balance():
    opened = Opened(PAGE)
    assert "kept_start" not in [button.key for button in opened.at.button]
    assert "Go to the Balance page" in [link.label for link in opened.at.get("page_link")]


def test_results_kept_on_balance_come_back_with_what_is_certified(quick):
    press(quick, "keep")
    assert quick.at.button(key="keep").disabled
    quick.at.slider(key="micro_batches").set_value(12)
    quick.run().balance()
    go(press(quick, "keep"), PAGE)
    assert names(quick) == ["1f1b · 4×1 · 8 mb", "1f1b · 4×1 · 12 mb"]
    assert "Certified gap" in list(table(quick)[""])
    again = Opened(PAGE, kept=to_link(shelf(quick)))
    assert table(again).equals(table(quick))
    assert again.figures == quick.figures


def test_scenarios_are_compared_and_zoom_together(compared):
    first, second = names(compared)
    assert list(table(compared).columns) == ["", first, second]
    ranges = [figure["layout"]["xaxis"]["range"] for figure in compared.figures]
    assert len(ranges) == 2
    assert ranges[0] == ranges[1]
    for words in (f"What changed: {second}", "8 → 12 micro-batches. For each micro-batch", "micro-batches 8 → 12"):
        assert words in compared.said
    compared.at.session_state["compare_window"] = (1000.0, 5000.0)
    compared.run()
    assert [figure["layout"]["xaxis"]["range"] for figure in compared.figures] == [[1000.0, 5000.0]] * 2


def test_rename_reorder_hide_and_delete(compared):
    _, second = names(compared)
    compared.at.text_input(key="kept_name_1").input("The <b>best</b> one")
    compared.run()
    assert names(compared) == ["The <b>best</b> one", second]
    assert list(table(compared).columns)[1] == "The <b>best</b> one"
    press(compared, "kept_up_2")
    assert names(compared) == [second, "The <b>best</b> one"]
    compared.at.selectbox(key="compare_base").set_value(2)
    compared.run()
    assert "What changed: The <b>best</b> one" in compared.said
    compared.at.checkbox(key="kept_shown_2").uncheck()
    compared.run()
    assert list(table(compared).columns)[1].startswith("even split")  # what one alone is compared with
    press(compared, "kept_delete_2")
    press(compared, "kept_delete_1")
    assert "Nothing is kept yet" in compared.at.subheader[0].value


def test_a_link_brings_the_scenarios_to_every_page(compared):
    on_balance = Opened(kept=to_link(shelf(compared)), stages="4", micro_batches="8", limited="false")
    assert "Compare 2 kept scenarios" in [found.label for found in on_balance.settled().at.get("page_link")]
    assert names(go(on_balance, PAGE)) == names(compared)


def test_a_broken_link_is_said_and_harmless():
    opened = Opened(PAGE, kept="nonsense")
    assert "this part of the link was cut or changed" in opened.said
    assert names(opened) == []


def test_a_page_change_keeps_everything(compared):
    before = names(compared)
    for page in ("pages/schedules.py", "pages/balance.py", PAGE):
        go(compared, page)
    assert names(compared) == before


def test_an_uploaded_profile_stays_out_of_the_link_and_goes_into_the_file(quick):
    quick.upload(profile_file()).balance()
    go(press(quick, "keep"), PAGE)
    assert "A link cannot hold these scenarios" in quick.said
    data = comparison_to_json(as_named(shelf(quick))).encode()
    other = Opened(PAGE)
    other.at.file_uploader(key="kept_files_0").upload("mine.json", data, "application/json")
    other.run()
    assert names(other) == names(quick)
    assert [(kept.scenario, kept.plan, kept.result) for kept in shelf(other)] == [
        (kept.scenario, kept.plan, kept.result) for kept in shelf(quick)
    ]


def test_files_that_cannot_be_added_are_named_and_the_others_added(compared):
    before = names(compared)
    text = comparison_to_json(as_named(shelf(compared)[:1]))
    press(compared, "kept_delete_1")
    document = json.loads(text)
    document["scenarios"][0]["schedule"] = "nonsense"
    uploader = compared.at.file_uploader(key="kept_files_0")
    uploader.upload("bad.json", json.dumps(document).encode(), "application/json")
    compared.run()
    assert "bad.json was not added: " in compared.said
    assert "'nonsense' is not known" in compared.said
    compared.at.file_uploader(key="kept_files_1").upload("good.json", text.encode(), "application/json")
    compared.run()
    assert "was not added" not in compared.said
    assert set(names(compared)) == set(before)


def test_times_in_other_units_are_neither_subtracted_nor_on_one_axis(compared):
    compared.at.session_state["kept_scenarios"] = tuple(
        replace(kept, scenario=replace(kept.scenario, profile=replace(kept.scenario.profile, time_unit=unit)))
        for kept, unit in zip(shelf(compared), ("ms", "s"), strict=True)
    )
    compared.run()
    assert "Different time units (ms and s): step times are not subtracted." in compared.said
    assert "Times in ms, s have no axis in common" in compared.said
    assert "(" not in table(compared).iloc[0, 2]
    ranges = [figure["layout"]["xaxis"]["range"] for figure in compared.figures]
    assert ranges[0] != ranges[1]


def test_every_tab_shows_its_part(compared):
    titles = {}
    for tab in ("Memory", "Where time is lost", "Settings", "Download"):
        compared.at.session_state["compare_details"] = tab
        compared.run()
        titles[tab] = [figure["layout"]["title"]["text"] for figure in compared.figures]
    assert "Peak memory per stage, side by side" in titles["Memory"][0]
    assert "Where time is lost, side by side" in titles["Where time is lost"][0]
    assert [button.label for button in compared.at.get("download_button")] == [
        "Comparison report (HTML)",
        "All kept scenarios (JSON)",
        "Differences (CSV)",
    ]


def test_my_plan_is_offered_too(quick):
    quick.tab("My plan")
    press(quick, "my_plan_even")
    go(quick, PAGE)
    labels = [button.label for button in quick.at.button if (button.key or "").startswith("kept_add_")]
    assert labels == ["Add the Balance result", "Add its even split", "Add my plan"]
    press(quick, "kept_add_2")
    assert names(quick)[0].startswith("my plan")


def test_a_link_brings_what_the_others_are_compared_with(compared):
    _, second = names(compared)
    link = to_link(shelf(compared))
    again = Opened(PAGE, kept=link, compare_base=second)
    assert again.at.selectbox(key="compare_base").value == 2
    assert "(" in table(again)[names(again)[0]][0]
    # The name in the link changes with that of the scenario, which would not be found otherwise.
    again.at.text_input(key="kept_name_2").input("Base & #1")
    again.run()
    assert again.at.query_params["compare_base"] == "Base & #1"
    renamed = Opened(PAGE, kept=to_link(shelf(again)), compare_base="Base & #1")
    assert renamed.at.selectbox(key="compare_base").value == 2
    press(renamed, "kept_up_2")
    assert renamed.at.selectbox(key="compare_base").value == 2
    assert "compare_base" not in renamed.at.query_params  # the first one needs no word in the link
    stranger = Opened(PAGE, kept=link, compare_base="nobody")
    assert stranger.at.selectbox(key="compare_base").value == 1
