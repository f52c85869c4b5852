"""Sizes of a micro-batch that splitting the sequence needs and a profile may lack: the page asks for exactly those."""

from dataclasses import replace

import streamlit as st

from sapp_core.domain.profile import ModelProfile, RecomputeMode, TrainingShape
from sapp_core.domain.sequence_split import NEEDED, missing_sizes

_LABELS = {
    "batch_size": "Micro-batch size (sequences)",
    "num_heads": "Attention heads",
    "seq_length": "Sequence length (tokens)",
    "head_dim": "Head dimension",
    "hidden_size": "Hidden size",
    "vocab_size": "Vocabulary (tokens)",
    "model_parallel": "Tensor-parallel ranks",
}


def with_training_sizes(profile: ModelProfile, num_splits: int) -> ModelProfile:
    """The profile with the sizes typed here; those still empty stay missing, and the core says so."""
    missing = missing_sizes(profile.training) if num_splits > 1 else ()
    if num_splits > 1 and RecomputeMode.FULL in profile.modes:
        st.caption("Full recomputation is left out: it cannot be used where micro-batches are split.")
    if not missing:
        return profile
    with st.container(border=True):
        st.markdown("**Sizes of one micro-batch**, which this profile does not give. Keys and values depend on them.")
        typed = {
            name: st.number_input(
                _LABELS[name], min_value=1, value=None, step=1, key=_key(name), bind="query-params",
                placeholder=f"training.{name}",
                help=f"A whole number, `training.{name}` in a profile file. A slice attends to the keys and values  "
                "of the slices before it, and their memory and time follow from these sizes.",
            )
            for name in missing
        }  # fmt: skip
    return replace(profile, training=replace(profile.training or TrainingShape(), **typed))


def forget_training_sizes() -> None:
    """They belong to a profile and go with it."""
    for name in NEEDED:
        if _key(name) in st.session_state:
            st.session_state[_key(name)] = None


def _key(name: str) -> str:
    return f"training_{name}"
