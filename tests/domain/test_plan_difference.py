from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Plan, placed
from sapp_core.domain.plan_difference import cell_changes, stage_changes
from sapp_core.domain.profile import RecomputeMode
from tests.strategies import plans, profiles, schedules

NONE, FULL = RecomputeMode.NONE, RecomputeMode.FULL


@given(data=st.data(), profile=profiles(), schedule=schedules())
def test_changes_say_all_that_differs_and_nothing_else(data, profile, schedule):
    pipeline = schedule.pipeline
    before, after = (data.draw(plans(profile, pipeline)) for _ in range(2))
    assert cell_changes(before, before, pipeline) == stage_changes(after, after, pipeline) == ()
    changes = cell_changes(before, after, pipeline)
    assert (before == after) == (not changes)
    for layer in profile.body:
        assert sum(change.moved for change in changes if change.layer == layer.name) == 0
    # With the changed numbers put in place, the first plan is the second.
    changed = {(change.layer, pipeline.virtual_stage(change.chunk, change.stage)): change.after for change in changes}
    for old, new in zip(before.layers, after.layers, strict=True):
        for v in range(pipeline.num_virtual_stages):
            for chunk, stage in pipeline.cells(v):
                numbers = tuple(cells[chunk][stage] for cells in old.counts)
                assert changed.get((old.name, v), numbers) == tuple(cells[chunk][stage] for cells in new.counts)


@given(data=st.data(), profile=profiles(), schedule=schedules())
def test_swapped_plans_have_the_same_changes_backwards(data, profile, schedule):
    before, after = (data.draw(plans(profile, schedule.pipeline)) for _ in range(2))
    there = stage_changes(before, after, schedule.pipeline)
    back = stage_changes(after, before, schedule.pipeline)
    assert [(c.stage, c.layer, c.before, c.after) for c in there] == [
        (c.stage, c.layer, c.after, c.before) for c in back
    ]


def test_layers_that_only_change_chunks_stay_on_their_stage():
    pipeline = Pipeline(2, 4, 2)
    before = Plan((placed("A", pipeline, [(NONE, 0, 0, 2), (NONE, 0, 1, 1), (NONE, 1, 0, 1), (NONE, 1, 1, 2)]),))
    after = Plan((placed("A", pipeline, [(NONE, 0, 0, 1), (NONE, 0, 1, 1), (NONE, 1, 0, 2), (FULL, 1, 1, 2)]),))
    assert [(c.stage, c.moved, c.modes) for c in stage_changes(before, after, pipeline)] == [
        (1, 0, ((NONE, 3, 1), (FULL, 0, 2)))
    ]
    assert [(c.chunk, c.stage, c.moved) for c in cell_changes(before, after, pipeline)] == [
        (0, 0, -1),
        (1, 0, 1),
        (1, 1, 0),
    ]
