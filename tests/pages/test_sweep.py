"""The Sweep page, run without a browser."""

import time

import pytest

from tests.pages.opened import Opened, profile_file

PAGE = "pages/sweep.py"
SMALL = {"profile": "llama2_70b", "sweep_stages": "4, 8", "sweep_micro_batches": "8", "sweep_limits": "30000, 56000"}


def page(**link):
    return Opened(PAGE, **SMALL | link)


def press(shown, key):
    shown.at.button(key=key).click()
    return shown.run()


def is_running(shown):
    return any(button.key == "sweep_cancel" for button in shown.at.button)


def swept(shown):
    press(shown, "sweep_start")
    end = time.monotonic() + 90
    while is_running(shown):
        assert time.monotonic() < end
        time.sleep(0.05)
        shown.run()
    return shown


def table(shown):
    (found,) = shown.at.dataframe
    return found.value


def test_points_and_time_are_told_before_anything_starts():
    shown = page()
    assert "16 points, 4 of which cannot run; the table will say why." in shown.said.replace("**", "")
    assert "Estimated to take about" in shown.said.replace("**", "")
    assert not shown.figures
    balanced = page(sweep_method="Balance each point", sweep_workers="2")
    assert "at most 31 s with 2 worker processes" in balanced.said.replace("**", "")  # 6 rounds of 5 s


def test_a_sweep_ends_with_chart_table_and_numbers():
    shown = swept(page())
    assert shown.numbers["Fit"] == "6 of 16"
    assert shown.numbers["Fastest that fits, per sample"].endswith(" ms")
    (figure,) = shown.figures
    assert {trace["name"] for trace in figure["data"]} == {"Pareto front", "1f1b", "vpp", "Does not fit (even split)"}
    found = table(shown)
    assert len(found) == 16
    assert list(found["Status"]).count("cannot run") == 4
    assert found["Remark"].iloc[-1].startswith("num_chunks: 1f1b holds 1")
    assert "points, 4 of which" not in shown.said
    assert [button.label for button in shown.at.download_button if button.key == "sweep_csv"] == ["All points (CSV)"]


def test_the_table_is_filtered():
    shown = swept(page())
    shown.at.multiselect(key="sweep_filter_status").set_value(["does not fit"])
    assert set(table(shown.run())["Status"]) == {"does not fit"}
    shown.at.multiselect(key="sweep_filter_schedule").set_value(["vpp"])
    assert set(table(shown.run())["Schedule"]) == {"vpp"}
    shown.at.multiselect(key="sweep_filter_status").set_value([])
    shown.at.toggle(key="sweep_filter_front").set_value(True)
    found = table(shown.run())
    assert len(found) >= 1
    assert found["Front"].all()


def test_the_heat_map_runs_over_two_lists_that_vary():
    shown = swept(page())
    shown.at.session_state["sweep_tabs"] = "Heat map"
    heat = shown.run().figures[1]
    assert (heat["data"][0]["x"], heat["data"][0]["y"]) == (["1f1b", "vpp"], ["4", "8"])
    shown.at.selectbox(key="sweep_across").set_value("Stages")
    heat = shown.run().figures[1]
    assert heat["data"][0]["x"] == ["4", "8"]
    assert "Stages" not in shown.at.selectbox(key="sweep_down").options
    shown.at.selectbox(key="sweep_number").set_value("Peak memory")
    assert "Best peak memory" in shown.run().figures[1]["layout"]["title"]["text"]


