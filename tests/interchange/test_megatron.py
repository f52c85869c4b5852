import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.pipeline import Pipeline, Placement
from sapp_core.domain.plan import Plan, even_split, placed
from sapp_core.domain.profile import LayerKind, LayerProfile, ModelProfile, RecomputeMode
from sapp_core.errors import FormatError
from sapp_core.interchange.megatron import launch_flags, layout_entries, plan_from_layout, plan_to_layout
from tests.strategies import plans, profiles


def model(num_layers: int) -> ModelProfile:
    body = LayerProfile("Body", LayerKind.BODY, num_layers, 1.0, (2.0,) * 5, 1.0, (9.0, 5.0, None, None, 1.0))
    return ModelProfile("m", (body,))


@given(st.data())
def test_layers_per_virtual_stage_survive_the_round_trip(data):
    profile = data.draw(profiles())
    pipeline = Pipeline(data.draw(st.integers(1, 5)), 8, data.draw(st.integers(1, 3)))
    plan = data.draw(plans(profile, pipeline))
    back = plan_from_layout(plan_to_layout(plan, profile, pipeline), profile, pipeline)
    for before, after in zip(plan.layers, back.layers, strict=True):
        cells = [pipeline.cells(v)[0] for v in range(pipeline.num_virtual_stages)]
        assert [before.total(*cell) for cell in cells] == [after.total(*cell) for cell in cells]


@pytest.mark.parametrize(
    ("layout", "entries", "layers"),
    [
        ("Et*2|(t*2|)*34,t*3|(t*2|)*3,tL", 40, 80),
        ("Ettt|(tt|)*29,m|L", 32, 62),
        ("E|t*5|(t*3|)*4,mL", 7, 18),
        ("EL", 1, 0),
        (" E t | t , t L ", 2, 3),
    ],
)
def test_layouts_of_real_recipes_are_read(layout, entries, layers):
    found = layout_entries(layout)
    assert len(found) == entries
    assert sum(letter in "tm" for entry in found for letter in entry) == layers


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        ("", "is empty"),
        ("EtE|tL", "exactly one E, as its first letter, found at character 1, 3"),
        ("tE|tL", "as its first letter, found at character 2"),
        ("t|tL", "exactly one E, as its first letter, found none"),
        ("Et|Lt", "exactly one L, as its last letter, found at character 4"),
        ("Et|t", "exactly one L, as its last letter, found none"),
        ("Et|xL", "character 4: 'x', which is none of"),
        ("E((t|)*2|)*2L", "character 3: a group inside a group"),
        ("E(t|*2L", "character 5: a \\* that follows neither"),
        ("E(t|L", "character 2: an opening bracket that is never closed"),
        ("Et)|L", "character 3: a closing bracket without"),
        ("E*|L", "character 2: a \\* without a number"),
        ("Et*0|L", "without a number of at least 1"),
        ("E(t*9999|)*9999L", "more than 100,000 characters"),
    ],
)
def test_what_is_no_layout_is_refused_with_the_character(layout, words):
    with pytest.raises(FormatError, match=words):
        layout_entries(layout)


@pytest.mark.parametrize(
    ("layout", "pipeline", "layers", "words"),
    [
        ("Et|t|tL", Pipeline(2, 8), 3, "has 3 entries, not a multiple of the 2 stages; it needs 2"),
        ("Et|t|t|tL", Pipeline(2, 8), 4, "has 4 entries, that is 2 a stage, but there are 1 chunks"),
        ("Et|tL", Pipeline(2, 8), 3, "places 2 layers, the profile has 3"),
        ("Et|tL", Pipeline(1, 8, 2, placement=Placement.V), 2, "lays chunks out in loops"),
    ],
)
def test_layouts_for_other_sizes_are_refused_with_both_numbers(layout, pipeline, layers, words):
    with pytest.raises(FormatError, match=words):
        plan_from_layout(layout, model(layers), pipeline)


def test_equal_entries_are_folded():
    pipeline = Pipeline(4, 8, 2)
    assert plan_to_layout(even_split(model(16), pipeline), model(16), pipeline) == "Et*2|(t*2|)*6t*2L"
    assert plan_to_layout(even_split(model(8), pipeline), model(8), pipeline) == "Et|(t|)*6tL"


def recomputed(*modes: RecomputeMode) -> tuple[str, ...]:
    """Flags of a plan with these modes for the layers of two stages, two layers each."""
    pipeline = Pipeline(2, 8)
    entries = [(mode, 0, number // 2, 1) for number, mode in enumerate(modes)]
    return launch_flags(Plan((placed("Body", pipeline, entries),)), model(4), pipeline)[2:]


def test_one_uniform_recompute_setting_is_said_by_flags():
    none, select, full = RecomputeMode.NONE, RecomputeMode.SELECT, RecomputeMode.FULL
    assert recomputed(none, none, none, none) == ()
    assert recomputed(select, select, select, select) == ("--recompute-granularity selective",)
    block = ("--recompute-granularity full", "--recompute-method block")
    assert recomputed(full, none, full, none) == (*block, "--recompute-num-layers 1")
    assert recomputed(full, full, full, full) == (*block, "--recompute-num-layers 2")


def test_a_plan_that_no_flag_expresses_says_so():
    (line,) = recomputed(RecomputeMode.FULL, RecomputeMode.NONE, RecomputeMode.NONE, RecomputeMode.NONE)
    assert line.startswith("# No single recompute setting")


def test_flags_name_stages_chunks_and_layout():
    pipeline = Pipeline(2, 8, 2)
    assert launch_flags(even_split(model(4), pipeline), model(4), pipeline) == (
        "--pipeline-model-parallel-size 2",
        "--pipeline-model-parallel-layout 'Et|(t|)*2tL'",
        "--num-virtual-stages-per-pipeline-rank 2",
    )
