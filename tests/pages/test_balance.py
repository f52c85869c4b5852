"""The Balance page, run without a browser."""

import json
import os
import signal
import time
from dataclasses import replace

import pytest
import streamlit as st

from pages.shared import jobs as jobs_module
from pages.shared import session as session_module
from pages.shared.session import Outcome
from sapp_core.domain.request import Objective
from sapp_core.domain.result import BalanceResult, Status
from tests.pages.opened import Opened, profile_file, unescaped
from tests.profiles.broken import BROKEN

HARD = {"profile": "sim192", "schedule": "vpp", "stages": "16", "interleave": "3", "micro_batches": "16"}


def blocks(figure):
    """Ops drawn in a timeline."""
    return sum(len(trace["hovertext"]) for trace in figure["data"] if trace["type"] == "bar")


def test_opening_shows_a_sample_solved_live(opened):
    assert opened.numbers["Certified gap"] == "0.00 %"
    assert "Proven optimal: no plan within the limit has a shorter step" in opened.said.replace("*", "")
    assert f"step {opened.numbers['Step time']}" in opened.figure(0)["layout"]["title"]["text"]
    assert opened.at.metric[0].delta.startswith("-")
    assert blocks(opened.figure(0)) == 2 * 8 * 32
    assert "Peak memory per stage" in opened.figure(1)["layout"]["title"]["text"]


def test_before_the_answer_the_page_shows_how_far_it_is():
    page = Opened(**HARD)
    assert page.running
    assert page.at.get("progress")[0].proto.text.startswith("Balancing: ")
    assert not page.at.metric
    page.at.button(key="cancel").click()
    page.run()


def test_a_rerun_changes_nothing(opened):
    before = opened.numbers, opened.figure(0), opened.figure(1)
    opened.run()
    assert (opened.numbers, opened.figure(0), opened.figure(1)) == before


def test_a_change_keeps_the_result_and_marks_it_stale_until_it_is_balanced_again(opened):
    before = opened.numbers, opened.figure(0)
    opened.at.slider(key="stages").set_value(6)
    opened.run()
    assert "Stale: the results below belong to earlier settings (stages 8 → 6)" in opened.said.replace("*", "")
    assert (opened.numbers, opened.figure(0)) == before

    opened.at.button(key="balance_again").click()
    opened.run().settled()
    assert "Stale" not in opened.said
    assert opened.numbers != before[0]
    assert blocks(opened.figure(0)) == 2 * 6 * 32


def test_going_back_is_not_stale(opened):
    opened.at.slider(key="micro_batches").set_value(16)
    assert "Stale" in opened.run().said
    opened.at.slider(key="micro_batches").set_value(32)
    assert "Stale" not in opened.run().said


def test_a_broken_upload_is_answered_with_a_sentence_and_keeps_profile_and_result(opened):
    opened.upload(profile_file()).balance()
    before = opened.numbers, opened.figure(0)
    assert "mine" in opened.figure(0)["layout"]["title"]["text"]
    # All of them are read in tests/profiles; here it is the page's answer.
    for broken in BROKEN[::6]:
        opened.upload(broken.data, broken.name)
        (error,) = opened.at.error
        sentences = unescaped(error.value)
        # Spaces are collapsed where a text becomes Markdown; a page shows a hundred sentences and counts the rest.
        assert " ".join(broken.expected.split()) in sentences or sentences.count("\n- ") == 101, broken.name
        assert "stays" in error.value
        assert (opened.numbers, opened.figure(0)) == before, broken.name
        assert opened.at.selectbox(key="profile").value == "uploaded"
    opened.at.file_uploader(key="profile_file").clear()
    assert not opened.run().at.error
    assert opened.numbers == before[0]


def test_an_upload_becomes_the_profile_with_its_own_limit(opened):
    opened.upload(profile_file(memory_limit=3500))
    assert opened.at.selectbox(key="profile").value == "uploaded"
    assert opened.at.number_input(key="memory_limit").value == 3500
    assert "profile small32 → mine" in opened.said
    opened.balance()
    assert "mine" in opened.figure(0)["layout"]["title"]["text"]
    assert "Links do not carry it" in opened.at.sidebar.caption[0].value


def test_choosing_a_sample_takes_its_limit_and_keeps_the_sizes(opened):
    opened.at.slider(key="stages").set_value(4)
    opened.at.selectbox(key="profile").set_value("llama2_70b")
    opened.run()
    assert opened.at.number_input(key="memory_limit").value == 56000
    assert opened.at.slider(key="memory_limit_slider").value == 56000
    assert opened.at.slider(key="stages").value == 4


