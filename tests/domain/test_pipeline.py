import pytest

from sapp_core.domain.pipeline import Pipeline, Placement
from sapp_core.errors import PipelineError

PLACEMENTS = [(Placement.LOOP, 3), (Placement.LOOP, 1), (Placement.V, 2), (Placement.BIDIRECTIONAL, 2)]


@pytest.mark.parametrize(("placement", "chunks"), PLACEMENTS)
def test_cells_and_virtual_stages_are_each_others_inverse(placement, chunks):
    pipeline = Pipeline(4, 8, chunks, placement=placement)
    cells = [(cell, v) for v in range(pipeline.num_virtual_stages) for cell in pipeline.cells(v)]
    assert sorted(cell for cell, _ in cells) == [(c, s) for c in range(chunks) for s in range(4)]
    assert all(pipeline.virtual_stage(*cell) == v for cell, v in cells)


def test_placements_number_cells_as_the_frameworks_do():
    assert Pipeline(4, 8, 2).virtual_stage(1, 2) == 6
    assert Pipeline(4, 8, 2, placement=Placement.V).virtual_stage(1, 2) == 5
    assert Pipeline(4, 8, 2, placement=Placement.BIDIRECTIONAL).cells(0) == ((0, 0), (1, 3))


def test_all_problems_are_reported_together():
    with pytest.raises(PipelineError) as caught:
        Pipeline(0, 8, -1, p2p_time=float("nan"), overlap_efficiency=1.5)
    assert [problem.split(":")[0] for problem in caught.value.problems] == [
        "num_stages",
        "num_chunks",
        "p2p_time",
        "overlap_efficiency",
    ]


@pytest.mark.parametrize("value", [1.5, "4", True, None])
def test_sizes_are_whole_numbers(value):
    with pytest.raises(PipelineError, match="num_stages: must be a whole number"):
        Pipeline(value, 8)


def test_v_placement_needs_two_chunks():
    with pytest.raises(PipelineError, match="exactly 2 chunks"):
        Pipeline(4, 8, 3, placement=Placement.V)
