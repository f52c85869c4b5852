from hypothesis import given

from sapp_core.domain.costs import chunk_costs
from sapp_core.domain.pipeline import Pipeline, Placement
from sapp_core.domain.plan import Plan, even_split, placed
from sapp_core.domain.profile import LayerKind, LayerProfile, ModelProfile, RecomputeMode
from tests.strategies import studies

HEAD = LayerProfile("Head", LayerKind.HEAD, 1, 3.0, (7.0,) * 5, 100.0, (11.0, None, None, None, None))
TAIL = LayerProfile("Tail", LayerKind.TAIL, 1, 5.0, (9.0,) * 5, 200.0, (None,) * 5)
BODY = LayerProfile("Body", LayerKind.BODY, 4, 1.0, (2.0, 2.0, 2.0, 2.0, 3.0), 10.0, (40.0, None, None, None, 1.0))
PROFILE = ModelProfile("m", (HEAD, BODY, TAIL), constant_mb=13.0)


@given(studies())
def test_nothing_is_lost_between_profile_and_cells(study):
    profile, schedule, plan = study
    costs = chunk_costs(profile, plan, schedule.pipeline)
    copies = 2 if schedule.pipeline.placement is Placement.BIDIRECTIONAL else 1

    def all_layers(value):
        return copies * sum(layer.num_layers * value(layer) for layer in profile.layers)

    assert sum(map(sum, costs.forward)) == all_layers(lambda layer: layer.forward_time)
    assert sum(map(sum, costs.backward)) == all_layers(lambda layer: layer.backward_time[0])
    assert sum(costs.parameter_mb) == all_layers(lambda layer: layer.parameter_mb)


def test_v_placement_puts_head_and_tail_on_stage_0_with_time_and_memory():
    # The reference puts the tail's memory there, but its time on the last stage.
    pipeline = Pipeline(2, 4, 2, placement=Placement.V)
    costs = chunk_costs(PROFILE, even_split(PROFILE, pipeline), pipeline)
    assert costs.forward == ((4.0, 1.0), (6.0, 1.0))
    assert costs.backward == ((9.0, 2.0), (11.0, 2.0))
    assert costs.parameter_mb == (320.0, 20.0)
    assert costs.activation_mb == ((51.0, 40.0), (40.0, 40.0))
    assert costs.constant_mb == 13.0


def test_a_bidirectional_pipeline_holds_the_model_twice():
    pipeline = Pipeline(2, 4, 2, placement=Placement.BIDIRECTIONAL)
    costs = chunk_costs(PROFILE, even_split(PROFILE, pipeline), pipeline)
    assert costs.forward == ((5.0, 7.0), (7.0, 5.0))
    assert costs.parameter_mb == (340.0, 340.0)


def test_recomputation_is_kept_apart_from_the_backward():
    pipeline = Pipeline(1, 1)
    plan = Plan((placed("Body", pipeline, [(RecomputeMode.NONE, 0, 0, 1), (RecomputeMode.FULL, 0, 0, 3)]),))
    costs = chunk_costs(PROFILE, plan, pipeline)
    assert (costs.backward, costs.recompute) == (((24.0,),), ((3.0,),))
    assert costs.activation_mb == ((54.0,),)


def test_several_kinds_add_up_in_a_cell():
    # The reference kept only the last kind's time.
    other = LayerProfile("Other", LayerKind.BODY, 2, 10.0, (20.0,) * 5, 1.0, (1.0, None, None, None, 1.0))
    profile = ModelProfile("m", (BODY, other))
    costs = chunk_costs(profile, even_split(profile, Pipeline(1, 1)), Pipeline(1, 1))
    assert costs.forward == ((24.0,),)