def test_slider_and_number_of_an_amount_agree(opened):
    opened.at.slider(key="memory_limit_slider").set_value(9000.0)
    assert opened.run().at.number_input(key="memory_limit").value == 9000
    opened.at.number_input(key="memory_limit").set_value(8765.0)
    assert opened.run().at.slider(key="memory_limit_slider").value == 8765
    # A number beyond the slider's end stays what it is.
    opened.at.number_input(key="memory_limit").set_value(900_000.0)
    opened.run().run()
    assert opened.at.number_input(key="memory_limit").value == 900_000


def test_names_from_a_file_are_no_markup(opened):
    name = "*a* [b](http://c) <i>d</i> $e$ :smile: %{x}"
    opened.upload(profile_file(name=name, time_unit="<b>t</b>")).balance()
    # The joiner after "http:" keeps the address from becoming a link.
    literal = r"\*a\* \[b\]\(http\:@\/\/c\) \<i\>d\<\/i\> \$e\$ \:smile\: \%\{x\}".replace("@", "\u2060")
    assert literal in opened.at.sidebar.caption[0].value
    assert r"\<b\>t\<\/b\>" in opened.at.metric[0].value
    title = opened.figure(0)["layout"]["title"]["text"]
    assert "&lt;b&gt;t" in title
    assert "<i>" not in title


def test_settings_that_cannot_run_are_explained_and_keep_the_result(opened):
    opened.at.selectbox(key="schedule").set_value("vpp")
    opened.run()
    opened.at.number_input(key="group_size").set_value(3)
    before = opened.numbers
    opened.run()
    assert "These settings cannot run" in opened.said
    assert "group_size" in opened.said
    assert opened.at.button(key="balance").disabled
    assert opened.numbers == before


def test_a_step_too_large_for_a_page_is_refused_with_what_fits(opened):
    opened.at.slider(key="stages").set_value(128)
    opened.at.slider(key="micro_batches").set_value(512)
    opened.run()
    assert "at most 390 micro-batches fit" in opened.said
    opened.at.slider(key="micro_batches").set_value(390)
    assert "cannot run" not in opened.run().said


def test_an_impossible_limit_names_a_stage_and_offers_the_smallest_that_would_do(opened):
    opened.at.number_input(key="memory_limit").set_value(2_000.0)
    opened.run()
    opened.balance()
    assert "No plan fits" in opened.said
    assert "Stage 1 is worst off" in opened.said
    assert "for orientation" in opened.said
    assert opened.numbers["Certified gap"] == "–"
    assert any(trace.get("name") == "Over the limit" for trace in opened.figure(1)["data"])

    opened.at.button(key="use_limit").click()
    opened.run().settled()
    assert opened.at.number_input(key="memory_limit").value == 2_760
    assert "No plan fits" not in opened.said
    assert "100 % of limit" in opened.at.metric[2].delta


def test_no_plan_in_time_is_explained_and_offers_more_time(opened):
    opened.upload(profile_file()).balance()
    shown = opened.at.session_state["outcome"]

    def end_without_plan(seconds):
        request = replace(shown.scenario.request, time_limit=seconds)
        ended = BalanceResult(
            Status.NO_SOLUTION_IN_TIME, None, None, None, None, Objective.EXACT, None, None, "highs", seconds
        )
        opened.at.slider(key="time_limit").set_value(int(seconds))
        opened.at.session_state["outcome"] = Outcome(replace(shown.scenario, request=request), ended)
        opened.run()

    end_without_plan(300.0)
    assert "Raise the time limit or relax the memory limit." in opened.said
    assert "use_more_time" not in [button.key for button in opened.at.button]  # no longer one is possible
    end_without_plan(5.0)
    assert "No plan was found in time (in 5.0 s with HiGHS). Whether one exists is open" in opened.said.replace(
        "**", ""
    )
    assert "for orientation" in opened.said
    opened.at.button(key="use_more_time").click()
    opened.run().settled()
    assert opened.at.slider(key="time_limit").value == 20
    assert "No plan was found" not in opened.said
    assert opened.numbers["Certified gap"] == "0.00 %"


def test_without_memory_only_time_is_balanced_and_the_page_says_so(opened):
    body = {"name": "Body", "type": "BODY", "nb_layer": 24, "time": 10}
    opened.upload(profile_file(layers_description=[body], memory_limit=None)).balance()
    assert opened.numbers["Peak memory"] == "–"
    assert "The profile gives no memory" in opened.said
    assert opened.at.toggle(key="limited").disabled


def test_without_a_limit_no_stage_is_too_full(opened):
    opened.at.toggle(key="limited").set_value(False)
    opened.run()
    opened.balance()
    assert opened.at.metric[2].delta == "no limit"
    assert not any((trace.get("name") or "").startswith("Limit") for trace in opened.figure(1)["data"])


