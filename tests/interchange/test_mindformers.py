"""Plans in MindFormers' words and back."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import LayerPlacement, Plan, even_split, placed
from sapp_core.domain.profile import MODES, LayerKind, LayerProfile, ModelProfile, RecomputeMode
from sapp_core.errors import FormatError, PlanError
from sapp_core.interchange.mindformers import plan_from_mindformers, plan_to_mindformers
from tests.strategies import plans, profiles, schedules

NONE, SELECT, COMM, BOTH, FULL = RecomputeMode


def body(name: str, num_layers: int, modes: tuple[RecomputeMode, ...] = MODES) -> LayerProfile:
    return LayerProfile(
        name=name,
        kind=LayerKind.BODY,
        num_layers=num_layers,
        forward_time=1.0,
        backward_time=(2.0,) * len(MODES),
        parameter_mb=1.0,
        activation_mb=tuple(1.0 if mode in modes else None for mode in MODES),
    )


def profile(*layers: LayerProfile) -> ModelProfile:
    return ModelProfile("model", layers)


def mixed_cells(plan: Plan) -> int:
    """Cells (of any kind) that have both select and comm layers."""
    pairs = (
        zip(*rows, strict=True)
        for layer in plan.layers
        for rows in zip(layer.counts[MODES.index(SELECT)], layer.counts[MODES.index(COMM)], strict=True)
    )
    return sum(bool(select and comm) for row in pairs for select, comm in row)


FOURTEEN = profile(body("Layer", 14))
THREE_STAGES = Pipeline(num_stages=3, num_micro_batches=4)
TWO_CHUNKS = Pipeline(num_stages=3, num_micro_batches=4, num_chunks=2)
SETTINGS = """
offset: [[0, 1, 0], [-1, 2, 0]]
recompute: [[1, 0, 0], [0, 1, 0]]
select_recompute: [[2, 3, 0], [0, 1, 2]]
select_comm_recompute: [[2, 1, 1], [1, 4, 0]]
"""


def test_settings_become_modes_by_the_inclusion_of_their_counts():
    plan = plan_from_mindformers(SETTINGS, FOURTEEN, TWO_CHUNKS)
    assert plan.layers[0].counts == (
        ((0, 0, 1), (0, 0, 0)),  # none: the rest of 2, 3, 2 and 1, 4, 2 layers
        ((0, 2, 0), (0, 0, 2)),  # select
        ((0, 0, 1), (1, 3, 0)),  # comm
        ((1, 1, 0), (0, 0, 0)),  # both
        ((1, 0, 0), (0, 1, 0)),  # full
    )


def test_settings_are_written_where_training_files_have_them():
    plan = plan_from_mindformers(SETTINGS, FOURTEEN, TWO_CHUNKS)
    text = plan_to_mindformers(plan, FOURTEEN, TWO_CHUNKS)
    settings = yaml.safe_load(text)
    assert settings == {
        "parallel_config": {"pipeline_stage": 3, "micro_batch_num": 4},
        "model": {
            "model_config": {"num_layers": 14, "pp_interleave_num": 2, "offset": [[0, 1, 0], [-1, 2, 0]]},
        },
        "recompute_config": {
            "recompute": [[1, 0, 0], [0, 1, 0]],
            "select_recompute": [[2, 3, 0], [0, 1, 2]],
            "select_comm_recompute": [[2, 1, 1], [1, 4, 0]],
        },
    }
    assert "14 layers = 6 cells × 2 (even share) + 2: offsets sum to 2." in text


def test_one_chunk_is_a_flat_list():
    pipeline = Pipeline(num_stages=4, num_micro_batches=4)
    settings = yaml.safe_load(plan_to_mindformers(even_split(FOURTEEN, pipeline), FOURTEEN, pipeline))
    assert settings["model"]["model_config"]["offset"] == [1, 1, 0, 0]
    assert settings["recompute_config"]["recompute"] == [0, 0, 0, 0]


def test_several_kinds_get_a_block_each():
    several = profile(body('Vit: "layer" #1', 4), body("Llm", 5))
    plan = even_split(several, THREE_STAGES)
    text = plan_to_mindformers(plan, several, THREE_STAGES)
    blocks = yaml.safe_load(text)["layers"]
    assert list(blocks) == ['Vit: "layer" #1', "Llm"]
    assert blocks["Llm"]["offset"] == [-1, 1, 2]
    assert plan_from_mindformers(text, several, THREE_STAGES) == plan


@given(data=st.data(), profile=profiles(), schedule=schedules())
def test_a_plan_comes_back_as_it_left_or_each_cell_without_words_is_named(data, profile, schedule):
    plan = data.draw(plans(profile, schedule.pipeline))
    if mixed := mixed_cells(plan):
        with pytest.raises(FormatError) as caught:
            plan_to_mindformers(plan, profile, schedule.pipeline)
        assert len(caught.value.problems) == mixed
    else:
        text = plan_to_mindformers(plan, profile, schedule.pipeline)
        assert plan_from_mindformers(text, profile, schedule.pipeline) == plan


def test_select_and_comm_layers_in_one_cell_have_no_words():
    entries = [(SELECT, 0, 0, 2), (COMM, 0, 1, 8), (SELECT, 1, 2, 3), (COMM, 1, 2, 1)]
    plan = Plan((placed("Layer", TWO_CHUNKS, entries),))
    with pytest.raises(FormatError) as caught:
        plan_to_mindformers(plan, FOURTEEN, TWO_CHUNKS)
    (problem,) = caught.value.problems
    assert problem.startswith("Layer, chunk 1, stage 2: ")
    assert problem.endswith("found 3 and 1 layers.")


def test_a_plan_that_does_not_fit_is_not_written():
    nothing = Plan((placed("Layer", THREE_STAGES, ()),))
    with pytest.raises(PlanError):
        plan_to_mindformers(nothing, FOURTEEN, THREE_STAGES)


TWELVE = profile(body("Layer", 12))


@pytest.mark.parametrize(
    ("recompute", "full"),
    [
        ("0", (0, 0, 0)),
        ("false", (0, 0, 0)),
        ("", (0, 0, 0)),
        ("true", (4, 4, 4)),
        ("[1, 2, 3]", (1, 2, 3)),
        ("[[1, 2, 3]]", (1, 2, 3)),
        ("[true, false, 1]", (4, 0, 1)),
        ("[9, 0, 4]", (4, 0, 4)),  # MindFormers stops at the layers of the cell
    ],
)
def test_counts_may_be_short(recompute, full):
    plan = plan_from_mindformers(f"offset: 0\nrecompute: {recompute}", TWELVE, THREE_STAGES)
    assert plan.layers[0].counts[MODES.index(FULL)] == (full,)
    assert plan.layers[0].counts[MODES.index(NONE)] == (tuple(4 - count for count in full),)


@pytest.mark.parametrize(
    ("select", "counts"),
    [
        (r"['feed_forward\.mul', 'attention\.q']", (4, 4, 4)),
        (r"{'feed_forward\.mul': true, 'attention\.q': [4, 9, 4]}", (4, 4, 4)),
        (r"{'feed_forward\.mul': [1, 0, 2], 'attention\.q': [1, 0, 2]}", (1, 0, 2)),
    ],
)
def test_operators_with_the_same_counts_are_the_select_mode(select, counts):
    plan = plan_from_mindformers(f"recompute_config:\n  select_recompute: {select}", TWELVE, THREE_STAGES)
    assert plan.layers[0].counts[MODES.index(SELECT)] == (counts,)


@pytest.mark.parametrize(
    "settings",
    [
        (
            "pipeline_config: {pipeline_num: 3, num_layer: 12, num_of_interleave: 1, offset: [1, -1, 0]}\n"
            "recompute_config: {recompute: [1, 0, 0], select_recompute: false}"
        ),
        (
            "parallel_config: {pipeline_stage: 3}\n"
            "model: {arch: {type: x}, model_config: {num_layers: 12, offset: [1, -1, 0]}}\n"
            "recompute_config: {recompute: [1, 0, 0], mp_comm_recompute: true}"
        ),
        "layers: {Layer: {num_layers: 12, offset: [1, -1, 0], recompute: [1, 0, 0]}}",
    ],
)
def test_keys_are_found_where_files_have_them(settings):
    counts = plan_from_mindformers(settings.encode(), TWELVE, THREE_STAGES).layers[0].counts
    assert counts[MODES.index(FULL)] == ((1, 0, 0),)
    assert counts[MODES.index(NONE)] == ((4, 3, 4),)


@pytest.mark.parametrize(
    ("settings", "pipeline", "sentences"),
    [
        ("offset: [1, -1]", THREE_STAGES, ["offset: needs 3 stages, found 2."]),
        (
            "offset: [[1, -1, 0], [0, 0]]",
            TWO_CHUNKS,
            ["offset[1]: needs 3 stages, found 2."],
        ),
        (
            "offset: [1, -1, 0]",
            TWO_CHUNKS,
            [
                "offset: must be 2 lists, one a chunk, each a list of 3 whole numbers, one a stage, found one flat list of 3."
            ],
        ),
        (
            "offset: [[1, -1, 0], [0, 0, 0], [0, 0, 0]]",
            TWO_CHUNKS,
            ["offset: must be 2 lists, one a chunk, each a list of 3 whole numbers, one a stage, found 3 lists."],
        ),
        ("offset: [1, -1, 1]", THREE_STAGES, ["the offsets sum to 1, but must sum to 0: 12 layers = 3 cells × 4"]),
        (
            "offset: [-5, 5, 0]",
            THREE_STAGES,
            ["offset: chunk 0, stage 0: the even share is 4 layers, so that the smallest"],
        ),
        (
            "offset: [a, 0, 0.5]",
            THREE_STAGES,
            ["offset[0]: must be a whole number", "offset[2]: must be a whole number"],
        ),
        ("recompute: 3", THREE_STAGES, ["recompute: must be 0, false, true or a list, found 3."]),
        ("recompute: often", THREE_STAGES, ["recompute: must be 0, false, true or a list, found"]),
        ("recompute: [0, -1, 0]", THREE_STAGES, ["recompute[1]: a count cannot be negative, found -1."]),
        ("offset: 1", THREE_STAGES, ["offset: must be a list of 3 whole numbers, one a stage, found 1."]),
        (
            "recompute: [[0], 1]",
            TWO_CHUNKS,
            ["recompute[0]: needs 3 stages, found 1.", "recompute[1]: must be a list of 3"],
        ),
        (
            "recompute_config: {recompute: [1], select_recompute: [1]}",
            THREE_STAGES,
            ["recompute_config.recompute: needs 3 stages", "recompute_config.select_recompute: needs 3 stages"],
        ),
        (
            "offset: 0\nmodel: {model_config: {offset: 0}}",
            THREE_STAGES,
            ["offset and model.model_config.offset: the same"],
        ),
        (
            "parallel_config: {pipeline_stage: 8}\noffset: 0",
            THREE_STAGES,
            ["parallel_config.pipeline_stage: must be 3"],
        ),
        ("num_layers: 13\noffset: 0", THREE_STAGES, ["num_layers: must be 12, the number of layers of Layer"]),
        ("pp_interleave_num: 2\noffset: 0", THREE_STAGES, ["pp_interleave_num: must be 1, the number of chunks"]),
        (
            "select_recompute: {a: [1, 0, 0], b: true}",
            THREE_STAGES,
            ["select_recompute: needs the same counts for all"],
        ),
        ("select_recompute: {}", THREE_STAGES, ["select_recompute: needs the same counts for all"]),
        ("learning_rate: 3", THREE_STAGES, ["offset: missing, and so are recompute, select_recompute"]),
        ("[1, 2]", THREE_STAGES, ["MindFormers settings: must be a mapping"]),
        ("offset: [", THREE_STAGES, ["is not valid YAML"]),
        (
            "layers: {Other: {offset: 0}}",
            THREE_STAGES,
            ['layers: must have a block of settings for each of Layer, found "Other".'],
        ),
        ("layers: {Layer: 3}", THREE_STAGES, ["layers.Layer: must be a mapping of settings, found 3."]),
        ("layers: {Layer: {offset: [1]}}", THREE_STAGES, ["layers.Layer.offset: needs 3 stages, found 1."]),
    ],
)
def test_wrong_settings_are_refused_with_the_place_and_the_rule(settings, pipeline, sentences):
    with pytest.raises(FormatError) as caught:
        plan_from_mindformers(settings, TWELVE, pipeline)
    assert len(caught.value.problems) == len(sentences)
    for problem, sentence in zip(caught.value.problems, sentences, strict=True):
        assert sentence in problem


def test_several_kinds_need_blocks_and_report_the_problems_of_all():
    several = profile(body("A", 3), body("B", 3))
    with pytest.raises(FormatError, match="layers: missing; the layer kinds A, B need a block"):
        plan_from_mindformers("offset: 0", several, THREE_STAGES)
    with pytest.raises(FormatError) as caught:
        plan_from_mindformers("layers: {A: {offset: [1]}, B: {recompute: 7}}", several, THREE_STAGES)
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["layers.A.offset", "layers.B.recompute"]


def test_a_mode_that_the_profile_does_not_offer_is_refused():
    little = profile(body("Layer", 12, (NONE, FULL)))
    with pytest.raises(PlanError, match="mode select is not offered by the profile; it offers none, full"):
        plan_from_mindformers("select_recompute: true", little, THREE_STAGES)


def test_kinds_out_of_order_are_refused():
    several = profile(body("A", 3), body("B", 3))
    with pytest.raises(PlanError, match="all A layers come before B layers"):
        plan_from_mindformers("layers: {A: {offset: [-1, 0, 1]}, B: {offset: [2, -1, -1]}}", several, THREE_STAGES)


def test_the_recorded_example_of_the_balancer_is_read():
    """Offsets and counts of a published init file: 96 layers on 16 stages, select and comm recomputation."""
    pipeline = Pipeline(num_stages=16, num_micro_batches=16)
    settings = """
    pipeline_config: {pipeline_num: 16, num_layer: 96, offset: [-1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1]}
    recompute_config:
      recompute: false
      select_recompute: [1, 0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 1, 2, 0, 0, 1]
      select_comm_recompute: [1, 0, 0, 0, 0, 0, 0, 1, 1, 2, 1, 1, 2, 0, 0, 1]
    """
    placement: LayerPlacement = plan_from_mindformers(settings, profile(body("L", 96)), pipeline).layers[0]
    assert [placement.total(0, s) for s in range(16)] == [5, 7] * 8
    assert placement.counts[MODES.index(SELECT)][0] == (0, 0, 0, 0, 1, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    assert placement.counts[MODES.index(COMM)][0] == (0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 0, 0, 0, 0, 0, 0)
    assert placement.counts[MODES.index(BOTH)][0] == (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 0, 0, 1)
