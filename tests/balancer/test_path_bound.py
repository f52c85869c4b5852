"""No bound is ever above the step time of a plan that exists."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sapp_core.balancer.path_bound import PlanModel, relaxation, rounded
from sapp_core.balancer.path_rows import PathRows
from sapp_core.balancer.plan_space import PlanSpace, plan_space
from sapp_core.balancer.question import Question, question_of
from sapp_core.balancer.time_unit import time_unit
from sapp_core.domain.costs import chunk_costs
from sapp_core.domain.result import MemoryModel
from sapp_core.schedules.in_flight import peak_vectors
from sapp_core.simulator.engine import prepare, simulate
from sapp_core.simulator.memory import peaks
from tests.balancer.recorded_cases import CASES, recorded_case
from tests.strategies import plans, profiles, schedules


@st.composite
def placed_studies(draw) -> tuple[PlanSpace, np.ndarray]:
    """A question, and a plan within its limits: each stage's is the plan's own peak, or a little more."""
    profile, schedule = draw(profiles(max_layers=8)), draw(schedules(max_stages=4, max_micro_batches=8))
    plan = draw(plans(profile, schedule.pipeline))
    costs = chunk_costs(profile, plan, schedule.pipeline)
    spare = draw(st.sampled_from([0.0, 500.0, 1e6]))
    limits = tuple(peak.total_mb + spare for peak in peaks(prepare(schedule), costs))
    space = plan_space(Question(profile, schedule, peak_vectors(schedule), limits))
    return space, space.vector(plan)


@given(placed_studies())
@settings(max_examples=60)
def test_a_vector_costs_what_its_plan_costs(study):
    space, vector = study
    question = space.question
    plan = space.plan(vector)
    costs = chunk_costs(question.profile, plan, question.schedule.pipeline)
    assert np.array_equal(space.vector(plan), vector)
    step_time = simulate(prepare(question.schedule), costs).step_time
    assert space.step_times(vector[np.newaxis])[0] == pytest.approx(step_time)
    assert space.fits(vector)
    if len(space.room):
        used = max(
            peak.total_mb - limit
            for peak, limit in zip(peaks(prepare(question.schedule), costs), question.limits, strict=True)
        )
        assert np.max(space.memory @ vector - space.room) == pytest.approx(used, abs=1e-6)


@given(placed_studies())
@settings(max_examples=60)
def test_the_relaxation_is_below_every_plan(study):
    space, vector = study
    if not space.allows(vector):
        return
    step_time = space.step_times(vector[np.newaxis])[0]
    rows = PathRows(space)
    states = list(islice(relaxation(PlanModel(space, time_unit(space.question.profile), 0, relax=True), rows), 40))
    bounds = [state.bound for state in states]
    assert bounds == sorted(bounds)
    assert bounds[-1] <= step_time
    assert all(state.step_time >= state.bound for state in states)
    assert rows.lengths(vector).max() <= step_time * (1 + 1e-9)


@given(placed_studies())
@settings(max_examples=40)
def test_rounding_places_every_layer_in_order(study):
    space, vector = study
    if space.least.sum() > space.per_kind.sum():
        return
    point = 0.5 * vector + 0.5 * (space.per_kind / np.bincount(space.kind))[space.kind]
    near = rounded(space, point)
    assert np.array_equal(near, np.rint(near))
    assert (near >= 0).all()
    assert np.array_equal(np.bincount(space.kind, weights=near), space.per_kind)
    assert space.in_order(near[np.newaxis])[0]
    assert (np.bincount(space.cell, weights=near, minlength=len(space.least)) >= space.least).all()


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "best_known" in case])
def test_the_relaxation_is_below_the_best_known_plan_and_near_it(name):
    profile, schedule, request = recorded_case(name)
    space = plan_space(question_of(profile, schedule, replace(request, memory_model=MemoryModel.EXACT)))
    states = relaxation(PlanModel(space, time_unit(profile), 0, relax=True), PathRows(space))
    *_, last = islice(states, 60)
    assert 0.88 * CASES[name]["best_known"] <= last.bound <= CASES[name]["best_known"]
    assert last.step_time <= 1.05 * last.bound


def test_not_even_a_fractional_plan():
    profile, schedule, request = recorded_case("e1")
    space = plan_space(question_of(profile, schedule, replace(request, memory_limit_mb=100.0)))
    (state,) = relaxation(PlanModel(space, time_unit(profile), 0, relax=True), PathRows(space))
    assert (state.bound, state.point) == (np.inf, None)


def test_a_stopped_relaxation_says_nothing_more():
    profile, schedule, request = recorded_case("e1")
    space = plan_space(question_of(profile, schedule, request))
    model = PlanModel(space, time_unit(profile), 0, relax=True)
    states = relaxation(model, PathRows(space))
    next(states)
    model.live.stop()
    assert list(states) == []
