from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.pipeline import Pipeline, Placement
from sapp_core.domain.plan import LayerPlacement, Plan, even_split, placed
from sapp_core.domain.profile import MODES, LayerKind, LayerProfile, ModelProfile, RecomputeMode
from sapp_core.errors import PlanError
from tests.strategies import plans, profiles

PIPELINES = st.one_of(
    st.builds(Pipeline, st.integers(1, 5), st.integers(1, 8), st.integers(1, 3)),
    st.builds(
        Pipeline, st.integers(1, 5), st.integers(1, 8), st.just(2),
        placement=st.sampled_from([Placement.V, Placement.BIDIRECTIONAL]),
    ),
)  # fmt: skip


def body(name: str, num_layers: int) -> LayerProfile:
    return LayerProfile(name, LayerKind.BODY, num_layers, 1.0, (2.0,) * 5, 10.0, (5.0, None, None, None, 1.0))


def end(kind: LayerKind) -> LayerProfile:
    return LayerProfile(kind.value, kind, 1, 1.0, (2.0,) * 5, 10.0, (None,) * 5)


def per_virtual_stage(plan: Plan, pipeline: Pipeline) -> list[int]:
    return [
        sum(layer.total(*pipeline.cells(v)[0]) for layer in plan.layers) for v in range(pipeline.num_virtual_stages)
    ]


@given(profiles(), PIPELINES)
def test_even_split_is_legal_and_even(profile, pipeline):
    plan = even_split(profile, pipeline)
    plan.check(profile, pipeline)
    layers = per_virtual_stage(plan, pipeline)
    assert max(layers) - min(layers) <= 1


@pytest.mark.parametrize(
    ("head", "tail", "expected"),
    [
        (True, True, [2, 3, 3, 2]),
        (False, True, [3, 3, 2, 2]),
        (True, False, [2, 3, 3, 2]),
        (False, False, [3, 3, 2, 2]),
    ],
)
def test_left_over_layers_avoid_head_and_tail(head, tail, expected):
    layers = (body("Body", 10), *[end(LayerKind.HEAD)] * head, *[end(LayerKind.TAIL)] * tail)
    pipeline = Pipeline(4, 8)
    assert per_virtual_stage(even_split(ModelProfile("m", layers), pipeline), pipeline) == expected


def test_left_over_layers_fill_the_ends_when_nothing_else_is_left():
    profile = ModelProfile("m", (end(LayerKind.HEAD), body("Body", 11), end(LayerKind.TAIL)))
    pipeline = Pipeline(4, 8)
    assert per_virtual_stage(even_split(profile, pipeline), pipeline) == [3, 3, 3, 2]


def test_several_kinds_are_cut_as_one_run():
    profile = ModelProfile("m", (body("A", 3), body("B", 5)))
    pipeline = Pipeline(4, 8)
    first, second = even_split(profile, pipeline, RecomputeMode.FULL).layers
    assert first.counts[4][0] == (2, 1, 0, 0)
    assert second.counts[4][0] == (0, 1, 2, 2)


@given(st.data())
def test_a_legal_plan_with_one_layer_moved_away_or_added_is_refused(data):
    profile, pipeline = data.draw(profiles()), data.draw(PIPELINES)
    plan = data.draw(plans(profile, pipeline))
    plan.check(profile, pipeline)
    kind = data.draw(st.integers(0, len(plan.layers) - 1))
    cell = pipeline.cells(data.draw(st.integers(0, pipeline.num_virtual_stages - 1)))
    mode = profile.modes[0]
    extra = placed(plan.layers[kind].name, pipeline, [(mode, *c, 1) for c in cell])
    counts = tuple(
        tuple(tuple(a + b for a, b in zip(*rows, strict=True)) for rows in zip(*cells, strict=True))
        for cells in zip(plan.layers[kind].counts, extra.counts, strict=True)
    )
    layers = list(plan.layers)
    layers[kind] = LayerPlacement(plan.layers[kind].name, counts)
    with pytest.raises(PlanError, match=f"plan of {plan.layers[kind].name}: places .* 1 too many"):
        Plan(tuple(layers)).check(profile, pipeline)


def test_problems_name_kind_cell_and_number():
    profile = ModelProfile("m", (body("A", 3), body("B", 5)))
    pipeline = Pipeline(2, 4)
    good = even_split(profile, pipeline)

    def refused(*layers: LayerPlacement) -> str:
        with pytest.raises(PlanError) as caught:
            Plan(layers).check(profile, pipeline)
        return str(caught.value)

    a, b = good.layers
    assert "needs the layer kinds A, B" in refused(a)
    assert "in this order, found B, A" in refused(b, a)
    # The reference cuts columns beyond the stages silently; layers vanish.
    wide = replace(a, counts=tuple(((*row, 0),) for (row,) in a.counts))
    assert "chunk 0: needs 2 stages, found 3" in refused(wide, b)
    assert "needs 1 chunks, found 2" in refused(replace(a, counts=tuple(cells * 2 for cells in a.counts)), b)
    assert "5 recompute modes, found 4" in refused(replace(a, counts=a.counts[:4]), b)
    assert "a count cannot be negative, found -1" in refused(placed("A", pipeline, [(MODES[0], 0, 0, -1)]), b)
    assert "mode comm is not offered by the profile; it offers none, full" in refused(
        placed("A", pipeline, [(RecomputeMode.COMM, 0, 0, 3)]), b
    )
    assert "2 missing" in refused(placed("A", pipeline, [(MODES[0], 0, 0, 1)]), b)
    late = placed("A", pipeline, [(MODES[0], 0, 1, 3)])
    early = placed("B", pipeline, [(MODES[0], 0, 0, 5)])
    assert "all A layers come before B layers" in refused(late, early)


def test_copies_of_a_bidirectional_plan_must_agree():
    profile, pipeline = ModelProfile("m", (body("A", 4),)), Pipeline(2, 4, 2, placement=Placement.BIDIRECTIONAL)
    uneven = placed("A", pipeline, [(MODES[0], 0, 0, 2), (MODES[0], 0, 1, 2), (MODES[0], 1, 1, 3), (MODES[0], 1, 0, 1)])
    with pytest.raises(PlanError, match="both copies of virtual stage 0 must be equal"):
        Plan((uneven,)).check(profile, pipeline)


def test_as_dict_has_every_mode():
    pipeline = Pipeline(2, 4)
    profile = ModelProfile("m", (body("A", 3),))
    assert even_split(profile, pipeline).as_dict() == {
        "A": {"none": [[2, 1]], "select": [[0, 0]], "comm": [[0, 0]], "both": [[0, 0]], "full": [[0, 0]]}
    }
