"""Controls of a pipeline's sizes and knobs: only those that mean something for the schedule are there."""

import streamlit as st

from pages.shared.schedule_choice import DEFAULTS
from sapp_core.domain.pipeline import Pipeline, Remainder
from sapp_core.errors import PipelineError
from sapp_core.schedules.registry import ScheduleFamily, num_ops

MAX_STAGES, MAX_CHUNKS, MAX_MICRO_BATCHES, MAX_SPLITS = 128, 16, 512, 16
MAX_OPS = 100_000
"""A page answers quickly up to here; the command line has no such limit."""


def stages_and_micro_batches() -> tuple[int, int]:
    """S and M."""
    stages = st.slider(
        "Stages", 1, MAX_STAGES, DEFAULTS["stages"], key="stages", bind="query-params",
        help="Pipeline ranks: devices (or groups of devices) that each hold a part of the model. More stages need less "
        "memory each and make a longer warm-up.",
    )  # fmt: skip
    micro_batches = st.slider(
        "Micro-batches", 1, MAX_MICRO_BATCHES, DEFAULTS["micro_batches"], key="micro_batches", bind="query-params",
        help="Forward and backward passes in one training step. More micro-batches hide the bubble better.",
    )  # fmt: skip
    return stages, micro_batches


def chunks_and_splits(chosen: ScheduleFamily, prefix: str = "") -> tuple[int, int]:
    """V and K; fixed where the schedule leaves no choice."""
    chunks, splits = chosen.fixed_chunks or 1, 1
    if chosen.fixed_chunks is None:
        chunks = st.slider(
            "Interleave (chunks per stage)", 1, MAX_CHUNKS, DEFAULTS["interleave"], key=f"{prefix}interleave",
            bind="query-params", persist_state="session",
            help="Slices of the model that each stage holds. More chunks make the bubble smaller, and need more "
            "activation memory and more transfers.",
        )  # fmt: skip
    if chosen.uses_splits:
        splits = st.slider(
            "Sequence splits", 1, MAX_SPLITS, DEFAULTS["sequence_splits"], key=f"{prefix}sequence_splits",
            bind="query-params", persist_state="session",
            help="Slices of each micro-batch along the sequence, which run as units of their own.",
        )  # fmt: skip
    return chunks, splits


def groups(chosen: ScheduleFamily, stages: int, prefix: str = "") -> tuple[int | None, Remainder]:
    """Micro-batches go through the chunks group by group; None = groups as large as the number of stages."""
    if not chosen.uses_groups:
        return None, Remainder.LAST
    size = st.number_input(
        "Group size (micro-batches)", min_value=1, value=None, step=1, placeholder=f"{stages} (one per stage)",
        key=f"{prefix}group_size", bind="query-params", persist_state="session",
        help="Micro-batches that pass one chunk before the next chunk's turn; Megatron calls it "
        "microbatch_group_size_per_vp_stage. Empty: as many as stages.",
    )  # fmt: skip
    remainder = st.selectbox(
        "Group with the remainder", list(Remainder), key=f"{prefix}remainder", bind="query-params",
        persist_state="session",
        help="When the micro-batches do not divide into groups: the *last* group is short (Paddle), or the *first* one "
        "is longer (SAPP).",
    )  # fmt: skip
    return size, Remainder(str(remainder))


def overlap(*families: ScheduleFamily) -> float:
    """η, where one of the families overlaps ops."""
    if not any(chosen.overlaps for chosen in families):
        return 0.0
    return st.slider(
        "Overlap efficiency η", 0.0, 1.0, 0.0, 0.05, key="overlap_efficiency", bind="query-params",
        persist_state="session",
        help="A forward and a backward that start together take max(F, B) + (1 − η)·min(F, B). 0: one after the other, "
        "as fair as it gets against schedules without overlap. 1: the shorter one vanishes.",
    )  # fmt: skip


def input_gradient(*families: ScheduleFamily) -> float:
    """β, where one of the families splits backwards."""
    if not any(chosen.splits_backward for chosen in families):
        return 0.5
    return st.slider(
        "Input-gradient share β", 0.0, 1.0, 0.5, 0.05, key="input_gradient_share", bind="query-params",
        persist_state="session",
        help="Part of a backward (without recomputation) that computes the input gradient, which the stage before "
        "waits for. The rest is the weight gradient, which can run later.",
    )  # fmt: skip


def weight_gradient_memory(*families: ScheduleFamily) -> float:
    """Share of the activations that stays for the weight gradient, where one of the families splits backwards."""
    if not any(chosen.splits_backward for chosen in families):
        return 1.0
    return st.slider(
        "Memory kept for weight gradients", 0.0, 1.0, 1.0, 0.05, key="weight_gradient_memory", bind="query-params",
        persist_state="session",
        help="Share of a chunk's activations that stays from its input gradient until its weight gradient has run.",
    )  # fmt: skip


def check_size(chosen: ScheduleFamily, pipeline: Pipeline) -> None:
    """Accept what a page can draw.

    Raises:
        PipelineError: too many ops; the sentence says how many micro-batches fit.
    """
    ops = num_ops(chosen.name, pipeline)
    if ops > MAX_OPS:
        fitting = MAX_OPS * pipeline.num_micro_batches // ops
        raise PipelineError(
            f"num_micro_batches: this page draws up to {MAX_OPS:,} ops a step, these settings make {ops:,}; at most "
            f"{fitting:,} micro-batches fit, or use the command line."
        )
