from dataclasses import replace

from pages.shared.scenario import Scenario
from pages.shared.session import Results
from sapp_core.balancer.request import BalanceRequest
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.result import BalanceResult, Objective, Status
from tests.charts.scenes import profile

SCENARIO = Scenario(profile(), "1f1b", Pipeline(4, 8), BalanceRequest(1000.0))
RESULT = BalanceResult(Status.FEASIBLE, None, None, None, None, Objective.SAPP_1, None, None, "highs", 1.0)


def test_equal_scenarios_have_equal_keys_and_others_do_not():
    assert SCENARIO.key == Scenario(profile(), "1f1b", Pipeline(4, 8), BalanceRequest(1000.0)).key
    others = [
        replace(SCENARIO, profile=profile(layers=25)),
        replace(SCENARIO, schedule_name="gpipe"),
        replace(SCENARIO, pipeline=Pipeline(4, 9)),
        replace(SCENARIO, request=BalanceRequest(1000.5)),
    ]
    assert len({SCENARIO.key, *(other.key for other in others)}) == 5


def test_changes_are_told_in_the_readers_words():
    newer = replace(
        SCENARIO,
        pipeline=Pipeline(8, 8, p2p_time=0.5),
        request=replace(SCENARIO.request, memory_limit_mb=None),
    )
    assert SCENARIO.changes(newer) == ("stages 4 → 8", "transfer time 0 → 0.5", "memory limit 1,000 MiB → none")
    assert SCENARIO.changes(SCENARIO) == ()


def test_a_file_with_the_same_name_and_other_numbers_is_a_change():
    assert SCENARIO.changes(replace(SCENARIO, profile=profile(layers=25))) == ("the profile's content",)


def test_results_are_found_by_content_and_the_oldest_is_forgotten():
    results = Results()
    results.keep(SCENARIO, RESULT)
    assert results.find(replace(SCENARIO)) is RESULT
    for number in range(64):
        results.keep(replace(SCENARIO, pipeline=Pipeline(4, 10 + number)), RESULT)
    assert results.find(SCENARIO) is None
    assert results.find(replace(SCENARIO, pipeline=Pipeline(4, 73))) is RESULT
