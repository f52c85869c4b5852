"""From a model's hyper-parameters to an estimated profile."""

import json
from dataclasses import replace

import streamlit as st

from pages.shared.profile_setup import setup_controls
from pages.shared.text import bullets, literal, one_line, shown_name
from sapp_core.documents.parse import MAX_BYTES
from sapp_core.domain.profile import MAX_LAYERS
from sapp_core.errors import SappError
from sapp_core.profiles.catalog import KnownModel, known_models
from sapp_core.profiles.config import FAMILIES, MAX_MODEL_SIZE, LoadedConfig, load_config
from sapp_core.profiles.load import LoadedProfile
from sapp_core.profiles.model_shape import ModelShape
from sapp_core.profiles.parameters import parameter_count, used_parameter_count
from sapp_core.profiles.transformer import Estimate, estimate

_CONFIG, _OWN = "config.json of a model", "Sizes typed here"
_FILE, _READ, _PROBLEMS, _MODEL = "config_file", "config_read", "config_problems", "estimate_model"
_FIRST = "Llama-3 8B"
_BILLION = 10**9
_NAME = "What the profile is called."


def estimate_section() -> LoadedProfile | None:
    """Model, training setup, and every number with its formula; the profile if the two fit."""
    st.markdown(
        "Published sizes of a model and a training setup give an **estimate** of time and memory: good enough to "
        "compare plans, no replacement for measurements."
    )
    known = {model.title: model for model in _known_models()}
    read: LoadedConfig | None = st.session_state.get(_READ)
    options = [*known, _CONFIG, _OWN]
    title = st.selectbox(
        "Model", options, index=options.index(_FIRST), key=_MODEL, persist_state="session",
        help="Models with published sizes, a Hugging Face config.json, or sizes of your own.",
    )  # fmt: skip
    with st.expander("Upload a config.json", expanded=title == _CONFIG, icon=":material/upload_file:"):
        _upload(read)
    warnings: tuple[str, ...] = ()
    if title == _CONFIG:
        if read is None:
            st.info("Upload a config.json above.")
            return None
        shape, warnings = read.shape, read.warnings
    elif title == _OWN:
        typed = _own_sizes()
        if typed is None:
            return None
        shape = typed
    else:
        shape = known[title].shape
    _facts(shape, known.get(title))
    if warnings:
        st.warning(bullets(warnings), icon=":material/info:")
    setup = setup_controls(shape)
    try:
        made = estimate(shape, setup)
    except SappError as error:
        st.error(f"**This setup does not fit the model.**\n\n{bullets(error.problems)}", icon=":material/rule:")
        return None
    _formulas(made)
    return LoadedProfile(made.profile, ())


@st.cache_resource(show_spinner=False)
def _known_models() -> tuple[KnownModel, ...]:
    return known_models()


def _upload(read: LoadedConfig | None) -> None:
    st.file_uploader(
        "config.json", type=["json"], key=_FILE, on_change=_uploaded, max_upload_size=MAX_BYTES // 2**20,
        help=f"Of a model of one of the families {', '.join(FAMILIES)}. It stays in this session.",
    )  # fmt: skip
    problems: tuple[str, ...] = st.session_state.get(_PROBLEMS, ())
    if problems:
        kept = f" The model before it, {literal(read.shape.name)}, stays." if read else ""
        st.error(f"**This config.json cannot be used.**{kept}\n\n{bullets(problems)}")
    elif read:
        st.caption(f"Read: **{literal(read.shape.name)}**.")


def _uploaded() -> None:
    file = st.session_state[_FILE]
    st.session_state[_PROBLEMS] = ()
    if file is None:
        return
    try:
        st.session_state[_READ] = load_config(file.getvalue(), shown_name(file.name))
        st.session_state[_MODEL] = _CONFIG
    except SappError as error:
        st.session_state[_PROBLEMS] = error.problems