def test_pipeline_settings_move_the_controls(opened):
    settings = b"""
pipeline_config: {pipeline_num: 4, micro_batch_num: 12, num_of_interleave: 2, vpp_less_memory: true, num_layer: 95,
                  optimization_level: 2, memory_limit: 61234, constant_memory: 512, sim_comm_time: 1.5}
"""
    opened.upload(settings, "settings.yaml", key="settings_file")
    at = opened.at
    assert [at.slider(key=key).value for key in ("stages", "micro_batches", "interleave")] == [4, 12, 2]
    assert at.selectbox(key="schedule").value == "vpp-less-memory"
    assert at.selectbox(key="objective").value == "sapp-2"
    amounts = [at.number_input(key=key).value for key in ("memory_limit", "constant_memory", "p2p_time")]
    assert amounts == [61234, 512, 1.5]
    assert "num_layer: the profile has 32 body layers, the settings say 95" in opened.said


def test_settings_beyond_the_controls_or_broken_change_nothing(opened):
    opened.upload(b"pipeline_config: {pipeline_num: 500, micro_batch_num: 12}", "a.yaml", key="settings_file")
    assert "pipeline_num: this page goes up to 128, found 500" in opened.said
    assert opened.at.slider(key="stages").value == 8
    assert opened.at.slider(key="micro_batches").value == 12
    opened.upload(b"pipeline_config: {pipeline_num: -1}", "b.yaml", key="settings_file")
    assert "The settings cannot be used" in opened.said
    assert "pipeline_num" in opened.said
    assert opened.at.slider(key="stages").value == 8


def test_a_link_opens_the_same_numbers(opened):
    link = {"profile": "small32", "schedule": "vpp", "stages": "4", "interleave": "2", "memory_limit": "11000"}
    link["objective"] = "sapp-2"
    opened.at.selectbox(key="objective").set_value(link["objective"])
    opened.at.selectbox(key="profile").set_value(link["profile"])
    opened.at.selectbox(key="schedule").set_value(link["schedule"])
    opened.at.slider(key="stages").set_value(int(link["stages"]))
    opened.run()
    opened.at.slider(key="interleave").set_value(int(link["interleave"]))
    opened.at.number_input(key="memory_limit").set_value(float(link["memory_limit"]))
    opened.run().balance()

    st.cache_resource.clear()
    other = Opened(**link).settled()
    assert other.numbers == opened.numbers
    assert other.figure(0) == opened.figure(0)


def test_a_second_session_gets_a_known_result_at_once(opened):
    other = Opened()
    assert not other.running
    assert other.numbers == opened.numbers


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ({"stages": "500"}, "The link asks for stages=500, which is not possible here; the page uses 8."),
        ({"schedule": "nonsense"}, "schedule=nonsense"),
        ({"profile": "uploaded"}, "This link was made with an uploaded profile"),
        ({"memory_limit": "lots"}, "memory_limit=lots"),
    ],
)
def test_a_link_to_what_cannot_be_says_so(link, sentence):
    page = Opened(**link).settled()
    assert sentence in page.said
    # The remark stays through reruns, until somebody balances anew.
    assert sentence in page.run().said
    assert sentence not in page.balance().said


def test_a_good_link_is_no_reason_for_a_remark():
    page = Opened(stages="4", limited="true", memory_limit="60000", profile="llama2_70b").settled()
    assert "The link asks" not in page.said


def test_cancel_ends_the_run_and_keeps_the_page_usable(monkeypatch):
    started = []
    start = jobs_module.BalanceProcess.__init__

    def recorded(self, *args):
        start(self, *args)
        started.append(self.pid)

    monkeypatch.setattr(jobs_module.BalanceProcess, "__init__", recorded)
    page = Opened(**HARD)
    assert page.running
    assert "Balancing" in page.at.get("progress")[0].proto.text
    page.at.button(key="cancel").click()
    page.run().run()
    assert not page.running
    assert "Cancelled" in page.said
    (pid,) = started
    with pytest.raises(ProcessLookupError):
        os.killpg(pid, 0)
    page.at.slider(key="micro_batches").set_value(4)
    page.run()


def test_a_worker_that_dies_is_reported_and_the_result_stays(opened, monkeypatch):
    start = jobs_module.BalanceProcess.__init__

    def dying(self, *args):
        start(self, *args)
        os.killpg(self.pid, signal.SIGKILL)

    monkeypatch.setattr(jobs_module.BalanceProcess, "__init__", dying)
    before = opened.numbers
    opened.balance()
    assert "ended before its answer" in opened.said
    assert opened.numbers == before


