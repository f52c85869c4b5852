"""All schedules on the Balance page: their own controls, what a change moves, and what is missing for splits."""

import time

import pytest

from pages.shared.training_sizes import _LABELS
from sapp_core.domain.sequence_split import NEEDED
from sapp_core.schedules.registry import SCHEDULES
from tests.pages.opened import Opened

QUICK = {"profile": "small32", "stages": "4", "micro_batches": "8", "time_limit": "5", "objective": "sapp-0"}
SIZES = {
    "batch_size": 1,
    "num_heads": 8,
    "seq_length": 1024,
    "head_dim": 64,
    "hidden_size": 512,
    "vocab_size": 32000,
    "model_parallel": 1,
}


def controls(page):
    """Keys of all sliders and number fields in the sidebar."""
    sidebar = page.at.sidebar
    return {element.key for kind in ("slider", "number_input", "selectbox") for element in getattr(sidebar, kind)}


def notice(page):
    return " ".join(info.value for info in page.at.sidebar.info)


@pytest.mark.parametrize("family", SCHEDULES, ids=lambda family: family.name)
def test_every_schedule_is_balanced_with_the_controls_that_mean_something(family):
    link = {f"training_{name}": str(value) for name, value in SIZES.items()} if family.uses_splits else {}
    page = Opened(**QUICK, **link, schedule=family.name).settled()
    assert page.numbers["Certified gap"].endswith(" %")
    title = page.figure(0)["layout"]["title"]["text"]
    assert f"small32 · {family.name} · 4 stages" in title
    there = controls(page)
    assert ("interleave" in there) == (family.fixed_chunks is None)
    assert ("sequence_splits" in there) == family.uses_splits
    assert ("group_size" in there) == ("remainder" in there) == family.uses_groups
    assert ("overlap_efficiency" in there) == family.overlaps == ("overlap efficiency η = 0" in page.said)
    assert family.overlaps == ("η 0" in title)
    assert ("input_gradient_share" in there) == ("weight_gradient_memory" in there) == family.splits_backward
    assert family.summary in page.said
    assert family.source in " ".join(caption.value for caption in page.at.caption).replace("\\", "")


def test_a_new_schedule_keeps_what_it_can_run_and_says_what_moved():
    page = Opened(**QUICK, schedule="vpp", interleave="4").settled()
    page.at.slider(key="micro_batches").set_value(6)
    page.at.selectbox(key="schedule").set_value("dualpipe-v")
    page.run()
    assert notice(page).replace("\\", "") == "For DualPipe-V: chunks per stage 4 → 2, micro-batches 6 → 8."
    assert page.at.slider(key="stages").value == 4
    assert page.at.slider(key="micro_batches").value == 8
    page.at.selectbox(key="schedule").set_value("vpp")
    page.run()
    assert page.at.slider(key="interleave").value == 4
    assert notice(page).replace("\\", "") == "For VPP (interleaved 1F1B): chunks per stage 2 → 4."
    page.at.selectbox(key="schedule").set_value("vpp-less-memory")
    assert not notice(page.run())


def test_sizes_a_schedule_cannot_run_are_explained_in_place_and_the_result_stays():
    page = Opened(**QUICK, schedule="dualpipe").settled()
    before = page.numbers
    page.at.slider(key="stages").set_value(5)
    page.run()
    assert "dualpipe needs an even number of stages, found 5; take 4 or 6" in page.said
    assert page.numbers == before
    assert page.at.button(key="balance").disabled


def test_splits_ask_for_exactly_the_sizes_that_are_missing():
    page = Opened(**QUICK, schedule="seqpipe")
    assert {key for key in controls(page) if key.startswith("training_")} == {f"training_{name}" for name in NEEDED}
    assert "needed for splitting the sequence, but not in the profile" in page.said
    assert page.at.button(key="balance").disabled
    assert any("Full recomputation is left out" in caption.value for caption in page.at.sidebar.caption)
    for name, value in SIZES.items():
        page.at.number_input(key=f"training_{name}").set_value(value)
    page.run().balance()
    assert "needed for splitting" not in page.said
    assert "× 2 splits" in page.figure(0)["layout"]["title"]["text"]
    page.at.selectbox(key="profile").set_value("llama96_full")
    assert page.run().at.number_input(key="training_batch_size").value is None
    page.at.selectbox(key="profile").set_value("seqpp16")
    assert not {key for key in controls(page.run()) if key.startswith("training_")}


def test_every_size_has_its_own_words():
    assert tuple(_LABELS) == NEEDED


def test_memory_model_and_solver_are_there_only_where_they_mean_something():
    page = Opened(**QUICK | {"objective": "exact"}).settled()
    assert not {"memory_model", "solver"} & controls(page)
    page.at.selectbox(key="objective").set_value("sapp-1")
    assert {"memory_model", "solver"} <= controls(page.run())
    page.at.selectbox(key="schedule").set_value("gpipe")
    page.run()
    assert "memory_model" not in controls(page)
    assert any("no closed formulas" in caption.value for caption in page.at.sidebar.caption)


def test_the_comparison_is_made_on_request_and_kept():
    page = Opened(**QUICK | {"objective": "exact", "micro_batches": "8"}).settled()
    page.tab("Comparison")
    end = time.monotonic() + 40
    while "being balanced" in list(page.at.dataframe[0].value["Remark"]):
        assert time.monotonic() < end
        time.sleep(0.1)
        page.run()
    table = page.at.dataframe[0].value.set_index("Plan")
    modes = ("no", "select", "full")
    assert list(table.index) == [
        "This plan (exact)",
        *(f"Even split, {mode} recomputation" for mode in modes),
        *("sapp-0", "sapp-1", "sapp-2"),
    ]
    assert table.loc["This plan (exact)", "Fits"] == "✓"
    assert table.loc["Even split, no recomputation", "Fits"].startswith("✗ over on stage")
    assert table.loc["Even split, full recomputation", "Against this plan"].startswith("+")
    # Nothing that keeps the limit is faster than a plan proven optimal.
    fitting = table[table["Fits"] == "✓"]["Against this plan"].iloc[1:]
    assert len(fitting) >= 3
    assert not any(change.startswith("−") for change in fitting)
    assert not page.run().at.get("progress")


@pytest.mark.parametrize("page", [None, "pages/schedules.py"])
def test_settings_that_cannot_run_are_moved_by_a_button(page):
    opened = Opened(page, schedule="dualpipe", stages="5", micro_batches="6")
    assert "These settings cannot run." in opened.said
    button = opened.at.button(key="use_nearest")
    assert "stages 5 → 6, micro-batches 6 → 12" in button.label
    button.click()
    opened.run()
    assert "These settings cannot run." not in opened.said
    assert opened.at.slider(key="stages").value == 6
