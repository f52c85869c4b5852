import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.balancer.question import stage_memory
from sapp_core.balancer.sapp_memory import estimated_vectors
from sapp_core.domain.costs import chunk_costs
from sapp_core.domain.pipeline import Pipeline, Placement
from sapp_core.domain.schedule import Schedule
from sapp_core.errors import PipelineError
from sapp_core.schedules.in_flight import peak_vectors
from sapp_core.schedules.registry import make_schedule
from sapp_core.simulator.engine import prepare
from sapp_core.simulator.memory import peaks
from tests.strategies import studies


def base(name: str, pipeline: Pipeline) -> list[tuple[float, ...]]:
    """The first vector of each stage: the table of the formulation, without the overhead term."""
    return [vectors[0] for vectors in estimated_vectors(Schedule(name, pipeline, ()))]


@pytest.mark.parametrize(
    ("name", "pipeline", "expected"),
    [
        ("1f1b", Pipeline(4, 8), [(4,), (3,), (2,), (1,)]),
        ("1f1b", Pipeline(4, 2), [(2,), (2,), (2,), (1,)]),
        ("vpp", Pipeline(4, 8, 2), [(7, 4), (5, 4), (4, 3), (4, 1)]),
        ("vpp", Pipeline(4, 4, 2), [(4, 4), (4, 4), (4, 3), (4, 1)]),
        ("vpp", Pipeline(4, 8, 3), [(7, 4, 4), (5, 4, 4), (4, 4, 3), (4, 4, 1)]),
        ("vpp", Pipeline(4, 8), [(7,), (5,), (3,), (1,)]),
        ("vpp-less-memory", Pipeline(4, 8, 2), [(4, 4), (4, 3), (4, 2), (4, 1)]),
        ("vpp-less-memory", Pipeline(4, 3, 2), [(3, 3), (3, 3), (3, 2), (3, 1)]),
        ("vpp-less-memory", Pipeline(4, 8), [(4,), (3,), (2,), (1,)]),
        ("seqpipe", Pipeline(4, 8, num_sequence_splits=2), [(2.5,), (2,), (1.5,), (1,)]),
        ("seqpipe", Pipeline(4, 1, num_sequence_splits=2), [(1,), (1,), (1,), (1,)]),
        ("seqpipe-vpp", Pipeline(4, 8, 2, 2), [(4, 2), (3, 2), (2, 2), (2, 1)]),
        ("dualpipe-v", Pipeline(3, 6, 2, placement=Placement.V), [(6, 1), (5, 2), (4, 3)]),
        ("dualpipe-v", Pipeline(3, 2, 2, placement=Placement.V), [(2, 1), (2, 2), (2, 2)]),
    ],
)
def test_closed_forms(name, pipeline, expected):
    assert base(name, pipeline) == expected


@given(
    name=st.sampled_from(("1f1b", "vpp", "vpp-less-memory")),
    stages=st.integers(1, 6),
    chunks=st.integers(1, 5),
    rounds=st.integers(2, 4),
)
def test_with_full_groups_every_closed_form_is_a_moment_of_the_schedule(name, stages, chunks, rounds):
    """Two waves and more, all groups full: then what SAPP estimates is in flight at some moment, overhead included."""
    pipeline = Pipeline(stages, stages * rounds, 1 if name == "1f1b" else chunks)
    exact = peak_vectors(make_schedule(name, pipeline))
    estimated = estimated_vectors(make_schedule(name, pipeline))
    for stage in range(stages):
        assert set(estimated[stage]) <= set(exact[stage])


@given(stages=st.integers(1, 6), chunks=st.integers(1, 3), rounds=st.integers(2, 4), data=st.data())
def test_seqpipe_has_as_many_splits_in_flight_as_its_closed_form(stages, chunks, rounds, data):
    splits = data.draw(st.sampled_from([k for k in range(1, stages + 1) if stages % k == 0]))
    name = "seqpipe" if chunks == 1 else "seqpipe-vpp"
    schedule = make_schedule(name, Pipeline(stages, stages * rounds, chunks, splits))
    for estimated, exact in zip(base(name, schedule.pipeline), peak_vectors(schedule), strict=True):
        assert sum(estimated) == pytest.approx(max(map(sum, exact)))


@pytest.mark.parametrize("name", ["vpp", "vpp-less-memory"])
def test_the_overhead_is_only_for_several_waves(name):
    assert {len(vectors) for vectors in estimated_vectors(make_schedule(name, Pipeline(4, 4, 3)))} == {1}
    assert {len(vectors) for vectors in estimated_vectors(make_schedule(name, Pipeline(4, 8, 3)))} == {2}


def test_other_schedules_and_groups_are_refused():
    with pytest.raises(PipelineError, match=r"no closed form for the schedule gpipe, only for 1f1b, .*; use exact"):
        estimated_vectors(make_schedule("gpipe", Pipeline(2, 2)))
    with pytest.raises(PipelineError, match=r"groups of 2 micro-batches .* found group_size 4; use exact"):
        estimated_vectors(make_schedule("vpp", Pipeline(2, 8, 2, group_size=4)))
    assert estimated_vectors(make_schedule("vpp", Pipeline(2, 8, 2, group_size=2)))


@given(studies())
def test_rows_evaluated_for_a_plan_are_the_simulated_peaks(study):
    profile, schedule, plan = study
    costs = chunk_costs(profile, plan, schedule.pipeline)
    assert stage_memory(costs, peak_vectors(schedule)) == tuple(p.total_mb for p in peaks(prepare(schedule), costs))
