"""Plans out of any text, and launch commands of Megatron."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Plan, even_split, placed
from sapp_core.domain.profile import MODES, LayerKind, LayerProfile, ModelProfile, RecomputeMode
from sapp_core.errors import FormatError, PlanError
from sapp_core.interchange.megatron import launch_flags, plan_to_layout
from sapp_core.interchange.megatron_flags import plan_from_flags
from sapp_core.interchange.mindformers import plan_to_mindformers
from sapp_core.interchange.plan_file import plan_to_json
from sapp_core.interchange.plan_text import plan_from_text
from tests.strategies import plans, profiles

PIPELINE = Pipeline(2, 4)
NONE, SELECT, FULL = RecomputeMode.NONE, RecomputeMode.SELECT, RecomputeMode.FULL


def body(name: str, num_layers: int) -> LayerProfile:
    return LayerProfile(name, LayerKind.BODY, num_layers, 1.0, (2.0,) * len(MODES), 1.0, (1.0,) * len(MODES))


PROFILE = ModelProfile("model", (body("Layer", 4),))
PLAN = even_split(PROFILE, PIPELINE)


def read(text: str, profile: ModelProfile = PROFILE, pipeline: Pipeline = PIPELINE):
    return plan_from_text(text.encode(), "my_plan", profile, pipeline)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Et*2|t*2L", "Megatron layout"),
        ("  'Ett|ttL'\n", "Megatron layout"),
        ('"Ett|ttL"', "Megatron layout"),
        ("E(t*2|)t,tL", "Megatron layout"),
        ("--pipeline-model-parallel-layout Ett|ttL", "Megatron flags"),
        ("torchrun train.py --lr 1e-4 \\\n  --pipeline-model-parallel-layout='Ett|ttL' \\\n --bf16", "Megatron flags"),
        (plan_to_mindformers(PLAN, PROFILE, PIPELINE), "MindFormers settings"),
        ("offset: [0, 0]", "MindFormers settings"),
        (plan_to_json(PLAN), "plan file"),
        ('{"plan": {"Layer": {"none": [[2, 2]]}}}', "plan file"),
        ("\ufeffEtt|ttL", "Megatron layout"),
    ],
)
def test_the_kind_is_seen_from_the_content(text, kind):
    found = read(text)
    assert (found.plan, found.kind) == (PLAN, kind)
    assert bool(found.remarks) == kind.startswith("Megatron")


def test_what_a_layout_leaves_open_is_said():
    assert read("Ett|ttL").remarks == ("A layout does not say what is recomputed; every layer has the mode none.",)
    assert read("--recompute-granularity selective --pipeline-model-parallel-layout Ett|ttL").remarks == ()


BLOCK = (
    "--pipeline-model-parallel-layout Ett|ttL --recompute-granularity full --recompute-method block "
    "--recompute-num-layers"
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ett|xtL", "character 5: 'x', which is none of"),
        ("EttxtL", "character 4: 'x', which is none of"),
        ("tt|ttL", "exactly one E, as its first letter, found none"),
        ("Ett|ELtt", "exactly one E, as its first letter, found at character 1, 5"),
        ("Ett|Ltt", "exactly one L, as its last letter, found at character 5"),
        ("Et|t|ttL", "has 3 entries, not a multiple of the 2 stages"),
        ("E((t|)*2)*2L", "character 3: a group inside a group"),
        ("hello", "my_plan: is no plan; it must be"),
        ("", "my_plan: is empty"),
        ("offset: [0, 0, 0]", "needs 2 stages, found 3"),
        ("offset: [1, 0]", "the offsets sum to 1, but must sum to 0"),
        ('{"Layer": {"none": [[2, "x"]]}}', r"plan.Layer.none\[0\]\[1\]: must be a whole number"),
        ('{"Layer": ', "line 1, column 11 is not valid JSON"),
        ("--pipeline-model-parallel-size 2", "--pipeline-model-parallel-layout: missing"),
        ("--pipeline-model-parallel-layout 'Ett|ttL", "no closing quotation"),
        ("--pipeline-model-parallel-layout --bf16", "--pipeline-model-parallel-layout: needs a value"),
        ("--pipeline-model-parallel-layout Ett|txL", "character 6: 'x'"),
        ("--pipeline-model-parallel-layout Ett|ttL --pipeline-model-parallel-size 4", "must be 2, the number of stages"),
        (
            "--pipeline-model-parallel-layout Ett|ttL --num-virtual-stages-per-pipeline-rank 2",
            "must be 1, the number of chunks",
        ),
        ("--pipeline-model-parallel-layout a --pipeline-model-parallel-layout b", "is given twice"),
        ("--pipeline-model-parallel-layout Ett|ttL --recompute-granularity all", "must be one of full, selective"),
        ("--pipeline-model-parallel-layout Ett|ttL --recompute-granularity full", "--recompute-method: missing"),
        (
            "--pipeline-model-parallel-layout Ett|ttL --recompute-granularity full --recompute-method block",
            "--recompute-num-layers: missing",
        ),
        (
            f"{BLOCK} 0",
            'must be a whole number from 1 to 999999, found "0"',
        ),
    ],
)  # fmt: skip
def test_what_is_no_plan_is_refused_with_the_place(text, words):
    with pytest.raises(FormatError, match=words):
        read(text)


def test_text_that_is_not_utf_8_is_refused():
    with pytest.raises(FormatError, match="my_plan: must be text in UTF-8, found the byte 0xff"):
        plan_from_text(b"\xff\xfe:", "my_plan", PROFILE, PIPELINE)
    with pytest.raises(FormatError, match="my_plan: must be text in UTF-8, found the byte 0xff"):
        plan_from_text(b"Ett|tt\xffL", "my_plan", PROFILE, PIPELINE)


@pytest.mark.parametrize(
    ("layout", "pipeline", "layers"),
    [
        ("Et*2|(t*2|)*34,t*3|(t*2|)*3,tL", Pipeline(8, 16, 5), 80),
        ("Ettt|(tt|)*29,m|L", Pipeline(16, 32, 2), 62),
        ("E|t*5|(t*3|)*4,mL", Pipeline(7, 14), 18),
    ],
)
def test_layouts_of_real_recipes_become_plans(layout, pipeline, layers):
    profile = ModelProfile("model", (body("Layer", layers),))
    plan = read(layout, profile, pipeline).plan
    plan.check(profile, pipeline)
    assert read(plan_to_layout(plan, profile, pipeline), profile, pipeline).plan == plan


@given(st.data())
def test_a_launch_command_brings_back_the_plan_it_can_say(data):
    profile = data.draw(profiles())
    pipeline = Pipeline(data.draw(st.integers(1, 4)), 8, data.draw(st.integers(1, 3)))
    plan = data.draw(plans(profile, pipeline))
    flags = launch_flags(plan, profile, pipeline)
    back = read("\n".join(flags), profile, pipeline).plan
    assert launch_flags(back, profile, pipeline)[:2] == flags[:2]
    if not flags[-1].startswith("#"):
        assert launch_flags(back, profile, pipeline) == flags
        if len(profile.body) == 1:
            assert back == plan


def test_flags_recompute_the_first_layers_of_each_virtual_stage():
    layout = "--pipeline-model-parallel-layout Ettt|tL --recompute-granularity full"
    block = plan_from_flags(f"{layout} --recompute-method block --recompute-num-layers 2", PROFILE, PIPELINE)
    assert block == Plan((placed("Layer", PIPELINE, [(FULL, 0, 0, 2), (NONE, 0, 0, 1), (FULL, 0, 1, 1)]),))
    uniform = plan_from_flags(f"{layout} --recompute-method uniform --recompute-num-layers 1", PROFILE, PIPELINE)
    assert uniform == Plan((placed("Layer", PIPELINE, [(FULL, 0, 0, 3), (FULL, 0, 1, 1)]),))


def test_a_mode_that_the_profile_does_not_offer_is_refused():
    only = LayerProfile("Layer", LayerKind.BODY, 4, 1.0, (2.0,) * 5, 1.0, (1.0, None, None, None, None))
    with pytest.raises(PlanError, match="mode select is not offered by the profile; it offers none"):
        read("--recompute-granularity selective --pipeline-model-parallel-layout Ett|ttL", ModelProfile("m", (only,)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("|" * 500_000 + "\nx", "may have up to 100,000 characters, found 500,002"),
        ("--x " + "a" * 2_000_000, "may have up to 100,000 characters"),
        ("Et*" + "9" * 5_000, "character 3: more than 100,000 characters written out"),
        ("E" + "t*99999" * 10_000, "character 10: more than 100,000 characters written out"),
        ("E" * 90_000, "found at character 1, 2, 3, 4, 5 and 89,995 more"),
        ("--pipeline-model-parallel-layout EtL --recompute-num-layers " + "9" * 5_000, "whole number from 1 to 999999"),
    ],
)
def test_texts_made_to_take_for_ever_are_refused_at_once(text, words):
    with pytest.raises(FormatError) as error:
        plan_from_text(text.encode(), "plan.txt", PROFILE, PIPELINE)
    assert words in str(error.value)
