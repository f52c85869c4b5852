import pytest
from hypothesis import given

from sapp_core.domain.costs import ChunkCosts, chunk_costs
from sapp_core.domain.pipeline import Pipeline, Placement
from sapp_core.schedules.registry import make_schedule
from sapp_core.simulator.bubble import bubble_parts
from sapp_core.simulator.engine import prepare, simulate
from tests.strategies import studies


@given(studies())
def test_parts_add_up_to_the_step_time(study):
    profile, schedule, plan = study
    costs = chunk_costs(profile, plan, schedule.pipeline)
    prepared = prepare(schedule)
    step_time = simulate(prepared, costs).step_time
    bubble = bubble_parts(prepared, costs, step_time)
    work = sum(layer.num_layers * (layer.forward_time + layer.backward_time[0]) for layer in profile.layers)
    per_stage = schedule.pipeline.num_micro_batches * work / schedule.pipeline.num_stages
    if schedule.pipeline.placement is Placement.BIDIRECTIONAL:
        per_stage *= 2 * schedule.pipeline.micro_batches_per_chunk / schedule.pipeline.num_micro_batches
    assert bubble.total == pytest.approx(step_time / per_stage - 1)
    if schedule.pipeline.overlap_efficiency == 0:
        assert bubble.ideal >= -1e-12
    assert bubble.recompute >= -1e-12
    assert bubble.transfer >= -1e-12
    if schedule.pipeline.p2p_time == 0:
        assert bubble.transfer == pytest.approx(0, abs=1e-12)


def grid(stages: int, value: float) -> tuple[tuple[float, ...], ...]:
    return ((value,) * stages,)


@pytest.mark.parametrize(("stages", "count"), [(4, 8), (8, 8), (16, 64)])
def test_even_1f1b_has_the_textbook_bubble(stages, count):
    # (S − 1) / M: Narayanan et al., arXiv 2104.04473, section 2.2.1.
    prepared = prepare(make_schedule("1f1b", Pipeline(stages, count)))
    costs = ChunkCosts(grid(stages, 1.0), grid(stages, 2.0), grid(stages, 0.0), grid(stages, 0.0), (0.0,) * stages, 0.0)
    bubble = bubble_parts(prepared, costs, simulate(prepared, costs).step_time)
    assert bubble.ideal == pytest.approx((stages - 1) / count)
    assert (bubble.imbalance, bubble.recompute, bubble.transfer) == (0, 0, 0)


@pytest.mark.parametrize("chunks", [1, 2, 4])
def test_interleaving_divides_the_bubble_by_the_chunks(chunks):
    stages, count = 4, 16
    rows = (grid(stages, 1.0) * chunks, grid(stages, 2.0) * chunks, grid(stages, 0.0) * chunks)
    costs = ChunkCosts(*rows, grid(stages, 0.0) * chunks, (0.0,) * stages, 0.0)
    name = "vpp" if chunks > 1 else "1f1b"
    prepared = prepare(make_schedule(name, Pipeline(stages, count, chunks)))
    bubble = bubble_parts(prepared, costs, simulate(prepared, costs).step_time)
    assert bubble.total == pytest.approx((stages - 1) / count / chunks)


def test_each_cause_gets_its_own_part():
    prepared = prepare(make_schedule("1f1b", Pipeline(1, 4)))
    costs = ChunkCosts(((1.0,),), ((2.0,),), ((3.0,),), ((0.0,),), (0.0,), 0.0)
    bubble = bubble_parts(prepared, costs, simulate(prepared, costs).step_time)
    assert (bubble.ideal, bubble.imbalance, bubble.recompute, bubble.transfer) == (0, 0, 1, 0)


def test_transfers_get_their_own_part():
    prepared = prepare(make_schedule("1f1b", Pipeline(2, 1, p2p_time=1.5)))
    costs = ChunkCosts(grid(2, 1.0), grid(2, 2.0), grid(2, 0.0), grid(2, 0.0), (0.0, 0.0), 0.0)
    bubble = bubble_parts(prepared, costs, simulate(prepared, costs).step_time)
    assert bubble.transfer == pytest.approx(2 * 1.5 / 3)


def test_no_work_has_no_bubble():
    prepared = prepare(make_schedule("1f1b", Pipeline(2, 1)))
    costs = ChunkCosts(*(grid(2, 0.0),) * 4, (0.0, 0.0), 0.0)
    assert bubble_parts(prepared, costs, 0.0).total == 0
