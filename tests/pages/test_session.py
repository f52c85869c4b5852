"""What all sessions share about results."""

from dataclasses import replace

from pages.shared.session import Results
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import BalanceResult, Objective, Status
from sapp_core.domain.scenario import Scenario
from tests.charts.scenes import profile

SCENARIO = Scenario(profile(), "1f1b", Pipeline(4, 8), BalanceRequest(1000.0))
RESULT = BalanceResult(Status.FEASIBLE, None, None, None, None, Objective.SAPP_1, None, None, "highs", 1.0)


def test_results_are_found_by_content_and_the_oldest_is_forgotten():
    results = Results()
    results.keep(SCENARIO, RESULT)
    assert results.find(replace(SCENARIO)) is RESULT
    for number in range(64):
        results.keep(replace(SCENARIO, pipeline=Pipeline(4, 10 + number)), RESULT)
    assert results.find(SCENARIO) is None
    assert results.find(replace(SCENARIO, pipeline=Pipeline(4, 73))) is RESULT
