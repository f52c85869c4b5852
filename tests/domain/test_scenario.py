from dataclasses import replace

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.scenario import Scenario
from tests.charts.scenes import profile

SCENARIO = Scenario(profile(), "1f1b", Pipeline(4, 8), BalanceRequest(1000.0))


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
    assert SCENARIO.changes(newer) == ("stages 4 → 8", "transfer time 0 ms → 0.5 ms", "memory limit 1,000 MiB → none")
    assert SCENARIO.changes(SCENARIO) == ()


def test_a_file_with_the_same_name_and_other_numbers_is_a_change():
    assert SCENARIO.changes(replace(SCENARIO, profile=profile(layers=25))) == ("the profile's content",)


def test_limits_of_each_stage_and_the_choices_of_the_search_are_changes_too():
    each = replace(SCENARIO, request=replace(SCENARIO.request, memory_limit_mb=(1000.0, 1000.0, 900.0, 1000.0)))
    assert SCENARIO.changes(each) == ("memory limit 1,000 MiB → one for each stage, 900 to 1,000 MiB",)
    assert SCENARIO.changes(replace(SCENARIO, request=replace(SCENARIO.request, seed=7))) == ("seed 0 → 7",)
