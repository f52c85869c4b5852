from dataclasses import replace
from itertools import pairwise

import pytest

from sapp_core.balancer.balance import balance
from sapp_core.domain.costs import chunk_costs
from sapp_core.domain.pipeline import Pipeline, Remainder
from sapp_core.domain.profile import MODES, LayerKind, LayerProfile, ModelProfile
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import MemoryModel, Objective, Progress, Status
from sapp_core.errors import PipelineError, SolverError
from sapp_core.schedules.registry import make_schedule
from sapp_core.simulator.engine import prepare
from sapp_core.simulator.memory import peaks
from tests.balancer.recorded_cases import CASES, recorded_case


def layer(
    name="Body", kind=LayerKind.BODY, count=4, forward=1.0, parameter=10.0, activation=(8.0, None, None, None, 2.0)
):
    backward = tuple(2 * forward + r * forward / 4 for r in range(len(MODES)))
    return LayerProfile(name, kind, count, forward, backward, parameter, activation)


@pytest.mark.parametrize(("name", "value"), [("a1", 3780), ("c2", 1200), ("c3", 3956), ("e1", 546.4), ("e2", 308)])
def test_recorded_optima_are_proven(name, value):
    result = balance(*recorded_case(name))
    assert result.status is Status.OPTIMAL
    assert result.objective_value == pytest.approx(value, abs=1e-9)
    assert result.objective_bound == result.objective_value


@pytest.mark.parametrize("name", ["a1", "e1"])
def test_cbc_proves_the_same(name):
    profile, schedule, request = recorded_case(name)
    result = balance(profile, schedule, replace(request, solver="cbc"))
    assert (result.status, result.solver) == (Status.OPTIMAL, "cbc")
    assert result.objective_value == pytest.approx(CASES[name]["sapp_cbc_90s"]["objective_value"], abs=1e-9)


@pytest.mark.parametrize("name", ["d1", "d2"])
@pytest.mark.parametrize("memory_model", MemoryModel)
def test_two_kinds_balance_in_order_where_the_reference_finds_nothing(name, memory_model):
    profile, schedule, request = recorded_case(name)
    assert CASES[name]["sapp_cbc_90s"]["status"] == "infeasible"
    result = balance(profile, schedule, replace(request, memory_model=memory_model))
    assert result.status is Status.OPTIMAL
    result.plan.check(profile, schedule.pipeline)
    assert (
        min(
            sum(kind.total(*schedule.pipeline.cells(v)[0]) for kind in result.plan.layers)
            for v in range(1, schedule.pipeline.num_virtual_stages - 1)
        )
        >= 1
    )


@pytest.mark.parametrize("solver", ["highs", "cbc"])
def test_a_time_limit_is_never_called_optimal(solver):
    profile, schedule, request = recorded_case("b1")
    result = balance(profile, schedule, replace(request, solver=solver, time_limit=1.0))
    assert result.status in {Status.FEASIBLE, Status.NO_SOLUTION_IN_TIME}
    assert (result.plan is None) == (result.status is Status.NO_SOLUTION_IN_TIME)
    # On a busy machine a second may not even give a bound.
    assert (
        result.objective_bound is None or result.objective_bound < 4313.25
    )  # a value that was found later, so the optimum is not above it


@pytest.mark.parametrize("level", Objective)
@pytest.mark.parametrize("name", ["vpp", "vpp-less-memory"])
def test_as_many_micro_batches_as_stages(name, level):
    profile = ModelProfile("m", (layer(count=9), layer("Tail", LayerKind.TAIL, 1)))
    schedule = make_schedule(name, Pipeline(3, 3, 2))
    result = balance(profile, schedule, BalanceRequest(100.0, objective=level, threads=1))
    assert result.status is Status.OPTIMAL
    assert result.step_time > 0


@pytest.mark.parametrize("memory_model", MemoryModel)
@pytest.mark.parametrize("name", ["1f1b", "vpp-less-memory"])
def test_no_more_micro_batches_are_in_flight_than_there_are(name, memory_model):
    """4 stages, 1 micro-batch: one activation alive, not four."""
    schedule = make_schedule(name, Pipeline(4, 1))
    profile = ModelProfile("m", (layer(activation=(8.0,) + (None,) * 4),))
    result = balance(profile, schedule, BalanceRequest(18.0, memory_model=memory_model, threads=1))
    assert result.status is Status.OPTIMAL


def test_all_kinds_of_a_cell_take_their_time():
    profile = ModelProfile("m", (layer("A", count=2, forward=1.0), layer("B", count=3, forward=10.0)))
    request = BalanceRequest(None, objective=Objective.SAPP_0)
    result = balance(profile, make_schedule("1f1b", Pipeline(1, 2)), request)
    assert result.objective_value == 2 * 3.0 + 3 * 30.0
    assert result.step_time == 2 * result.objective_value


def test_the_first_cell_needs_a_body_layer_when_there_is_no_head():
    tail = layer("Tail", LayerKind.TAIL, 1, forward=30.0)
    profile = ModelProfile("m", (layer(count=3, forward=100.0), tail))
    result = balance(profile, make_schedule("1f1b", Pipeline(3, 4)), BalanceRequest(None))
    totals = [result.plan.layers[0].total(0, s) for s in range(3)]
    assert totals[0] >= 1
    assert totals[1] >= 1


