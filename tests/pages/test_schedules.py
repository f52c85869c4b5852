"""The Schedules page, run without a browser."""

import json

import pytest

from sapp_core.schedules.registry import SCHEDULES, family
from tests.pages.opened import Opened

PAGE = "pages/schedules.py"


def page(**link):
    return Opened(PAGE, **{"stages": "4", "micro_batches": "8"} | link)


def drawn(figure):
    return sum(len(trace["hovertext"]) for trace in figure["data"] if trace["type"] == "bar")


def metrics(shown, label):
    return [metric.value for metric in shown.at.metric if metric.label == label]


@pytest.mark.parametrize("name", [known.name for known in SCHEDULES])
def test_every_schedule_is_drawn_op_by_op(name):
    shown = page(schedule=name)
    timeline, in_flight = shown.figures
    assert f"{drawn(timeline):,}" == metrics(shown, "Ops")[0]
    assert drawn(timeline) > 0
    assert "unit times" in timeline["layout"]["title"]["text"]
    assert "In flight over time" in in_flight["layout"]["title"]["text"]
    assert family(name).summary in shown.said
    (table,) = shown.at.dataframe
    assert list(table.value["Stage"]) == [0, 1, 2, 3]


def test_1f1b_is_what_the_papers_say():
    shown = page(schedule="1f1b")
    assert metrics(shown, "Step time") == ["33 units"]  # (M + S − 1)·(F + B)
    assert metrics(shown, "Bubble") == ["37.5 %"]  # (S − 1)/M
    assert metrics(shown, "Most in flight") == ["4"]
    assert list(shown.at.dataframe[0].value["Chunk 0"]) == [4, 3, 2, 1]


def test_own_times_change_the_step():
    shown = page(schedule="gpipe", unit_forward="2", unit_backward="3", unit_recompute="1", unit_transfer="0.5")
    assert metrics(shown, "Step time") == [f"{11 * 6 + 6 * 0.5:g} units"]
    shown.at.number_input(key="unit_forward").set_value(0.0)
    shown.at.number_input(key="unit_backward").set_value(0.0)
    shown.run()
    assert "forward: must be above 0" in shown.said
    assert not shown.figures


def test_a_planned_order_that_suits_the_times_is_named():
    def words(**link):
        return " ".join(caption.value for caption in page(schedule="zb-1p", **link).at.caption)

    assert "found a shorter order" not in words()
    assert "found a shorter order" in words(unit_transfer="1")


def test_two_schedules_share_one_time_axis_and_the_same_work():
    shown = page(schedule="1f1b")
    shown.at.toggle(key="compare").set_value(True)
    shown.run()
    assert shown.at.segmented_control(key="times_of").value == "a whole stage"
    first, second = shown.figures[:2]
    assert first["layout"]["xaxis"]["range"] == second["layout"]["xaxis"]["range"] == [0, 33]
    assert "vpp" in second["layout"]["title"]["text"]
    assert metrics(shown, "Step time") == ["33 units", "28.5 units"]
    shown.at.session_state["order_window"] = (10.0, 20.0)
    assert [figure["layout"]["xaxis"]["range"] for figure in shown.run().figures] == [[10, 20]] * 4
    # What cannot run is explained in its place, and the other one stays.
    shown.at.selectbox(key="other_schedule").set_value("dualpipe")
    shown.at.slider(key="stages").set_value(3)
    shown.run()
    assert "dualpipe needs an even number of stages" in shown.said
    assert len(metrics(shown, "Step time")) == 1


def test_jobs_in_the_words_of_a_framework_or_why_there_are_none():
    shown = page(schedule="vpp", micro_batches="4")
    shown.at.session_state["order_details"] = "Jobs of each stage"
    words = shown.run().at.selectbox(key="words")
    assert shown.at.dataframe[0].value["Stage 0"].iloc[0] == "F0.0"
    words.set_value("paddle-split")
    jobs = list(shown.run().at.dataframe[0].value["Stage 3"])
    assert jobs[0] == "forward0.0"
    assert jobs[-1] == "optimizer"
    assert "backward_w0.3" in jobs
    shown.at.slider(key="micro_batches").set_value(8)
    assert "paddle-split needs as many as stages" in shown.run().said
    shown.at.selectbox(key="schedule").set_value("1f1b")
    assert "Paddle job lists follow vpp, found 1f1b" in shown.run().said


def test_downloads_are_what_has_words():
    shown = page(schedule="vpp", micro_batches="4")
    shown.at.session_state["order_details"] = "Download"
    assert {button.key for button in shown.run().at.download_button} == {
        "ops_json",
        "paddle_json",
        "paddle-transfers_json",
        "paddle-split_json",
        "ops_csv",
    }
    shown.at.selectbox(key="schedule").set_value("zbv")
    assert {button.key for button in shown.run().at.download_button} == {"ops_json", "ops_csv"}


def test_a_change_of_schedule_moves_what_is_illegal_here_too():
    shown = page(schedule="1f1b", micro_batches="5")
    shown.at.selectbox(key="schedule").set_value("dualpipe")
    shown.run()
    assert shown.at.slider(key="micro_batches").value == 8
    assert "micro-batches 5 → 8" in shown.said
    assert metrics(shown, "Ops")


def test_too_many_ops_are_refused_with_what_fits():
    shown = page(schedule="1f1b", stages="128", micro_batches="512")
    assert "at most 390 micro-batches fit" in shown.said
    assert not shown.figures


def test_the_overlap_efficiency_is_told():
    shown = page(schedule="dualpipe-v", overlap_efficiency="0.5")
    assert "η 0.5" in shown.figures[0]["layout"]["title"]["text"]
    slower = page(schedule="dualpipe-v")
    times = [float(metrics(at, "Step time")[0].split()[0]) for at in (shown, slower)]
    assert times[0] < times[1]


def test_the_camera_names_the_file_after_the_schedule():
    config = json.loads(page(schedule="zbv").at.get("plotly_chart")[1].proto.config)
    assert config["toImageButtonOptions"]["filename"] == "zbv_in_flight"
