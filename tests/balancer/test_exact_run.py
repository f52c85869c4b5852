"""Edges of a run: short times, no memory, nothing to move, cancelling, failures."""

from dataclasses import replace
from threading import enumerate as running_threads

import numpy as np
import pytest

from sapp_core.balancer import exact
from sapp_core.balancer.balance import balance
from sapp_core.balancer.live_model import LiveModel
from sapp_core.domain.costs import chunk_costs
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.profile import MODES, LayerKind, LayerProfile, ModelProfile, RecomputeMode
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import MemoryModel, Objective, Status
from sapp_core.errors import SolverError
from sapp_core.schedules.registry import make_schedule
from sapp_core.simulator.engine import prepare
from sapp_core.simulator.memory import peaks
from tests.balancer.recorded_cases import CASES, recorded_case


def body(name="Body", count=6, forward=1.0, parameter=10.0, activation=(8.0, None, None, None, 2.0)) -> LayerProfile:
    backward = tuple(2 * forward + r * forward / 4 for r in range(len(MODES)))
    return LayerProfile(name, LayerKind.BODY, count, forward, backward, parameter, activation)


def exact_case(name: str):
    profile, schedule, request = recorded_case(name)
    return profile, schedule, replace(request, objective=Objective.EXACT, memory_model=MemoryModel.EXACT)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seconds", [0.01, 0.5])
def test_any_time_limit_gives_a_plan_or_says_that_there_was_no_time(name, seconds):
    profile, schedule, request = exact_case(name)
    result = balance(profile, schedule, replace(request, time_limit=seconds))
    assert result.status is not Status.INFEASIBLE
    assert (result.plan is None) == (result.status is Status.NO_SOLUTION_IN_TIME)
    if result.plan is not None:
        used = peaks(prepare(schedule), chunk_costs(profile, result.plan, schedule.pipeline))
        assert all(peak.total_mb <= request.memory_limit_mb + 1e-6 for peak in used)
        assert result.lower_bound <= result.step_time
        assert result.lower_bound <= CASES[name].get("best_known", np.inf)


def test_the_trace_only_gets_better():
    result = balance(*exact_case("e1"))
    assert result.status is Status.OPTIMAL
    best = [state.best for state in result.trace if state.best is not None]
    bounds = [state.bound for state in result.trace if state.bound is not None]
    assert best == sorted(best, reverse=True)
    assert bounds == sorted(bounds)
    assert result.step_time == pytest.approx(5862.6)


def test_every_plan_on_the_way_is_checked_and_rated():
    profile, schedule, request = exact_case("e2")
    better = []
    balance(profile, schedule, replace(request, time_limit=2.0), improved=better.append)
    assert better
    step_times = [found.step_time for found in better]
    assert step_times == sorted(step_times, reverse=True)
    for found in better:
        found.plan.check(profile, schedule.pipeline)
        assert found.status is Status.FEASIBLE
        assert found.lower_bound <= found.step_time


class EnoughError(Exception):
    pass


@pytest.mark.parametrize("after", [1, 5, 40])
def test_what_progress_raises_ends_the_run_and_its_proof(after):
    profile, schedule, request = exact_case("e2")
    told = []

    def stop(state) -> None:
        told.append(state)
        if len(told) == after:
            raise EnoughError

    before = set(running_threads())
    with pytest.raises(EnoughError):
        balance(profile, schedule, replace(request, time_limit=3600.0), stop)
    assert len(told) == after
    assert set(running_threads()) <= before


def test_the_end_of_time_ends_the_proof():
    before = set(running_threads())
    profile, schedule, request = exact_case("c1")
    result = balance(profile, schedule, replace(request, time_limit=1.5))
    assert result.status is Status.FEASIBLE
    assert set(running_threads()) <= before


@pytest.mark.parametrize(
    "profile",
    [
        ModelProfile("one layer", (body(count=1),)),
        ModelProfile("one mode", (body(count=2, activation=(8.0, None, None, None, None)),)),
        ModelProfile("one layer of each kind", (body("A", 1), body("B", 1))),
    ],
    ids=lambda profile: profile.name,
)
def test_nothing_to_move(profile):
    stages = profile.num_body_layers
    result = balance(profile, make_schedule("1f1b", Pipeline(stages, 3)), BalanceRequest(1e4))
    assert result.status is Status.OPTIMAL
    assert result.gap <= 1e-5


@pytest.mark.parametrize("free", ["forward", "everything"])
def test_layers_that_take_no_time(free):
    idle = replace(body("Idle"), forward_time=0.0, backward_time=(0.0,) * len(MODES))
    profile = ModelProfile("m", (idle,) if free == "everything" else (idle, body("Busy")))
    result = balance(profile, make_schedule("vpp", Pipeline(2, 4, 2)), BalanceRequest(1e4))
    assert result.status is Status.OPTIMAL
    assert (result.step_time == 0) == (free == "everything")


@pytest.mark.parametrize("limit", [None, 1.0])
def test_without_memory_only_time_counts(limit):
    """Nothing is recomputed, and layers are as even as they can be."""
    profile = ModelProfile("m", (body(parameter=0.0, activation=(0.0,) * 5),))
    result = balance(profile, make_schedule("1f1b", Pipeline(3, 4)), BalanceRequest(limit))
    assert result.status is Status.OPTIMAL
    (placement,) = result.plan.layers
    assert placement.counts[MODES.index(RecomputeMode.NONE)] == ((2, 2, 2),)


def test_a_plan_of_parts_of_layers_only_is_no_plan():
    """Three layers of 10 MB on two stages of 15 MB: one and a half each would fit."""
    profile = ModelProfile("m", (body(count=3, activation=(0.0, None, None, None, None)),))
    result = balance(profile, make_schedule("1f1b", Pipeline(2, 4)), BalanceRequest(15.0))
    assert result.status is Status.INFEASIBLE
    assert result.infeasibility.smallest_limit_mb == pytest.approx(20.0)
    assert result.lower_bound is None


def test_plans_in_order_only_are_no_plan_when_memory_needs_another_order():
    """A large and a small kind would have to share both stages."""
    large, small = (
        body(name, 2, parameter=size, activation=(0.0, None, None, None, None))
        for name, size in (("L", 90.0), ("S", 10.0))
    )
    result = balance(ModelProfile("m", (large, small)), make_schedule("1f1b", Pipeline(2, 4)), BalanceRequest(105.0))
    assert result.status is Status.INFEASIBLE
    assert result.infeasibility.smallest_limit_mb == pytest.approx(110.0)


def test_a_solver_that_fails_in_the_proof_is_an_error(monkeypatch):
    def fail(self, seconds):
        if not self._relaxed:
            raise SolverError("solver: out of order.")
        return original(self, seconds)

    original = LiveModel.solve
    monkeypatch.setattr(LiveModel, "solve", fail)
    before = set(running_threads())
    with pytest.raises(SolverError, match="out of order"):
        balance(*exact_case("e1"))
    assert set(running_threads()) <= before


def test_the_search_is_the_same_whatever_the_proof_does(monkeypatch):
    """Its first steps depend on the seed alone: with the same seed, a run that ends by proof ends with the same plan."""
    profile, schedule, request = exact_case("e1")
    plans = {balance(profile, schedule, request).plan for _ in range(3)}
    monkeypatch.setattr(exact, "FIRST_STEPS", 1)
    assert {balance(profile, schedule, request).plan} == plans
    assert len(plans) == 1