def test_other_lists_make_the_results_stale_and_they_stay():
    shown = swept(page())
    shown.at.text_input(key="sweep_stages").set_value("4")
    shown.run()
    assert "Stale:" in shown.said
    assert "8 points" in shown.said
    assert shown.numbers["Fit"] == "6 of 16"


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ({"sweep_stages": "four"}, "num_stages: must be whole numbers or ranges such as 4-16 step 4, found 'four'."),
        ({"sweep_stages": ""}, "num_stages: needs at least one value"),
        ({"sweep_stages": "1-500", "sweep_micro_batches": "1-500"}, "up to 20,000 points can be swept"),
        ({"sweep_limits": "-5"}, "memory_limit_mb: must be MiB above 0, a range, or none, found '-5'."),
    ],
)
def test_lists_that_cannot_be_swept_are_explained(link, sentence):
    shown = page(**link)
    assert sentence in shown.said
    assert shown.at.button(key="sweep_start").disabled


def test_why_nothing_runs_or_fits_is_said_at_once():
    refused = swept(page(sweep_schedules="1f1b", sweep_interleave="2"))
    assert "None of the points so far can run." in refused.said
    assert "4 points: num_chunks: 1f1b holds 1 a stage, found 2" in refused.said
    tight = swept(page(sweep_limits="9000", sweep_schedules="1f1b", sweep_interleave="1"))
    assert "None of the points so far fits." in tight.said
    assert "GiB on its fullest stage" in tight.said
    some = swept(page())
    assert "Why 10 points do not run or fit" in [found.label for found in some.at.expander]


def test_constant_devices_and_batch():
    shown = page(
        sweep_stages="3, 4", sweep_schedules="1f1b", sweep_interleave="1", sweep_limits="none",
        sweep_batch_mode="From a global batch", sweep_global_batch="64", sweep_same_devices="true", sweep_devices="16",
    )  # fmt: skip
    found = table(swept(shown))
    assert list(found["Stages"]) == [4, 3]
    assert found["Pipelines"].iloc[0] == 4
    assert found["Micro-batches"].iloc[0] == 16
    assert "3 do not divide the 16 devices; 2 or 4 would." in found["Remark"].iloc[1]


def test_a_cancelled_sweep_is_resumed():
    shown = page(
        sweep_stages="16, 24, 32", sweep_schedules="vpp", sweep_interleave="4", sweep_micro_batches="96", sweep_workers="1",
        sweep_limits="56000",
    )  # fmt: skip
    press(shown, "sweep_start")
    assert is_running(shown)
    press(shown, "sweep_cancel")
    shown.run()
    assert "of 3 points are done" in shown.said
    press(shown, "sweep_resume")
    end = time.monotonic() + 90
    while is_running(shown):
        assert time.monotonic() < end
        time.sleep(0.05)
        shown.run()
    assert shown.numbers["Fit"].endswith("of 3")


def test_a_cluster_that_does_not_answer_is_a_sentence(monkeypatch):
    monkeypatch.setattr("sapp_core.sweep.cluster.CONNECT_SECONDS", 0.3)
    shown = page(sweep_scheduler="tcp://127.0.0.1:9")
    assert "They go to the Dask cluster" in shown.said
    swept(shown)
    assert "The sweep stopped." in shown.said
    assert "scheduler: no Dask scheduler answers at 'tcp://127.0.0.1:9'" in shown.said
    assert "Stopped: 4 of 16 points are done." in shown.said


def test_a_scheduler_that_nobody_allowed_is_not_connected_to():
    shown = page(sweep_scheduler="tcp://10.1.2.3:8786")
    assert "this server connects only to" in shown.said
    assert shown.at.button(key="sweep_start").disabled


def test_a_profile_of_ones_own_is_swept_and_stays_on_the_way_to_balance():
    shown = page(sweep_limits="", sweep_stages="4", sweep_interleave="1")
    shown.upload(profile_file(name="<b>mine</b>"))
    assert "&lt;b&gt;mine" in swept(shown).figures[0]["layout"]["title"]["text"]
    assert list(table(shown)["Limit (MiB)"]) == [4000.0, 4000.0]
    shown.at.switch_page("pages/balance.py")
    shown.run()
    assert shown.at.selectbox(key="profile").value == "uploaded"
    shown.at.switch_page(PAGE)
    shown.run()
    assert shown.at.selectbox(key="profile").value == "uploaded"
