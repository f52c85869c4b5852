"""A scenario leaves the page and comes back, and files that cannot be opened change nothing."""

import json
from dataclasses import replace
from datetime import date

from pages.shared.session import Outcome
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import even_split
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.scenario import Scenario
from sapp_core.exports import export_named
from sapp_core.interchange.scenario import scenario_from_json, scenario_to_json
from sapp_core.profiles.load import load_profile
from sapp_core.report.html import report_html
from sapp_core.schedules.registry import make_schedule
from sapp_core.study import Study, evaluate, reference_for
from tests.pages.opened import Opened, profile_file

KEY = "scenario_file"
MINE = load_profile(profile_file(), "mine.yaml").profile


def shown(page: Opened) -> Outcome:
    return page.at.session_state["outcome"]


def study(outcome: Outcome) -> Study:
    scenario, result = outcome.scenario, outcome.result
    schedule = make_schedule(scenario.schedule_name, scenario.pipeline)
    limits = scenario.request.limits(scenario.pipeline.num_stages)
    found = evaluate(scenario.profile, schedule, result.plan)
    return Study(scenario, found, reference_for(scenario.profile, schedule, limits), result)


def test_a_scenario_of_the_page_opens_as_it_was_without_balancing_again(opened):
    at = opened.at
    opened.upload(profile_file())
    at.selectbox(key="schedule").set_value("zb-1p")
    opened.run()
    at.slider(key="stages").set_value(6)
    at.slider(key="micro_batches").set_value(9)
    at.slider(key="input_gradient_share").set_value(0.35)
    at.slider(key="weight_gradient_memory").set_value(0.5)
    at.number_input(key="memory_limit").set_value(3456.0)
    at.number_input(key="constant_memory").set_value(128.0)
    at.number_input(key="p2p_time").set_value(0.75)
    at.selectbox(key="objective").set_value("sapp-1")
    opened.run()
    at.selectbox(key="solver").set_value("cbc")
    at.slider(key="time_limit").set_value(15)
    opened.run().balance()
    before = shown(opened)
    text = export_named("scenario").write(study(before))
    for data, name in (
        (text.encode(), "saved.json"),
        (report_html(study(before), date(2026, 1, 2)).encode(), "r.html"),
    ):
        other = Opened().settled()
        other.upload(data, name, KEY)
        assert not other.running
        assert shown(other) == replace(before, source=name)
        assert other.numbers == opened.numbers
        assert f"Opened from {name}, its plan simulated again here." in other.said.replace("*", "")
        assert "Stale" not in other.said
        assert other.figure(0) == opened.figure(0)
        assert export_named("scenario").write(study(shown(other))) == text
        assert other.balance().numbers["Step time"] == opened.numbers["Step time"]


def test_a_sample_is_recognised_so_that_its_link_works(opened):
    opened.at.number_input(key="constant_memory").set_value(64.0)
    opened.run().balance()
    other = Opened().settled().upload(profile_file())
    text = export_named("scenario").write(study(shown(opened)))
    other.upload(text.encode(), "saved.json", KEY)
    assert other.at.selectbox(key="profile").value == "small32"
    assert other.at.number_input(key="constant_memory").value == 64
    assert other.numbers == opened.numbers


def test_what_the_page_cannot_set_is_shown_all_the_same_and_called_different(opened):
    limits = (4000.0, 3900.0, 3900.0, 4000.0)
    scenario = Scenario(MINE, "1f1b", Pipeline(4, 8), BalanceRequest(limits, seed=5))
    plan = even_split(MINE, scenario.pipeline)
    opened.upload(scenario_to_json(scenario, plan).encode(), "saved.json", KEY)
    assert "Nobody searched for this plan, so nothing is proven about it" in opened.said
    assert "memory limit one for each stage, 3,900 to 4,000 MiB → 3,900 MiB" in opened.said
    assert "seed 5 → 0" in opened.said
    assert opened.numbers["Certified gap"] == "–"
    assert shown(opened).scenario == scenario


def test_a_claim_that_the_simulation_refutes_is_not_repeated(opened):
    opened.upload(profile_file()).balance()
    document = json.loads(export_named("scenario").write(study(shown(opened))))
    step = document["result"]["step_time"]
    document["result"] |= {"step_time": step / 2, "lower_bound": step * 2}
    opened.upload(json.dumps(document).encode(), "lies.json", KEY)
    assert "lies.json says a step time of" in opened.said
    assert "its own plan is; the bound is left out" in opened.said
    assert "Proven optimal" not in opened.said
    assert opened.numbers["Certified gap"] == "–"
    document["settings"]["memory_limit_mb"] = 100
    opened.upload(json.dumps(document).encode(), "lies.json", KEY)
    assert "breaks its own memory limit, so nothing it says is proven" in opened.said


BROKEN = (
    ({"scenario_version": 99}, "from a newer release"),
    ({"schedule": "nonsense"}, "'nonsense' is not known"),
    (
        {"pipeline": {"num_stages": 129, "num_micro_batches": 8}, "plan": None},
        "pipeline.num_stages: this page goes up to 128, found 129",
    ),
    ({"settings": {"solver": "gurobi"}}, "solver: must be one of highs, cbc, found 'gurobi'"),
    ({"settings": {"memory_limit_mb": 1e12}}, "settings.memory_limit_mb: this page goes up to 1,000,000,000"),
    ({"plan": {"Body": {"none": [[1, 2, 3, 4]]}}}, "10 layers, the profile has 24"),
)


def test_files_that_cannot_be_opened_are_explained_and_change_nothing(opened):
    scenario = Scenario(MINE, "1f1b", Pipeline(4, 8), BalanceRequest(4000.0))
    whole = json.loads(scenario_to_json(scenario, even_split(MINE, scenario.pipeline)))
    before = opened.numbers, opened.at.slider(key="stages").value
    for change, sentence in BROKEN:
        document = {key: value for key, value in (whole | change).items() if value is not None}
        opened.upload(json.dumps(document).encode(), "broken.json", KEY)
        assert "broken.json cannot be opened. Nothing has changed." in opened.said.replace("*", "")
        assert sentence in opened.said
        assert (opened.numbers, opened.at.slider(key="stages").value) == before
    opened.at.file_uploader(key=KEY).clear()
    assert "cannot be opened" not in opened.run().said


def test_an_answer_without_a_plan_is_saved_and_opened_too(opened):
    opened.upload(profile_file(memory_limit=300)).balance()
    assert "No plan fits" in opened.said
    outcome = shown(opened)
    text = scenario_to_json(outcome.scenario, result=outcome.result)
    assert scenario_from_json(text.encode(), "none.json").result == outcome.result
    other = Opened().settled()
    other.upload(text.encode(), "none.json", KEY)
    assert "No plan fits" in other.said
    assert not other.running


def test_every_file_is_in_the_download_menu_or_says_why_not(opened):
    opened.tab("Download")
    labels = {button.proto.label for button in opened.at.get("download_button")}
    assert {"Save scenario", "Report (HTML)", "MindFormers YAML", "Trace (Perfetto)", "Plan (CSV)"} <= labels
    assert "Paddle jobs (JSON) cannot say this plan." in opened.said.replace("*", "")
    assert "Paddle job lists follow vpp, found 1f1b" in opened.said
