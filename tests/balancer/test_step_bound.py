from dataclasses import replace
from random import Random

import pytest

from sapp_core.balancer.ilp import placement_program
from sapp_core.balancer.solvers import Effort, solver_named
from sapp_core.balancer.step_bound import minimise_longest_path
from sapp_core.balancer.time_unit import PROFILE_UNIT
from sapp_core.domain.costs import chunk_costs
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Plan, even_split
from sapp_core.domain.profile import MODES, LayerKind, LayerProfile, ModelProfile
from sapp_core.domain.schedule import Schedule
from sapp_core.schedules.registry import make_schedule
from sapp_core.simulator.engine import prepare, simulate
from tests.recorded import accepted, label, recorded_schedule


def longest_path(profile: ModelProfile, schedule: Schedule, plan: Plan) -> float:
    program = placement_program(profile, schedule.pipeline, PROFILE_UNIT)
    minimise_longest_path(program, schedule)
    program.fix(plan)
    return solver_named("highs").solve(program.problem, Effort(seconds=60, seed=0, threads=1), relax=True).bound


def profile(random: Random, layers: int) -> ModelProfile:
    def kind(name: str, where: LayerKind, count: int) -> LayerProfile:
        forward = random.randint(1, 40) / 4
        backward = tuple(2 * forward + r for r in range(len(MODES)))
        return LayerProfile(name, where, count, forward, backward, 1.0, (1.0, None, None, None, 1.0))

    return ModelProfile(
        "m", (kind("Head", LayerKind.HEAD, 1), kind("Body", LayerKind.BODY, layers), kind("Tail", LayerKind.TAIL, 1))
    )


SMALL = [
    pytest.param(case, id=f"{file}-{label(case)}")
    for file in ("torch", "dualpipe", "seq1f1b", "zerobubble")
    for case in list(accepted(file))[::7]
    if case["ranks"] <= 4 and case["microbatches"] <= 12 and "problems" not in case
]


@pytest.mark.parametrize("case", SMALL)
def test_no_path_is_longer_than_the_step(case):
    """Overlapped slots, split backwards, sequence splits, V and bidirectional placements, transfers."""
    random = Random(repr(case["orders"]))
    recorded = recorded_schedule(case)
    pipeline = replace(
        recorded.pipeline,
        p2p_time=random.choice((0.0, 2.5)),
        overlap_efficiency=random.choice((0.0, 0.5, 1.0)),
        input_gradient_share=random.choice((0.3, 0.5)),
    )
    schedule = replace(recorded, pipeline=pipeline)
    model = profile(random, pipeline.num_virtual_stages + random.randint(0, 5))
    plan = even_split(model, pipeline, random.choice(model.modes))
    step_time = simulate(prepare(schedule), chunk_costs(model, plan, pipeline)).step_time
    found = longest_path(model, schedule, plan)
    assert found <= step_time * (1 + 1e-9)
    assert found >= 0.75 * step_time


def test_all_kinds_of_schedules_are_tried():
    schedules = [recorded_schedule(param.values[0]) for param in SMALL]
    assert {str(s.pipeline.placement) for s in schedules} == {"loop", "v", "bidirectional"}
    assert any(len(slot.ops) > 1 for s in schedules for slots in s.slots for slot in slots)
    assert any(op.kind == "W" for s in schedules for slots in s.slots for slot in slots for op in slot.ops)
    assert any(s.pipeline.num_sequence_splits > 1 for s in schedules)


@pytest.mark.parametrize(
    ("file", "name", "stages", "micro_batches"),
    [("zerobubble", "ZB-2p", 4, 8), ("zerobubble", "ZB-inf", 4, 8), ("torch", "InterleavedZeroBubble", 2, 1)],
)
@pytest.mark.parametrize("share", [0.3, 0.5])
def test_split_backwards_are_bounded_exactly_where_one_path_decides(file, name, stages, micro_batches, share):
    sizes = (stages, 1, micro_batches)
    case = next(c for c in accepted(file, name) if (c["ranks"], c["chunks"], c["microbatches"]) == sizes)
    recorded = recorded_schedule(case)
    schedule = replace(recorded, pipeline=replace(recorded.pipeline, input_gradient_share=share))
    model = profile(Random(1), 8)
    plan = even_split(model, schedule.pipeline)
    step_time = simulate(prepare(schedule), chunk_costs(model, plan, schedule.pipeline)).step_time
    assert longest_path(model, schedule, plan) == pytest.approx(step_time)


@pytest.mark.parametrize("p2p_time", [0.0, 3.0])
@pytest.mark.parametrize("micro_batches", [1, 3, 4, 9])
def test_even_cells_in_1f1b_are_bounded_exactly(micro_batches, p2p_time):
    """Without transfers that is (M + S − 1)·(F + B)."""
    body = LayerProfile("Body", LayerKind.BODY, 8, 1.0, (2.0,) * 5, 1.0, (1.0, None, None, None, 1.0))
    model = ModelProfile("m", (body,))
    schedule = make_schedule("1f1b", Pipeline(4, micro_batches, p2p_time=p2p_time))
    plan = even_split(model, schedule.pipeline)
    step_time = simulate(prepare(schedule), chunk_costs(model, plan, schedule.pipeline)).step_time
    found = longest_path(model, schedule, plan)
    if not p2p_time:
        assert step_time == (micro_batches + 3) * 6.0
        assert found == pytest.approx(step_time)
    assert found <= step_time + 1e-9
    assert found >= (micro_batches + 3) * 6.0 + 6 * p2p_time - 1e-9
