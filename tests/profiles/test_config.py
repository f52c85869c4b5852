"""`config.json` of Hugging Face: every family, and what is said about files that cannot be used."""

import json

import pytest

from sapp_core.errors import ProfileError
from sapp_core.profiles.config import FAMILIES, LoadedConfig, load_config
from sapp_core.profiles.model_shape import Experts, GroupedAttention, LatentAttention, Mlp
from sapp_core.profiles.parameters import parameter_count
from tests.profiles.configs import CONFIGS, PARAMETERS


def load(config: dict) -> LoadedConfig:
    return load_config(json.dumps(config).encode(), "my_model/config.json")


def problems_of(config: dict) -> tuple[str, ...]:
    with pytest.raises(ProfileError) as caught:
        load(config)
    return caught.value.problems


def test_there_is_a_file_of_every_family():
    assert set(CONFIGS) == set(PARAMETERS) == set(FAMILIES)


@pytest.mark.parametrize("family", CONFIGS)
def test_a_file_gives_the_parameters_of_its_model_card(family):
    assert parameter_count(load(CONFIGS[family]).shape) == pytest.approx(PARAMETERS[family] * 1e9, rel=0.01)


def test_what_the_families_do_differently():
    assert load(CONFIGS["qwen2"]).shape.attention == GroupedAttention(28, 4, 128, qkv_bias=True)
    assert load(CONFIGS["qwen3"]).shape.attention == GroupedAttention(64, 8, 128, head_norm=True)
    deepseek = load(CONFIGS["deepseek_v3"]).shape
    assert deepseek.attention == LatentAttention(128, 1536, 512, 128, 64, 128)
    assert [block.num_layers for block in deepseek.blocks] == [3, 58]
    assert deepseek.blocks[1].feed_forward == Experts(256, 8, Mlp(2048), shared=Mlp(2048))
    assert deepseek.num_mtp_layers == 1
    assert load(CONFIGS["mixtral"]).shape.blocks[0].feed_forward == Experts(8, 2, Mlp(14336))


def test_optional_keys_may_be_left_out_or_null():
    small = {key: CONFIGS["llama"][key] for key in ("model_type", "hidden_size", "intermediate_size", "vocab_size")}
    small |= {"num_attention_heads": 32, "num_hidden_layers": 2, "num_key_value_heads": None, "head_dim": None}
    assert load(small).shape.attention == GroupedAttention(32, 32, 128)
    assert load(small).warnings == ()


def test_biases_and_tied_embeddings_count():
    plain = parameter_count(load(CONFIGS["llama"]).shape)
    biased = parameter_count(load(CONFIGS["llama"] | {"attention_bias": True, "mlp_bias": True}).shape)
    assert biased - plain == 32 * (4096 + 2 * 1024 + 4096 + 2 * 14336 + 4096)
    tied = parameter_count(load(CONFIGS["llama"] | {"tie_word_embeddings": True}).shape)
    assert plain - tied == 4096 * 128256


def test_queries_may_be_uncompressed():
    shape = load(CONFIGS["deepseek_v3"] | {"q_lora_rank": None}).shape
    more = 7168 * 128 * 192 - (7169 * 1536 + 1536 * 128 * 192)
    assert parameter_count(shape) - parameter_count(load(CONFIGS["deepseek_v3"]).shape) == 61 * more


def test_a_model_is_called_after_its_repository_or_its_file():
    assert load(CONFIGS["llama"]).shape.name == "config"
    assert load(CONFIGS["llama"] | {"_name_or_path": "owner/My-Model/"}).shape.name == "My-Model"


def test_what_an_estimate_does_not_follow_is_said():
    (window,) = load(CONFIGS["mistral"]).warnings
    assert window == "sliding_window: is 4,096 tokens; the estimate takes attention to the whole sequence."
    (quantised,) = load(CONFIGS["deepseek_v3"]).warnings
    assert quantised.startswith("quantization_config: was ignored")
    (activation,) = load(CONFIGS["llama"] | {"hidden_act": "relu"}).warnings
    assert activation.startswith('hidden_act: is "relu"')


def test_another_family_is_refused_with_those_that_are_known():
    (problem,) = problems_of(CONFIGS["llama"] | {"model_type": "gpt2"})
    assert problem == f'model_type: must be one of {", ".join(FAMILIES)}, found the text "gpt2".'


def test_all_that_is_wrong_is_told_at_once():
    problems = problems_of({"model_type": "llama", "hidden_size": -1, "num_attention_heads": "8"})
    paths = [problem.split(":")[0] for problem in problems]
    assert paths == ["hidden_size", "intermediate_size", "vocab_size", "num_attention_heads", "num_hidden_layers"]


@pytest.mark.parametrize(
    ("family", "change", "path"),
    [
        ("llama", {"num_key_value_heads": 5}, "num_key_value_heads"),
        ("llama", {"num_key_value_heads": 64}, "num_key_value_heads"),
        ("llama", {"num_attention_heads": 30, "num_key_value_heads": 30}, "num_attention_heads"),
        ("llama", {"num_hidden_layers": 10_001}, "num_hidden_layers"),
        ("llama", {"tie_word_embeddings": "perhaps"}, "tie_word_embeddings"),
        ("mixtral", {"num_experts_per_tok": 9}, "num_experts_per_tok"),
        ("mixtral", {"num_local_experts": None}, "num_local_experts"),
        ("qwen3_moe", {"decoder_sparse_step": 2}, "decoder_sparse_step"),
        ("qwen3_moe", {"mlp_only_layers": [0, 1]}, "mlp_only_layers"),
        ("qwen3_moe", {"moe_intermediate_size": None}, "moe_intermediate_size"),
        ("deepseek_v3", {"kv_lora_rank": None}, "kv_lora_rank"),
        ("deepseek_v3", {"moe_layer_freq": 2}, "moe_layer_freq"),
        ("deepseek_v3", {"first_k_dense_replace": 62}, "first_k_dense_replace"),
    ],
)
def test_a_wrong_value_is_refused_with_its_path(family, change, path):
    problems = problems_of(CONFIGS[family] | change)
    assert [problem.split(":")[0] for problem in problems] == [path]


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{", b"\xff", b'{"a": ' * 30, b"null", b'{"model_type": "llama", "model_type": "qwen2"}']
)
def test_other_files_get_a_sentence(data):
    with pytest.raises(ProfileError) as caught:
        load_config(data, "config.json")
    assert all(problem.endswith(".") for problem in caught.value.problems)
