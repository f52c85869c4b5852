"""The `config.json` that Hugging Face models carry → `ModelShape`, for the families whose layers we know."""

from dataclasses import dataclass, replace

from sapp_core.documents.report import Report, quoted
from sapp_core.documents.section import Section, read_sections
from sapp_core.domain.profile import MAX_LAYERS
from sapp_core.errors import ProfileError
from sapp_core.profiles.load import name_of
from sapp_core.profiles.model_shape import Block, Experts, GroupedAttention, LatentAttention, Mlp, ModelShape

FAMILIES = ("llama", "mistral", "mixtral", "qwen2", "qwen3", "qwen3_moe", "deepseek_v3")
"""Values of `model_type`."""

MAX_MODEL_SIZE = 10**7
_ALWAYS_BIASED = ("qwen2",)
_HEAD_NORMED = ("qwen3", "qwen3_moe")
_EXPERT_COUNTS = {"mixtral": "num_local_experts", "qwen3_moe": "num_experts", "deepseek_v3": "n_routed_experts"}
"""Family → what it calls the number of experts; families that are not here have none."""
_MAX_MTP = 16


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """A model from its `config.json`.

    Attributes:
        shape: the model.
        warnings: one sentence each, on what the file says and an estimate does not follow.
    """

    shape: ModelShape
    warnings: tuple[str, ...]


def load_config(data: bytes, source: str) -> LoadedConfig:
    """Read a model's `config.json`.

    Args:
        data: JSON (or YAML).
        source: name of the file, for messages.

    Raises:
        ProfileError: with all that is wrong with the file, one sentence each: path, rule, what was found.
    """
    report = Report(source, ProfileError)
    shape = read_config(read_sections(data, report), name_of(source))
    report.raise_problems()
    if shape is None:
        report.stop("", "does not describe a model that can be estimated.")
    return LoadedConfig(shape, tuple(report.warnings))


def read_config(top: Section, name: str) -> ModelShape | None:
    """The model of a parsed `config.json`; None when the section's report says why there is none.

    Args:
        top: the file's mapping.
        name: of the model, where the file has none.
    """
    # Such files write null where a value is left to its default.
    section = replace(top, values={key: value for key, value in top.values.items() if value is not None})
    family = section.choice("model_type", FAMILIES, required=True)
    sizes = {
        key: section.whole(key, least=1, most=MAX_MODEL_SIZE, required=True)
        for key in ("hidden_size", "intermediate_size", "vocab_size", "num_attention_heads")
    }
    layers = section.whole("num_hidden_layers", least=1, most=MAX_LAYERS, required=True)
    if family is None or layers is None or None in sizes.values():
        return None
    hidden, inside, words, heads = (size or 0 for size in sizes.values())
    attention = (
        _latent(section, heads) if family == "deepseek_v3" else _grouped(section, family, hidden, heads)
    )  # fmt: skip
    blocks = _blocks(section, family, layers, Mlp(inside, bias=section.flag("mlp_bias") or False))
    mtp = section.whole("num_nextn_predict_layers", least=0, most=_MAX_MTP) or 0
    tied = section.flag("tie_word_embeddings") or False
    _warn(section)
    if attention is None or not blocks or section.report.problems:
        return None
    return ModelShape(_model_name(section, name), hidden, words, attention, blocks, tied, mtp)


def _grouped(section: Section, family: str, hidden: int, heads: int) -> GroupedAttention | None:
    groups = section.whole("num_key_value_heads", least=1, most=heads) or heads
    width = section.whole("head_dim", least=1, most=MAX_MODEL_SIZE)
    report = section.report
    if heads % groups:
        report.refuse(
            section.at("num_key_value_heads"), f"must divide the {heads:,} attention heads, found {groups:,}."
        )
    if width is None and hidden % heads:
        report.refuse(
            section.at("num_attention_heads"),
            f"must divide the hidden_size of {hidden:,} where no head_dim is given, found {heads:,}.",
        )
    biased = section.flag("attention_bias") or False
    return GroupedAttention(
        num_heads=heads,
        num_kv_heads=groups,
        head_dim=width or hidden // heads,
        qkv_bias=biased or family in _ALWAYS_BIASED,
        output_bias=biased,
        head_norm=family in _HEAD_NORMED,
    )


def _latent(section: Section, heads: int) -> LatentAttention | None:
    keys = ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
    ranks = [section.whole(key, least=1, most=MAX_MODEL_SIZE, required=True) for key in keys]
    query_rank = section.whole("q_lora_rank", least=1, most=MAX_MODEL_SIZE)
    kv_rank, nope, rope, value = (rank or 0 for rank in ranks)
    return None if None in ranks else LatentAttention(heads, query_rank, kv_rank, nope, rope, value)


def _blocks(section: Section, family: str, layers: int, mlp: Mlp) -> tuple[Block, ...]:
    """Kinds of layers in model order: dense ones in front of those with experts."""
    if family not in _EXPERT_COUNTS:
        return (Block("DecoderLayer", layers, mlp),)
    experts = _experts(section, family, mlp)
    first = section.whole("first_k_dense_replace", least=0, most=layers) or 0
    for key in ("moe_layer_freq", "decoder_sparse_step"):
        section.whole(key, least=1, most=1)
    if section.entries("mlp_only_layers"):
        section.report.refuse(section.at("mlp_only_layers"), "must be empty: layers with and without experts in turn.")
    if experts is None:
        return ()
    kinds = (Block("DenseLayer", first, mlp), Block("MoELayer", layers - first, experts))
    return tuple(kind for kind in kinds if kind.num_layers)


def _experts(section: Section, family: str, mlp: Mlp) -> Experts | None:
    count = section.whole(_EXPERT_COUNTS[family], least=1, most=MAX_MODEL_SIZE, required=True)
    chosen = section.whole("num_experts_per_tok", least=1, most=count or MAX_MODEL_SIZE, required=True)
    own_size = family != "mixtral"  # its experts have the size of the MLP that they replace
    inside = section.whole("moe_intermediate_size", least=1, most=MAX_MODEL_SIZE, required=own_size)
    shared = section.whole("n_shared_experts", least=0, most=MAX_MODEL_SIZE) or 0
    if count is None or chosen is None:
        return None
    expert = Mlp(inside, bias=mlp.bias) if inside else mlp
    return Experts(count, chosen, expert, replace(expert, intermediate_size=shared * (inside or 0)) if shared else None)


def _model_name(section: Section, name: str) -> str:
    """Of the repository, where the file says it; without the owner."""
    given = section.values.get("_name_or_path")
    said = given.rstrip("/").rpartition("/")[2] if isinstance(given, str) else ""
    return said if said and said.isprintable() and len(said) <= 100 else name


def _warn(section: Section) -> None:
    window = section.values.get("sliding_window")
    if type(window) is int and section.values.get("use_sliding_window") is not False:
        section.report.warn(
            section.at("sliding_window"), f"is {window:,} tokens; the estimate takes attention to the whole sequence."
        )
    if "quantization_config" in section.values:
        section.report.warn(
            section.at("quantization_config"), "was ignored; the number format of the training setup counts."
        )
    activation = section.values.get("hidden_act")
    if isinstance(activation, str) and activation not in ("silu", "swish"):
        section.report.warn(
            section.at("hidden_act"), f"is {quoted(activation)}; its three matrices are counted, its own cost is not."
        )