def _own_sizes() -> ModelShape | None:
    """Sizes as a config.json has them, read and checked as one."""
    name = st.text_input("Name", "my_model", max_chars=100, key="own_name", persist_state="session", help=_NAME)
    fields = {
        "hidden_size": ("Hidden size", 4096, MAX_MODEL_SIZE, "Numbers of a token between layers."),
        "intermediate_size": ("MLP size", 14336, MAX_MODEL_SIZE, "Numbers of a token inside the gated MLP."),
        "num_hidden_layers": ("Layers", 32, MAX_LAYERS, "Decoder layers of the model."),
        "vocab_size": ("Vocabulary", 128256, MAX_MODEL_SIZE, "Tokens that there are."),
        "num_attention_heads": ("Attention heads", 32, MAX_MODEL_SIZE, "They divide the hidden size."),
        "num_key_value_heads": ("Key/value heads", 8, MAX_MODEL_SIZE, "They divide the attention heads."),
    }
    config: dict[str, object] = {"model_type": "llama", "_name_or_path": name}
    columns = st.columns(3)
    for i, (key, (label, default, most, text)) in enumerate(fields.items()):
        with columns[i % 3]:
            config[key] = st.number_input(label, 1, most, default, key=f"own_{key}", persist_state="session", help=text)
    experts, visited, tied = st.columns(3, vertical_alignment="bottom")
    count = experts.number_input(
        "Experts", 0, MAX_MODEL_SIZE, 0, key="own_experts", persist_state="session",
        help="0 = an ordinary MLP in every layer; else each expert has the MLP size.",
    )  # fmt: skip
    if count:
        config["model_type"] = "mixtral"
        config["num_local_experts"] = count
        config["num_experts_per_tok"] = visited.number_input(
            "Experts of a token", 1, MAX_MODEL_SIZE, 1, key="own_visited", persist_state="session",
            help="How many of the experts the router sends a token to.",
        )  # fmt: skip
    config["tie_word_embeddings"] = tied.checkbox(
        "Embedding and LM head are one matrix", key="own_tied", persist_state="session",
        help="They count once; the last stage still keeps a copy.",
    )  # fmt: skip
    try:
        shape = load_config(json.dumps(config).encode(), "sizes typed here").shape
    except SappError as error:
        st.error(f"**These sizes make no model.**\n\n{bullets(error.problems)}", icon=":material/rule:")
        return None
    return replace(shape, name=one_line(name) or "my_model")


def _facts(shape: ModelShape, known: KnownModel | None) -> None:
    everything, used = parameter_count(shape), used_parameter_count(shape)
    said = f"**{everything / _BILLION:,.2f} billion parameters**"
    if used < everything:
        said += f", of which a token meets {used / _BILLION:,.2f} billion"
    if shape.num_mtp_layers:
        more = parameter_count(shape, with_mtp=True) - everything
        said += f"; its modules for further tokens (MTP) add {more / _BILLION:,.2f} billion"
    kinds = ", ".join(f"{block.num_layers} × {block.name}" for block in shape.blocks)
    st.markdown(f"{said}. Layers: {kinds}.")
    if known:
        st.caption(f"Source of the sizes: {literal(known.source)}")


def _formulas(made: Estimate) -> None:
    st.info(bullets(made.notes), icon=":material/calculate:")
    with st.expander("Every number with its formula", icon=":material/function:"):
        st.dataframe(
            {
                "Layer kind": [number.layer for number in made.numbers],
                "Number": [number.quantity for number in made.numbers],
                "Value": [number.value for number in made.numbers],
                "Unit": [number.unit for number in made.numbers],
                "Formula": [number.formula for number in made.numbers],
            },
            hide_index=True,
            column_config={
                "Value": st.column_config.NumberColumn(format="%.6g"),
                "Formula": st.column_config.TextColumn(width="large"),
            },
        )
        st.caption("A cell that is clicked twice shows its whole formula. Sizes are those of one device.")
