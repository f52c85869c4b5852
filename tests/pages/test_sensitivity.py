"""The Sensitivity tab of the Balance page."""

import time
from dataclasses import replace

from pages.shared import rebalancing
from pages.shared.jobs import jobs
from pages.shared.session import Outcome
from sapp_core.domain.plan import even_split
from sapp_core.domain.profile import RecomputeMode
from tests.pages.opened import Opened


def test_the_tab_ranks_the_numbers_and_says_which_to_measure_again(opened):
    opened.tab("Sensitivity")
    assert "Measure first:** backward time of Block" in opened.said
    assert "Not worth another measurement" in opened.said
    assert "Proven without balancing again:** backward time of Loss" in opened.said
    tornado = opened.figure(1)
    assert tornado["layout"]["title"]["text"].startswith("Step time, one number ±10 %")
    assert tornado["data"][0]["y"][0] == "Block<br>backward time"
    (table,) = opened.at.dataframe
    assert {"forward time", "backward time", "activation memory (select)"} <= set(table.value["Number"])


def test_another_share_and_memory_are_a_control_away(opened):
    opened.tab("Sensitivity")
    opened.at.number_input(key="sensitivity_share").set_value(20)
    opened.at.segmented_control(key="sensitivity_shown").set_value("Peak memory")
    opened.run()
    tornado = opened.figure(1)
    assert tornado["layout"]["title"]["text"].startswith("Highest peak, one number ±20 %")
    assert "x" in tornado["data"][1]["marker"]["pattern"]["shape"]
    assert "Close to the limit:** with 20 % more activation memory of Block the plan no longer fits" in opened.said


def test_the_plan_is_balanced_again_and_the_answers_are_ranked(opened, monkeypatch):
    monkeypatch.setattr(rebalancing, "MOST_TIMES", 1)
    monkeypatch.setattr(rebalancing, "MOST_MEMORY", 1)
    opened.tab("Sensitivity")
    opened.at.button(key="rebalance").click()
    opened.run()
    end = time.monotonic() + 60
    while any(button.key == "rebalance_cancel" for button in opened.at.button):
        assert time.monotonic() < end
        time.sleep(0.2)
        opened.run()
    answers, _ = (table.value for table in opened.at.dataframe)
    assert len(answers) == 4
    assert set(answers["Number"]) == {"Block: backward time", "Block: activation memory"}
    rated = answers["Keeping this plan costs"].dropna()
    assert (rated >= -1e-9).all()
    tight = answers[answers["Remark"].str.contains("no longer fits: stage")]
    assert (tight["Layers moved"] + tight["Modes changed"] > 0).all()
    assert list(tight.index) == [0]
    # What keeping the plan costs decides now, not what moves the step.
    assert "Worth repeating most:** activation memory of Block" in opened.said
    assert "Moves the predicted step most:** backward time of Block" in opened.said
    assert "Measure first" not in opened.said
    # Another share asks anew.
    opened.at.number_input(key="sensitivity_share").set_value(5)
    opened.run()
    assert any(button.key == "rebalance" for button in opened.at.button)


def test_a_plan_not_proven_best_is_balanced_with_the_profile_as_it_is_first(monkeypatch):
    monkeypatch.setattr(rebalancing, "MOST_TIMES", 1)
    monkeypatch.setattr(rebalancing, "MOST_MEMORY", 0)
    monkeypatch.setattr(rebalancing, "SECONDS", 1.0)
    link = {"profile": "small32", "stages": "4", "micro_batches": "8", "objective": "sapp-0"}
    opened = Opened(**link).settled().balance()
    # As after a run that was stopped at once: the even split, of which nothing is proven.
    shown: Outcome = opened.at.session_state["outcome"]
    scenario = shown.scenario
    poor = even_split(scenario.profile, scenario.pipeline, RecomputeMode.FULL)
    opened.at.session_state["outcome"] = replace(shown, result=replace(shown.result, plan=poor, lower_bound=None))
    opened.tab("Sensitivity")
    opened.at.button(key="rebalance").click()
    opened.run()
    end = time.monotonic() + 60
    while any(button.key == "rebalance_cancel" for button in opened.at.button):
        assert time.monotonic() < end
        time.sleep(0.2)
        opened.run()
    answers, _ = (table.value for table in opened.at.dataframe)
    assert answers["Number"].iloc[0] == "none, the profile as it is"
    assert len(answers) == 3
    assert answers["Keeping this plan costs"].iloc[0] > 0.01
    assert "Balance first:** with the profile as it is" in opened.said
    assert "Worth repeating most" not in opened.said
    assert "Measure first" in opened.said


def test_cancel_ends_the_runs_and_leaves_what_is_there(opened):
    opened.tab("Sensitivity")
    opened.at.button(key="rebalance").click()
    opened.run()
    opened.at.button(key="rebalance_cancel").click()
    opened.run()
    shown: Outcome = opened.at.session_state["outcome"]
    assert shown.result.plan is not None
    assert not any(name.endswith(f"trial {place}") for name in jobs()._jobs for place in range(12))
    assert not any(button.key == "rebalance_cancel" for button in opened.at.button)


def test_an_order_planned_for_the_times_is_held_and_said():
    link = {"profile": "small32", "schedule": "zb-1p", "stages": "4", "micro_batches": "8", "objective": "sapp-0"}
    opened = Opened(**link).settled().balance()
    opened.tab("Sensitivity")
    assert "the order of this plan is held" in " ".join(caption.value for caption in opened.at.caption)
    assert "Measure first" in opened.said
    assert "Proven without balancing again" not in opened.said
