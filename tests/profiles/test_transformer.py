"""Estimates from hyper-parameters, against what others published."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.balancer.balance import BalanceRequest, balance
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.profile import MODES, LayerKind, RecomputeMode
from sapp_core.domain.result import Status
from sapp_core.errors import ProfileError
from sapp_core.profiles.activations import kept_by_layer
from sapp_core.profiles.catalog import known_devices, known_models
from sapp_core.profiles.config import load_config
from sapp_core.profiles.model_shape import Block, Experts, GroupedAttention, Mlp, ModelShape, common_divisors
from sapp_core.profiles.parameters import parameter_count, used_parameter_count
from sapp_core.profiles.terms import total
from sapp_core.profiles.training_setup import MAX_SIZE, Device, NumberFormat, TrainingSetup
from sapp_core.profiles.transformer import EXPERTS_NOTE, FLASH_NOTE, MEBI, estimate
from sapp_core.schedules.registry import make_schedule
from tests.profiles.configs import CONFIGS

DEVICE = Device("test device", 1000, 50, 80, "made up")
SETUP = TrainingSetup(DEVICE)
MODELS = {model.title: model.shape for model in known_models()}

CARDS = {
    # Billions of parameters: all (without MTP modules), and met by a token; None = the card does not say.
    "Llama-3 8B": (8.03, None),  # huggingface.co/meta-llama/Meta-Llama-3-8B, "Model size 8.03B params"
    "Llama-3 70B": (70.6, None),  # huggingface.co/meta-llama/Meta-Llama-3-70B, "70.6B params"
    "Llama-3.1 405B": (405, None),  # arXiv:2407.21783, section 3.2: "405B parameters"
    "Qwen3-32B": (32.8, None),  # huggingface.co/Qwen/Qwen3-32B: "Number of Parameters: 32.8B"
    "Mixtral 8×7B": (46.7, 12.9),  # mistral.ai/news/mixtral-of-experts: "46.7B total, 12.9B per token"
    # huggingface.co/deepseek-ai/DeepSeek-V3/blob/main/README_WEIGHTS.md: 671B; 36.6B with the head, 0.9B embedding
    "DeepSeek-V3": (671, 36.6 + 0.9),
}

PAPER = {
    # Korthikanti et al. 2022 (arXiv:2205.05198), table 3: heads, hidden size, layers; sequence 2048, vocabulary 51200.
    "22B": (64, 6144, 48, 22),
    "175B (GPT-3)": (96, 12288, 96, 175),
    "530B (MT-NLG)": (128, 20480, 105, 530),
    "1T": (160, 25600, 128, 1000),
}


def gpt(heads: int, hidden: int, layers: int) -> ModelShape:
    """A GPT as in the paper: equal heads, a plain MLP four times as wide, LayerNorm, biases, dropout."""
    attention = GroupedAttention(heads, heads, hidden // heads, qkv_bias=True, output_bias=True)
    block = Block("Layer", layers, Mlp(4 * hidden, gated=False, bias=True))
    return ModelShape(
        "gpt",
        hidden,
        51200,
        attention,
        (block,),
        tied_embeddings=True,
        norm_bias=True,
        dropout=True,
        num_positions=2048,
    )


@pytest.mark.parametrize("title", MODELS)
def test_ready_made_models_have_the_parameters_of_their_cards(title):
    everything, used = CARDS[title]
    assert parameter_count(MODELS[title]) == pytest.approx(everything * 1e9, rel=0.01)
    if used:
        assert used_parameter_count(MODELS[title]) == pytest.approx(used * 1e9, rel=0.01)


def test_every_card_is_a_ready_made_model():
    assert set(CARDS) == set(MODELS)
    assert all(model.source for model in known_models())


def test_the_mtp_module_has_the_parameters_of_its_card():
    """README_WEIGHTS.md of DeepSeek-V3: 11.5B unique parameters."""
    shape = MODELS["DeepSeek-V3"]
    assert parameter_count(shape, with_mtp=True) - parameter_count(shape) == pytest.approx(11.5e9, rel=0.01)


@pytest.mark.parametrize("name", PAPER)
def test_the_models_of_the_paper_have_their_size(name):
    heads, hidden, layers, billions = PAPER[name]
    assert parameter_count(gpt(heads, hidden, layers)) == pytest.approx(billions * 1e9, rel=0.02)


@pytest.mark.parametrize("name", PAPER)
@pytest.mark.parametrize("batch", [1, 4])
def test_activations_are_those_of_the_table_of_the_paper(name, batch):
    """Table 2 of the paper, line by line, for its models with t = 8."""
    a, h, _, _ = PAPER[name]
    s, b, t = 2048, batch, 8
    quadratic = 5 * a * s / h
    shape = gpt(a, h, 1)

    def kept(split: int, sequence: bool, part: str) -> float:
        setup = replace(
            SETUP,
            sequence_length=s,
            micro_batch_size=b,
            tensor_parallel=split,
            sequence_parallel=sequence,
            flash_attention=False,
        )
        layer = kept_by_layer(shape, shape.blocks[0], setup)
        terms = {"all": layer.everything, "selective": layer.always, "full": (layer.layer_input,)}[part]
        return total(terms) * s * b

    table = [
        (kept(1, False, "all"), 34 + quadratic),
        (kept(t, False, "all"), 10 + 24 / t + quadratic / t),
        (kept(t, True, "all"), 34 / t + quadratic / t),
        (kept(t, False, "selective"), 10 + 24 / t),
        (kept(t, True, "selective"), 34 / t),
        (kept(1, False, "full"), 2),
    ]
    for ours, published in table:
        assert ours == pytest.approx(s * b * h * published, rel=0.02)


@pytest.mark.parametrize(("name", "saved"), [("175B (GPT-3)", 0.70), ("530B (MT-NLG)", 0.65)])
def test_selective_recomputation_saves_what_the_paper_says(name, saved):
    """Section 5 of the paper: 70 % and 65 % of the activations, as printed there."""
    heads, hidden, layers, _ = PAPER[name]
    setup = replace(SETUP, sequence_length=2048, flash_attention=False)
    body = estimate(gpt(heads, hidden, layers), setup).profile.body[0]
    none, select = (body.activation_mb[MODES.index(mode)] for mode in (RecomputeMode.NONE, RecomputeMode.SELECT))
    assert 1 - select / none == pytest.approx(saved, abs=0.005)


@pytest.mark.parametrize("name", PAPER)
def test_flops_of_a_layer_are_those_of_the_paper(name):
    """Appendix A of the paper: 24·B·s·h² + 4·B·s²·h forward for each layer, 2·B·s·h·v for the logits."""
    a, h, layers, _ = PAPER[name]
    s, v = 2048, 51200
    setup = replace(SETUP, sequence_length=s, efficiency=1.0, flash_attention=False)
    profile = estimate(gpt(a, h, layers), setup).profile
    per_ms = DEVICE.half_tflops * 1e12 / 1000
    assert profile.body[0].forward_time * per_ms == pytest.approx(24 * s * h**2 + 4 * s**2 * h, rel=0.001)
    assert profile.tail[0].forward_time * per_ms == pytest.approx(2 * s * h * v)


def test_a_llama_layer_by_hand():
    """Llama-3 8B, 8192 tokens, t = 4 with sequence parallelism, worked out on paper."""
    setup = replace(SETUP, sequence_length=8192, tensor_parallel=4, data_parallel=16)
    body = estimate(MODELS["Llama-3 8B"], setup).profile.body[0]
    matrices = 4096 * (4096 + 2 * 1024) + 4096 * 4096 + 3 * 4096 * 14336
    flops = 2 * (matrices / 4 + 2 * 4096) * 8192 + 4 * 8192**2 * 4096 / 2 / 4
    assert body.forward_time == pytest.approx(flops / (1000e12 * 0.45) * 1000)
    assert body.backward_time[0] == pytest.approx(2 * body.forward_time)
    assert body.backward_time[MODES.index(RecomputeMode.FULL)] == pytest.approx(3 * body.forward_time)
    assert body.parameter_mb == pytest.approx((matrices / 4 + 2 * 4096) * (2 + 4 + 12 / 16) / MEBI)
    # Norm and matrix inputs 4 h; queries and attention output 2 h; keys and values h_kv each; 3 f; 4 bytes a head.
    kept = (2 * (4 * 4096 + 2 * 4096 + 2 * 1024 + 3 * 14336) + 4 * 32) / 4
    assert body.activation_mb[0] == pytest.approx(kept * 8192 / MEBI)
    assert body.activation_mb[MODES.index(RecomputeMode.FULL)] == pytest.approx(2 * 4096 / 4 * 8192 / MEBI)
    assert body.activation_mb[MODES.index(RecomputeMode.SELECT)] is None


@pytest.mark.parametrize("flash", [True, False])
def test_select_is_offered_only_where_it_saves_something(flash):
    made = estimate(MODELS["Qwen3-32B"], replace(SETUP, flash_attention=flash))
    assert (RecomputeMode.SELECT in made.profile.modes) is not flash
    assert (FLASH_NOTE in made.notes) is flash
    assert RecomputeMode.COMM not in made.profile.modes
    assert RecomputeMode.BOTH not in made.profile.modes


def test_what_is_said_about_experts_is_said_where_there_are_some():
    assert EXPERTS_NOTE in estimate(MODELS["Mixtral 8×7B"], SETUP).notes
    assert EXPERTS_NOTE not in estimate(MODELS["Llama-3 8B"], SETUP).notes


def test_deepseek_is_dense_layers_then_experts_then_mtp():
    made = estimate(MODELS["DeepSeek-V3"], replace(SETUP, expert_parallel=32, data_parallel=64))
    profile = made.profile
    assert [(layer.name, layer.num_layers) for layer in profile.body] == [("DenseLayer", 3), ("MoELayer", 58)]
    without = estimate(
        replace(MODELS["DeepSeek-V3"], num_mtp_layers=0), replace(SETUP, expert_parallel=32, data_parallel=64)
    )
    more = profile.tail[0].forward_time - without.profile.tail[0].forward_time
    assert more > profile.body[1].forward_time, "a layer and another LM head"
    assert profile.tail[0].parameter_mb > without.profile.tail[0].parameter_mb + profile.body[1].parameter_mb


def test_experts_are_shared_by_expert_parallel_devices_and_their_optimizer_by_fewer_replicas():
    shape = MODELS["Mixtral 8×7B"]
    setup = replace(SETUP, expert_parallel=8, data_parallel=16)
    body = estimate(shape, setup).profile.body[0]
    experts = 3 * 4096 * 14336
    dense = 4096 * (4096 + 2048) + 4096 * 4096 + 8 * 4096 + 2 * 4096
    assert body.parameter_mb == pytest.approx((dense * (6 + 12 / 16) + experts * (6 + 12 / 2)) / MEBI)
    assert body.forward_time == estimate(shape, SETUP).profile.body[0].forward_time


def test_single_precision_doubles_what_is_kept_and_keeps_no_copy_of_weights():
    short = estimate(MODELS["Llama-3 8B"], SETUP).profile.body[0]
    single = estimate(MODELS["Llama-3 8B"], replace(SETUP, number_format=NumberFormat.FP32)).profile.body[0]
    assert single.activation_mb[0] == pytest.approx(2 * short.activation_mb[0], rel=0.01)
    assert single.parameter_mb == pytest.approx(short.parameter_mb * 16 / 18)
    assert single.forward_time == pytest.approx(short.forward_time * 1000 / 50)


@pytest.mark.parametrize("title", MODELS)
def test_every_number_of_the_profile_has_its_formula(title):
    made = estimate(MODELS[title], replace(SETUP, flash_attention=False))
    explained = {(number.layer, number.quantity): number for number in made.numbers}
    assert len(explained) == len(made.numbers)
    for layer in made.profile.layers:
        assert explained[layer.name, "forward time"].value == layer.forward_time
        assert explained[layer.name, "parameter memory"].value == layer.parameter_mb
        for mode, backward, kept in zip(MODES, layer.backward_time, layer.activation_mb, strict=True):
            if kept is not None:
                assert explained[layer.name, f"backward time, {mode}"].value == backward
                assert explained[layer.name, f"activation memory, {mode}"].value == kept
    assert all(number.formula for number in made.numbers)


@given(
    split=st.sampled_from([1, 2, 4, 8]), sequence=st.booleans(), replicas=st.sampled_from([1, 8, 64]),
    length=st.sampled_from([1024, 8192]), flash=st.booleans(), title=st.sampled_from(sorted(MODELS)),
)  # fmt: skip
def test_more_devices_never_cost_more(split, sequence, replicas, length, flash, title):
    setup = TrainingSetup(
        DEVICE, sequence_length=length, tensor_parallel=split, sequence_parallel=sequence, data_parallel=replicas,
        flash_attention=flash,
    )  # fmt: skip
    one = estimate(MODELS[title], replace(setup, tensor_parallel=1, data_parallel=1)).profile
    shared = estimate(MODELS[title], setup).profile
    for alone, together in zip(one.layers, shared.layers, strict=True):
        assert together.forward_time <= alone.forward_time
        assert together.parameter_mb <= alone.parameter_mb
        for before, after in zip(alone.activation_mb, together.activation_mb, strict=True):
            assert (before is None) == (after is None)
            assert after is None or after <= before
        offered = [value for value in together.activation_mb if value is not None]
        assert offered == sorted(offered, reverse=True), "more recomputed, less kept"


def test_all_problems_of_a_setup_are_told_at_once_with_the_nearest_legal_values():
    setup = replace(SETUP, tensor_parallel=3, expert_parallel=5, data_parallel=4)
    with pytest.raises(ProfileError) as caught:
        estimate(MODELS["Mixtral 8×7B"], setup)
    split, experts = caught.value.problems
    assert split == (
        "tensor_parallel: must divide 32 (attention heads) and 8 (key/value heads) and 14,336 (intermediate size of an "
        "expert) and 4,096 (sequence length), found 3; nearest: 2 or 4."
    )
    assert experts == "expert_parallel: must divide 8 experts and the data_parallel size of 4, found 5; nearest: 4."


def test_sizes_and_amounts_have_their_range():
    setup = TrainingSetup(
        replace(DEVICE, half_tflops=0), sequence_length=0, micro_batch_size=MAX_SIZE + 1, efficiency=0
    )
    with pytest.raises(ProfileError) as caught:
        estimate(MODELS["Llama-3 8B"], setup)
    names = [problem.split(":")[0] for problem in caught.value.problems]
    assert names == ["sequence_length", "micro_batch_size", "efficiency", "peak of test device in bf16, TFLOP/s"]


def test_numbers_beyond_any_profile_are_refused():
    setup = replace(SETUP, sequence_length=MAX_SIZE, micro_batch_size=MAX_SIZE)
    with pytest.raises(ProfileError) as caught:
        estimate(MODELS["Llama-3 8B"], setup)
    assert "DecoderLayer: the forward time must be up to 1,000,000,000,000 ms, found" in str(caught.value)


def test_a_model_without_experts_has_no_expert_parallelism():
    with pytest.raises(ProfileError, match="must be 1 for a model without experts, found 2"):
        estimate(MODELS["Llama-3 8B"], replace(SETUP, expert_parallel=2, data_parallel=2))


@given(sizes=st.lists(st.integers(1, 5000), min_size=1, max_size=4))
def test_common_divisors_are_all_of_them(sizes):
    assert common_divisors(*sizes) == tuple(n for n in range(1, min(sizes) + 1) if all(size % n == 0 for size in sizes))


def test_devices_have_their_source():
    devices = known_devices()
    assert len({device.name for device in devices}) == len(devices) >= 5
    assert all(device.source and device.half_tflops >= device.single_tflops for device in devices)


@pytest.mark.parametrize("stages", [4, 8, 16])
@pytest.mark.parametrize("family", CONFIGS)
def test_a_config_of_each_family_balances(family, stages):
    """What users come for: from config.json to a plan."""
    config = load_config(json.dumps(CONFIGS[family]).encode(), f"{family}.json")
    has_experts = any(isinstance(block.feed_forward, Experts) for block in config.shape.blocks)
    setup = replace(
        SETUP, device=known_devices()[3], tensor_parallel=4, data_parallel=64, expert_parallel=64 if has_experts else 1
    )
    if family == "mixtral":
        setup = replace(setup, expert_parallel=8)
    profile = estimate(config.shape, setup).profile
    assert [layer.kind for layer in profile.layers][:: len(profile.layers) - 1] == [LayerKind.HEAD, LayerKind.TAIL]
    schedule = make_schedule("1f1b", Pipeline(num_stages=stages, num_micro_batches=2 * stages))
    result = balance(profile, schedule, BalanceRequest(memory_limit_mb=profile.memory_limit_mb, time_limit=0.3))
    assert result.status in {Status.OPTIMAL, Status.FEASIBLE}
