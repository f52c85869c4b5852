from hypothesis import given

from sapp_core.domain.costs import ChunkCosts, chunk_costs
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.schedule import Op, OpKind, Schedule, single_slots
from sapp_core.schedules.in_flight import peak_vectors
from sapp_core.schedules.registry import make_schedule
from sapp_core.simulator.engine import prepare, simulate
from sapp_core.simulator.memory import memory_timeline, peaks
from tests.strategies import studies


@given(studies())
def test_peak_over_time_equals_the_promise_of_the_rows(study):
    """The memory rows of the balancer, the peak, and the memory over time are one truth."""
    profile, schedule, plan = study
    costs = chunk_costs(profile, plan, schedule.pipeline)
    memory = memory_timeline(prepare(schedule), costs, simulate(prepare(schedule), costs))
    for s, (peak, vectors) in enumerate(zip(peaks(prepare(schedule), costs), peak_vectors(schedule), strict=True)):
        static = costs.parameter_mb[s] + costs.constant_mb
        assert peak.parameter_mb + peak.constant_mb == static
        rows = max(sum(n * row[s] for n, row in zip(vector, costs.activation_mb, strict=True)) for vector in vectors)
        assert sum(peak.activation_mb) == rows == max(memory.activation_mb[s])
        assert peak.total_mb == static + rows


@given(studies())
def test_memory_over_time_is_in_order_and_returns_to_zero(study):
    profile, schedule, plan = study
    costs = chunk_costs(profile, plan, schedule.pipeline)
    timeline = simulate(prepare(schedule), costs)
    memory = memory_timeline(prepare(schedule), costs, timeline)
    for times, held in zip(memory.times, memory.activation_mb, strict=True):
        assert list(times) == sorted(times)
        assert times[0] == 0
        assert times[-1] <= timeline.step_time
        assert held[0] == held[-1] == 0
        assert min(held) >= 0


def test_claimed_at_the_start_and_released_at_the_end():
    costs = ChunkCosts(((1.0,),), ((2.0,),), ((0.0,),), ((10.0,),), (5.0,), 1.0)
    schedule = make_schedule("gpipe", Pipeline(1, 2))
    memory = memory_timeline(prepare(schedule), costs, simulate(prepare(schedule), costs))
    assert memory.times == ((0.0, 0.0, 1.0, 4.0, 6.0),)
    assert memory.activation_mb == ((0.0, 10.0, 20.0, 10.0, 0.0),)


def test_a_share_stays_until_the_weight_gradient():
    pipeline = Pipeline(1, 1, weight_gradient_memory_share=0.25)
    order = single_slots(Op(kind, 0, 0) for kind in (OpKind.F, OpKind.I, OpKind.W))
    schedule = Schedule("split", pipeline, (order,))
    costs = ChunkCosts(((1.0,),), ((2.0,),), ((0.0,),), ((8.0,),), (0.0,), 0.0)
    memory = memory_timeline(prepare(schedule), costs, simulate(prepare(schedule), costs))
    assert memory.times == ((0.0, 0.0, 2.0, 3.0),)
    assert memory.activation_mb == ((0.0, 8.0, 2.0, 0.0),)


def test_the_peak_names_the_chunks_of_the_worst_moment():
    schedule = make_schedule("vpp", Pipeline(2, 2, 2))
    costs = ChunkCosts(*(((1.0, 1.0), (1.0, 1.0)),) * 3, ((3.0, 3.0), (5.0, 5.0)), (0.0, 0.0), 0.0)
    assert peaks(prepare(schedule), costs)[0].activation_mb == (6.0, 10.0)
