import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.pipeline import Pipeline, Placement
from sapp_core.domain.plan import even_split
from sapp_core.domain.plan_rows import plan_counts, plan_from_counts, row_places
from sapp_core.domain.profile import ModelProfile
from sapp_core.errors import PlanError
from tests.domain.test_plan import body
from tests.strategies import plans, profiles, schedules


@given(data=st.data(), profile=profiles(), schedule=schedules())
def test_a_plan_comes_back_from_its_rows(data, profile, schedule):
    plan = data.draw(plans(profile, schedule.pipeline))
    counts = plan_counts(plan, profile, schedule.pipeline)
    assert len(counts) == len(row_places(profile, schedule.pipeline))
    assert plan_from_counts(counts, profile, schedule.pipeline) == plan


def test_rows_stand_in_model_order():
    profile = ModelProfile("m", (body("A", 3), body("B", 5)))
    places = row_places(profile, Pipeline(2, 4, 2, placement=Placement.V))
    assert [(place.virtual_stage, place.cells, place.layer) for place in places] == [
        (v, (cell,), name)
        for v, cell in enumerate([(0, 0), (0, 1), (1, 1), (1, 0)])
        for name in ("A", "B")
    ]  # fmt: skip


def test_both_copies_of_a_virtual_stage_take_the_number_of_their_row():
    profile, pipeline = ModelProfile("m", (body("A", 4),)), Pipeline(2, 4, 2, placement=Placement.BIDIRECTIONAL)
    plan = plan_from_counts(((3, 0), (0, 1)), profile, pipeline)
    assert plan.layers[0].counts[0] == ((3, 0), (0, 3))
    assert plan.layers[0].counts[4] == ((0, 1), (1, 0))


def test_numbers_that_do_not_add_up_name_the_kind_and_by_how_many():
    profile, pipeline = ModelProfile("m", (body("A", 3), body("B", 5))), Pipeline(2, 4)
    counts = [list(row) for row in plan_counts(even_split(profile, pipeline), profile, pipeline)]
    counts[-1][0] += 2
    with pytest.raises(PlanError) as caught:
        plan_from_counts(tuple(map(tuple, counts)), profile, pipeline)
    assert caught.value.problems == ("plan of B: places 7 layers, the profile has 5: 2 too many.",)
