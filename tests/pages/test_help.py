"""Every control of every page says what it is for."""

from collections.abc import Iterator

import pytest
from streamlit.testing.v1.element_tree import Block, Element

from sapp_core.domain.result import Objective
from sapp_core.schedules.registry import SCHEDULES
from tests.pages.opened import APP, Opened
from tests.profiles.traces import mindspore, written

PAGES = sorted(path.relative_to(APP.parent).as_posix() for path in (APP.parent / "pages").glob("*.py"))

TABS = (
    "Peak memory", "Memory over time", "Where time is lost", "Plan", "My plan", "Comparison", "Measured", "Sensitivity", "Search",
    "Download",
)  # fmt: skip


def controls(block: Block) -> Iterator[Element]:
    """Everything a visitor can set or press."""
    for child in block.children.values():
        if isinstance(child, Block):
            yield from controls(child)
        elif {"help", "id"} <= set(getattr(child.proto, "DESCRIPTOR", child).fields_by_name):
            yield child


def silent(page: Opened) -> list[str]:
    """Labels of controls without a help text."""
    found = list(controls(page.at._tree))
    assert found
    return [control.proto.label for control in found if len(control.proto.help.strip()) < 10]


@pytest.mark.parametrize("page", PAGES)
def test_every_control_has_a_help_text(page):
    assert silent(Opened(page).settled()) == []


@pytest.mark.parametrize("schedule", [family.name for family in SCHEDULES])
def test_so_have_the_controls_of_each_schedule(schedule):
    assert silent(Opened("pages/schedules.py", schedule=schedule, compare="true")) == []


def test_so_have_the_controls_of_each_tab(opened):
    assert {tab: silent(opened.tab(tab)) for tab in TABS} == {tab: [] for tab in TABS}


def test_so_have_what_appears_only_at_times(opened):
    opened.at.slider(key="micro_batches").set_value(9)
    opened.run()
    assert "balance_again" in {button.key for button in opened.at.button}
    assert silent(opened) == []
    splitting = Opened(profile="small32", schedule="seqpipe", sequence_splits="2")
    assert "Attention heads" in {number.label for number in splitting.at.number_input}
    assert silent(splitting) == []


def test_so_have_the_controls_of_the_classic_objectives():
    page = Opened(objective=Objective.SAPP_1, schedule="vpp")
    assert {"Memory model", "Solver"} <= {box.label for box in page.at.selectbox}
    assert silent(page) == []


def test_so_have_all_ways_to_a_profile():
    page = Opened("pages/profile.py")
    for origin in ("Hyper-parameters", "Dry-run peaks", "Profiler trace"):
        page.at.segmented_control(key="profile_origin").set_value(origin)
        assert silent(page.run()) == []
    page.at.file_uploader(key="trace_files").upload("t.json", written(mindspore()), "application/json")
    assert "Memory from" in {box.label for box in page.run().at.selectbox}
    assert silent(page) == []
    page.at.segmented_control(key="profile_origin").set_value("Hyper-parameters")
    page.run().at.selectbox(key="estimate_model").set_value("Sizes typed here")
    page.run().at.number_input(key="own_experts").set_value(8)
    page.at.selectbox(key="setup_device").set_value("Another device")
    assert {"Experts of a token", "Memory (GB)"} <= {number.label for number in page.run().at.number_input}
    assert silent(page) == []