def test_the_time_window_survives_reruns_and_moves_in_steps(opened):
    whole = opened.figure(0)["layout"]["xaxis"]["range"]
    opened.at.session_state["time_window"] = (3_000.0, 6_000.0)
    opened.run()
    assert opened.figure(0)["layout"]["xaxis"]["range"] == [3_000.0, 6_000.0]
    inside = blocks(opened.figure(0))
    assert 0 < inside < 512
    opened.balance()
    assert opened.figure(0)["layout"]["xaxis"]["range"] == [3_000.0, 6_000.0]
    opened.at.button(key="window_later").click()
    assert opened.run().figure(0)["layout"]["xaxis"]["range"] == [4_500.0, 7_500.0]
    opened.at.button(key="window_earlier").click()
    assert opened.run().figure(0)["layout"]["xaxis"]["range"] == [3_000.0, 6_000.0]
    opened.tab("Memory over time")
    assert opened.figure(1)["layout"]["xaxis"]["range"] == [3_000.0, 6_000.0]
    opened.at.button(key="window_whole").click()
    assert opened.run().figure(0)["layout"]["xaxis"]["range"] == whole


def test_where_time_is_lost_compares_with_the_even_split(opened):
    figure = opened.tab("Where time is lost").figure(1)
    assert [trace["name"] for trace in figure["data"]] == ["Even split with full recomputation", "Balanced plan"]


def test_the_plan_lists_every_layer(opened):
    opened.tab("Plan")
    (table,) = opened.at.dataframe
    assert table.value["Sum"].iloc[-1] == 32


def test_downloads_hold_the_plan(opened):
    opened.tab("Download")
    labels = {button.label for button in opened.at.download_button}
    assert {"MindFormers YAML", "Plan (JSON)", "Plan (CSV)", "Memory (CSV)", "Timeline (CSV)"} <= labels


def test_the_camera_saves_the_chosen_kind_at_twice_the_size(opened):
    def camera():
        return json.loads(opened.at.get("plotly_chart")[0].proto.config)["toImageButtonOptions"]

    assert camera() == {"format": "png", "filename": "small32_1f1b_timeline", "scale": 2}
    opened.tab("Download")
    opened.at.segmented_control(key="picture_format").set_value("SVG")
    opened.run()
    opened.tab("Peak memory")
    assert camera()["format"] == "svg"


def test_what_was_cancelled_is_not_shown_to_others():
    page = Opened(**HARD)
    end = time.monotonic() + 60
    while "Best found, at most" not in page.said.replace("*", ""):
        assert time.monotonic() < end
        time.sleep(0.1)
        page.run()
    page.at.button(key="cancel").click()
    page.run().run()
    assert "the best plan found until then" in page.said
    assert "Stopped early. Best found, at most" in page.said.replace("*", "")
    (chart,) = [figure for figure in page.tab("Search").figures if "Search" in figure["layout"]["title"]["text"]]
    assert [trace["name"] for trace in chart["data"]] == ["Proven lower bound", "Best found"]
    other = Opened(**HARD)
    assert other.running
    other.at.button(key="cancel").click()
    other.run()


def test_the_first_plan_is_shown_while_the_proof_goes_on():
    page = Opened(**HARD)
    end = time.monotonic() + 60
    while "Best found, at most" not in page.said.replace("*", ""):
        assert time.monotonic() < end
        time.sleep(0.05)
        page.run()
    assert page.running
    assert any("timeline" in figure["layout"]["title"]["text"] for figure in page.figures)
    page.at.button(key="cancel").click()
    page.run()


def test_an_answer_survives_a_script_that_is_broken_off(monkeypatch):
    """Streamlit interrupts a script when the next event comes, even between asking for an answer and storing it."""
    show = session_module.show
    calls = []

    def broken_off_once(shown):
        calls.append(shown)
        if len(calls) == 1:
            st.stop()
        show(shown)

    monkeypatch.setattr(session_module, "show", broken_off_once)
    page = Opened()
    end = time.monotonic() + 60
    while len(calls) < 2:
        assert time.monotonic() < end
        time.sleep(0.05)
        page.run()
    page.settled()
    assert "Proven optimal" in page.said
    assert not page.running


def test_a_wish_survives_a_script_that_is_broken_off(opened, monkeypatch):
    start = jobs_module.Jobs.start
    calls = []

    def broken_off_once(self, session, scenario):
        calls.append(scenario)
        if len(calls) == 1:
            st.stop()
        start(self, session, scenario)

    monkeypatch.setattr(jobs_module.Jobs, "start", broken_off_once)
    opened.at.slider(key="stages").set_value(6)
    opened.run()
    opened.at.button(key="balance").click()
    opened.run()
    opened.run().settled()
    assert len(calls) == 2
    assert "6 stages" in opened.figure(0)["layout"]["title"]["text"]
