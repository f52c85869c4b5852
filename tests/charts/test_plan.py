import pytest
from hypothesis import given

from sapp_core.charts.plan import plan_figure, plan_table
from sapp_core.charts.theme import LIGHT
from sapp_core.study import evaluate
from tests.charts import scenes
from tests.strategies import studies


@given(studies())
def test_all_layers_are_drawn_and_listed(study):
    profile, schedule, plan = study
    evaluation = evaluate(profile, schedule, plan)
    copies = len(schedule.pipeline.cells(0))
    drawn = sum(sum(trace.y) for trace in plan_figure(evaluation, LIGHT).data)
    assert drawn == copies * sum(layer.num_layers for layer in profile.layers)
    table = plan_table(evaluation)
    assert table["Sum"][-1] == copies * profile.num_body_layers == sum(table["Sum"][:-1])
    for stage in range(schedule.pipeline.num_stages):
        column = table[f"Stage {stage}"]
        assert column[-1] == sum(column[:-1])
    assert len({len(column) for column in table.values()}) == 1


def test_the_table_has_a_row_for_each_kind_and_mode_in_use():
    table = plan_table(scenes.evaluation("vpp", stages=2, chunks=2, kinds=2, mode="full"))
    rows = list(zip(table["Chunk"], table["Layer kind"], table["Recompute"], strict=True))
    assert rows == [("0", "model-body0", "full"), ("1", "model-body1", "full"), ("all", "all", "all")]


@pytest.mark.parametrize("mode", ["none", "full"])
def test_the_mode_is_named(mode):
    names = [trace.name for trace in plan_figure(scenes.evaluation(mode=mode), LIGHT).data]
    assert names == ["embedding (head)", f"{'no' if mode == 'none' else 'full'} recomputation", "loss (tail)"]


def test_kinds_differ_by_hatching_and_names_are_no_markup():
    figure = plan_figure(scenes.evaluation(kinds=2, name="<b>"), LIGHT)
    body = [trace for trace in figure.data if "recomputation" in trace.name]
    assert [trace.name for trace in body] == [f"&lt;b&gt;-body{k}, no recomputation" for k in (0, 1)]
    assert body[0].marker.pattern.shape != body[1].marker.pattern.shape


def test_chunks_of_a_stage_stand_side_by_side():
    figure = plan_figure(scenes.evaluation("vpp", stages=2, chunks=2), LIGHT)
    (body,) = [trace for trace in figure.data if "recomputation" in trace.name]
    assert sorted(round(x) for x in body.x) == [0, 0, 1, 1]
    assert len(set(body.x)) == 4
