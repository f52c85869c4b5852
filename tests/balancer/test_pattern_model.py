"""Patterns of stages: exact where a stage is one cell, and never above a plan."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sapp_core.balancer.path_rows import PathRows
from sapp_core.balancer.pattern_model import PatternModel
from sapp_core.balancer.plan_space import PlanSpace, plan_space
from sapp_core.balancer.question import Question
from sapp_core.balancer.stage_patterns import applies, stage_patterns
from sapp_core.domain.costs import chunk_costs
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.profile import LayerKind
from sapp_core.domain.result import Status
from sapp_core.schedules.in_flight import peak_vectors
from sapp_core.schedules.registry import make_schedule
from sapp_core.simulator.engine import prepare
from sapp_core.simulator.memory import peaks
from tests.balancer.exact_spaces import allowed_plans, space_of_case, space_of_model, unit_of
from tests.balancer.tiny_exact import exact_model
from tests.strategies import plans, profiles

ONE_CELL = ("1f1b", "gpipe", "seqpipe", "zb-1p", "zb-2p")
TINY = [
    (name, seed)
    for name in ONE_CELL
    for seed in range(20)
    if applies(space_of_model(exact_model(name, seed))) and exact_model(name, seed).fits.any()
]


@st.composite
def one_kind_studies(draw) -> tuple[PlanSpace, np.ndarray]:
    """A question with one body kind and one cell a stage, and a plan within its limits."""
    profile = draw(profiles(max_layers=8))
    body = profile.body[0]
    others = tuple(layer for layer in profile.layers if layer.kind is not LayerKind.BODY)
    profile = replace(profile, layers=(body, *others))
    pipeline = Pipeline(draw(st.integers(1, 4)), draw(st.integers(1, 8)))
    schedule = make_schedule("1f1b", pipeline)
    plan = draw(plans(profile, pipeline))
    spare = draw(st.sampled_from([0.0, 500.0, 1e6]))
    limits = tuple(peak.total_mb + spare for peak in peaks(prepare(schedule), chunk_costs(profile, plan, pipeline)))
    space = plan_space(Question(profile, schedule, peak_vectors(schedule), limits))
    return space, space.vector(plan)


@given(one_kind_studies())
@settings(max_examples=40)
def test_the_choice_for_a_plan_is_never_cut_off(study):
    """At each level, with the paths of the plan itself."""
    space, vector = study
    if not space.allows(vector):
        return
    step_time = space.step_times(vector[np.newaxis])[0]
    unit, rows = unit_of(space), PathRows(space)
    rows.add_from(vector)
    model = PatternModel(space, stage_patterns(space, step_time * 1.01 + 1e-6), unit, 0)
    model.add_paths(rows, np.arange(len(rows)))
    previous = 0.0
    for level in model.levels:
        model.live.whole(level)
        solved = model.live.solve(60.0)
        assert solved.status is Status.OPTIMAL
        bound = unit.to_profile(solved.bound)
        assert previous - 1e-6 <= bound <= step_time * (1 + 1e-6)
        previous = bound
    best = model.vector(solved.values)
    assert space.allows(best)
    assert space.op_times(best[np.newaxis])[0] == pytest.approx(model.op_times(solved.values), abs=1e-6)


def test_there_are_enough_tiny_models():
    assert len(TINY) >= 20


@pytest.mark.parametrize(("name", "seed"), TINY[:20])
def test_a_stage_takes_the_least_time_that_any_plan_takes_there(name, seed):
    """For each number of layers that some plan puts there."""
    tiny = exact_model(name, seed)
    space = space_of_model(tiny)
    allowed, step_times = allowed_plans(tiny, space)
    (layer,) = space.question.profile.body
    times = np.array([layer.backward_time[r] for r in np.flatnonzero([a is not None for a in layer.activation_mb])])
    for stage, patterns in enumerate(stage_patterns(space, step_times.max())):
        here = allowed[:, space.cell == stage]
        listed = {pattern.layers: pattern for pattern in patterns}
        for count in np.unique(here.sum(axis=1)).astype(int).tolist():
            assert listed[count].backward == pytest.approx((here[here.sum(axis=1) == count] @ times).min())
        for pattern in patterns:
            assert pattern.layers == sum(pattern.modes)
            assert pattern.backward == pytest.approx(np.array(pattern.modes) @ times)


@pytest.mark.parametrize(("name", "seed"), TINY[:20])
def test_with_all_paths_it_ends_at_the_optimum_of_all_plans(name, seed):
    tiny = exact_model(name, seed)
    space = space_of_model(tiny)
    allowed, step_times = allowed_plans(tiny, space)
    unit, rows = unit_of(space), PathRows(space)
    for plan in allowed:
        rows.add_from(plan)
    model = PatternModel(space, stage_patterns(space, step_times.max()), unit, 0)
    model.add_paths(rows, np.arange(len(rows)))
    bounds = []
    for level in model.levels:
        model.live.whole(level)
        solved = model.live.solve(60.0)
        assert solved.status is Status.OPTIMAL
        bounds.append(unit.to_profile(solved.bound))
    assert all(later >= earlier * (1 - 1e-9) for earlier, later in pairwise(bounds))
    assert bounds[-1] == pytest.approx(step_times.min(), rel=1e-6)
    found = model.vector(solved.values)
    assert space.step_times(found[np.newaxis])[0] == pytest.approx(step_times.min(), rel=1e-6)


def test_the_listing_ends_when_stopped():
    space = space_of_case("a1")
    asked = []

    def stopped() -> bool:
        asked.append(None)
        return len(asked) == 3

    assert stage_patterns(space, 1e9, stopped) is None
    assert len(asked) == 3
