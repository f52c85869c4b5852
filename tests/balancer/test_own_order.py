"""Zero-bubble orders for the plan's own times."""

from dataclasses import replace

import pytest
from hypothesis import given

from sapp_core.balancer.balance import balance
from sapp_core.balancer.own_order import own_order
from sapp_core.domain.costs import chunk_costs
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import even_split
from sapp_core.domain.profile import MODES, LayerKind, LayerProfile, ModelProfile
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import Status
from sapp_core.domain.sequence_split import split_along_sequence
from sapp_core.schedules.registry import make_schedule, placed
from sapp_core.schedules.validate import validate
from sapp_core.schedules.zero_bubble import PLANNED
from sapp_core.simulator.engine import prepare, simulate
from sapp_core.simulator.memory import peaks
from sapp_core.study import evaluate
from tests.strategies import studies

BODY = LayerProfile("Body", LayerKind.BODY, 15, 30.0, tuple(60.0 + 3 * r for r in range(len(MODES))), 500.0,
                    (300.0, None, None, None, 40.0))  # fmt: skip
TAIL = LayerProfile("Tail", LayerKind.TAIL, 1, 40.0, (70.0,) * len(MODES), 900.0, (None,) * len(MODES))
UNEVEN = ModelProfile("uneven", (BODY, TAIL))


@given(studies())
def test_a_plans_own_order_is_a_valid_schedule_neither_slower_nor_larger(study):
    profile, schedule, plan = study
    profile = split_along_sequence(profile, schedule.pipeline.num_sequence_splits)
    costs = chunk_costs(profile, plan, schedule.pipeline)
    prepared = prepare(schedule)
    order = own_order(prepared, costs)
    assert (order.schedule.name, order.schedule.pipeline) == (schedule.name, schedule.pipeline)
    if order is prepared:
        return
    assert schedule.name in PLANNED
    validate(order.schedule)
    assert simulate(order, costs).step_time < simulate(prepared, costs).step_time
    for new, old in zip(peaks(order, costs), peaks(prepared, costs), strict=True):
        assert new.total_mb <= old.total_mb + 1e-6
    assert own_order(order, costs) is order


@pytest.mark.parametrize(("name", "num_layers"), [("zb-1p", 13), ("zbv", 15)])
def test_work_is_ordered_anew_where_that_is_quicker_and_everyone_says_so(name, num_layers):
    profile = ModelProfile("uneven", (replace(BODY, num_layers=num_layers), TAIL))
    pipeline = placed(name, Pipeline(4, 10, 1 if name == "zb-1p" else 2, p2p_time=4.0))
    schedule = make_schedule(name, pipeline)
    result = balance(profile, schedule, BalanceRequest(None, time_limit=60.0))
    assert result.status is Status.OPTIMAL
    fixed = simulate(prepare(schedule), chunk_costs(profile, result.plan, pipeline)).step_time
    assert result.step_time < fixed
    assert result.objective_value == pytest.approx(fixed)
    assert result.lower_bound <= fixed * (1 + 1e-9)
    assert result.gap == pytest.approx(1 - result.lower_bound / fixed)
    assert result.above_best >= 0
    assert any("orders its work anew" in note and "Bound and gap" in note for note in result.notes)
    found = evaluate(profile, schedule, result.plan)
    assert found.step_time == result.step_time
    assert found.schedule.slots != schedule.slots


def test_other_schedules_keep_their_order():
    schedule = make_schedule("1f1b", Pipeline(4, 10))
    plan = even_split(UNEVEN, schedule.pipeline)
    prepared = prepare(schedule)
    assert own_order(prepared, chunk_costs(UNEVEN, plan, schedule.pipeline)) is prepared
    result = balance(UNEVEN, schedule, replace(BalanceRequest(None), time_limit=60.0))
    assert not any("anew" in note for note in result.notes)