def test_recomputed_layers_come_first_in_a_cell_with_two_modes():
    """Alone, the second kind would recompute and the first would not: MindFormers cannot say that of one cell."""
    cheap = layer("Cheap", count=1, activation=(10.0, None, None, None, 9.0))
    dear = layer("Dear", count=1, activation=(100.0, None, None, None, 1.0))
    schedule = make_schedule("1f1b", Pipeline(1, 1))
    result = balance(ModelProfile("m", (cheap, dear)), schedule, BalanceRequest(60.0, objective=Objective.SAPP_0))
    full = MODES.index("full")
    assert [kind.counts[full][0][0] for kind in result.plan.layers] == [1, 1]
    assert result.notes == ()


def test_with_three_modes_the_user_is_told_that_this_is_not_enforced():
    kinds = tuple(layer(name, activation=(8.0, 5.0, None, None, 2.0)) for name in "AB")
    result = balance(ModelProfile("m", kinds), make_schedule("1f1b", Pipeline(2, 2)), BalanceRequest(500.0))
    assert any("MindFormers" in note for note in result.notes)


@pytest.mark.parametrize(
    ("profile", "limit", "note"),
    [
        (ModelProfile("m", (layer(parameter=0.0, activation=(0.0,) * 5),)), 1.0, "gives no memory"),
        (ModelProfile("m", (layer(),)), None, "not limited"),
    ],
)
def test_time_alone_is_balanced_without_memory_and_said_so(profile, limit, note):
    result = balance(profile, make_schedule("1f1b", Pipeline(2, 2)), BalanceRequest(limit))
    assert result.status is Status.OPTIMAL
    assert note in result.notes[0]


def test_a_plan_that_only_the_closed_form_accepts_is_marked():
    """The closed form does not know that the first group is longer."""
    profile = ModelProfile("m", (layer(count=8, parameter=0.0, activation=(10.0,) + (None,) * 4),))
    schedule = make_schedule("vpp", Pipeline(2, 3, 2, remainder=Remainder.FIRST))
    request = BalanceRequest(1000.0, memory_model=MemoryModel.SAPP, objective=Objective.SAPP_0, threads=1)
    lowest = balance(profile, schedule, replace(request, memory_limit_mb=1.0)).infeasibility.smallest_limit_mb
    result = balance(profile, schedule, replace(request, memory_limit_mb=lowest))
    used = max(peak.total_mb for peak in peaks(prepare(schedule), chunk_costs(profile, result.plan, schedule.pipeline)))
    assert (used > lowest) == any("closed-form" in note for note in result.notes)
    assert used > lowest


def test_the_same_question_gets_the_same_answer_and_changes_nothing():
    profile, schedule, request = recorded_case("e2")
    before = repr(profile)
    first, second = balance(profile, schedule, request), balance(profile, schedule, request)
    assert first.plan == second.plan
    assert (first.step_time, first.lower_bound) == (second.step_time, second.lower_bound)
    assert repr(profile) == before


def test_progress_is_told_and_kept():
    profile, schedule, request = recorded_case("e2")
    told = []
    result = balance(profile, schedule, request, told.append)
    assert all(isinstance(state, Progress) for state in told)
    assert [state.seconds for state in told] == sorted(state.seconds for state in told)
    assert (told[-1].best, told[-1].bound) == (result.objective_value, result.objective_value)
    assert set(result.trace) <= set(told)
    assert result.trace[-1] == told[-1]
    assert all(a.bound <= b.bound + 1e-9 for a, b in pairwise(result.trace) if a.bound and b.bound)


class EnoughError(Exception):
    pass


def test_what_progress_raises_ends_the_run():
    profile, schedule, request = recorded_case("b1")

    def stop(state: Progress) -> None:
        if state.bound is not None:
            raise EnoughError

    with pytest.raises(EnoughError):
        balance(profile, schedule, replace(request, time_limit=3600.0), stop)


def test_better_plans_on_the_way_are_checked_and_rated():
    profile, schedule, request = recorded_case("c2")
    better = []
    result = balance(profile, schedule, request, improved=better.append)
    assert better
    for found in better:
        assert found.status is Status.FEASIBLE
        found.plan.check(profile, schedule.pipeline)
        assert found.objective_value >= result.objective_value - 1e-6
        assert found.lower_bound <= found.step_time


def test_a_limit_for_each_stage():
    profile, schedule, request = recorded_case("e1")
    limits = (9000.0, 12000.0, 12000.0, 15000.0)
    result = balance(profile, schedule, replace(request, memory_limit_mb=limits, memory_model=MemoryModel.EXACT))
    used = peaks(prepare(schedule), chunk_costs(profile, result.plan, schedule.pipeline))
    assert all(peak.total_mb <= limit for peak, limit in zip(used, limits, strict=True))


def test_requests_that_do_not_fit_are_refused():
    profile, schedule, request = recorded_case("e1")
    with pytest.raises(PipelineError, match="one for each of the 4 stages, found 2"):
        balance(profile, schedule, replace(request, memory_limit_mb=(1.0, 2.0)))
    with pytest.raises(SolverError, match="'gurobi' is not known; choose from highs, cbc"):
        balance(profile, schedule, replace(request, solver="gurobi"))
    with pytest.raises(PipelineError, match="no closed form for the schedule gpipe"):
        balance(profile, make_schedule("gpipe", schedule.pipeline), request)
