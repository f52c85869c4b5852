"""V and bidirectional placements through the same builder, on orders recorded from the reference implementations."""

from dataclasses import replace

import pytest

from sapp_core.balancer.balance import balance
from sapp_core.balancer.ilp import placement_program
from sapp_core.balancer.sapp_memory import estimated_vectors
from sapp_core.balancer.time_unit import PROFILE_UNIT
from sapp_core.domain.pipeline import Pipeline, Placement
from sapp_core.domain.profile import MODES, LayerKind, LayerProfile, ModelProfile
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import MemoryModel, Objective, Status
from sapp_core.schedules.in_flight import peak_vectors
from tests.balancer.brute_force import all_plans, surrogate
from tests.recorded import accepted, recorded_schedule


def layer(name, kind, count, forward, parameter, activation):
    backward = tuple(2 * forward + r for r in range(len(MODES)))
    return LayerProfile(name, kind, count, forward, backward, parameter, activation)


PROFILE = ModelProfile(
    "m",
    (
        layer("Head", LayerKind.HEAD, 1, 2.0, 31.0, (3.0,) + (None,) * 4),
        layer("Body", LayerKind.BODY, 5, 4.0, 10.0, (9.0, None, None, None, 2.0)),
        layer("Tail", LayerKind.TAIL, 1, 7.0, 23.0, (None,) * 5),
    ),
)


def schedule(placement: Placement):
    """The smallest recorded DualPipe (bidirectional) and DualPipe-V orders."""
    cases = (recorded_schedule(case) for case in accepted("dualpipe"))
    found = min((s for s in cases if s.pipeline.placement is placement), key=lambda s: s.num_ops)
    return replace(found, name="dualpipe-v" if placement is Placement.V else "dualpipe")


def test_head_and_tail_of_a_v_placement_are_both_on_stage_0():
    pipeline = Pipeline(3, 6, 2, placement=Placement.V)
    program = placement_program(PROFILE, pipeline, PROFILE_UNIT)
    for value, head, tail in ((program.forward_time, 2.0, 7.0), (lambda kind, _: kind.parameter_mb, 31.0, 23.0)):
        assert [[program.ends(value, c, s) for s in range(3)] for c in range(2)] == [[head, 0, 0], [tail, 0, 0]]


@pytest.mark.parametrize(
    ("placement", "memory_model"),
    [
        (Placement.V, MemoryModel.EXACT),
        (Placement.V, MemoryModel.SAPP),
        (Placement.BIDIRECTIONAL, MemoryModel.EXACT),
    ],
)
def test_the_optimum_is_that_of_all_plans(placement, memory_model):
    order = schedule(placement)
    plans = all_plans(PROFILE, order.pipeline)
    vectors = peak_vectors(order) if memory_model is MemoryModel.EXACT else estimated_vectors(order)
    memory = plans.memory(vectors)
    limit = float(sorted(memory.max(axis=1))[len(memory) // 10])
    fits = (memory <= limit).all(axis=1)
    request = BalanceRequest(limit, objective=Objective.SAPP_0, memory_model=memory_model, threads=1)
    result = balance(PROFILE, order, request)
    values = surrogate(plans, order, Objective.SAPP_0)
    assert result.status is Status.OPTIMAL
    assert result.objective_value == values[fits].min() > values.min()
    assert result.lower_bound <= plans.step_times(order)[fits].min()
    result.plan.check(PROFILE, order.pipeline)


def test_parameters_of_both_copies_count():
    """Two stages of a bidirectional pipeline hold the whole model each, and some activations come on top."""
    order = schedule(Placement.BIDIRECTIONAL)
    assert order.pipeline.num_stages == 2
    whole_model = 31.0 + 5 * 10.0 + 23.0
    result = balance(PROFILE, order, BalanceRequest(whole_model, threads=1))
    assert result.status is Status.INFEASIBLE
    assert result.infeasibility.smallest_limit_mb > whole_model
