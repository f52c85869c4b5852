"""The sidebar: widgets to a scenario. The URL holds every value but an uploaded file."""

from dataclasses import dataclass, replace

import streamlit as st

from pages.shared.amounts import amount
from pages.shared.cached import schedule
from pages.shared.choice import MAX_CHUNKS, MAX_MICRO_BATCHES, MAX_STAGES, choose_profile, limit_default
from pages.shared.link import remember_link
from pages.shared.scenario import Scenario
from pages.shared.text import literal
from sapp_core.balancer.request import BalanceRequest
from sapp_core.domain.pipeline import Pipeline, Remainder
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.result import MemoryModel, Objective
from sapp_core.errors import PipelineError, SappError
from sapp_core.schedules.registry import SCHEDULES, ScheduleFamily, family

MAX_OPS = 100_000
"""A page answers quickly up to here; the command line has no such limit."""

_SOLVERS = ("highs", "cbc")


@dataclass(frozen=True, slots=True)
class Controls:
    """What the sidebar says: a scenario, or the sentences on why there is none."""

    scenario: Scenario | None
    problems: tuple[str, ...] = ()


def sidebar() -> Controls:
    """Draw all controls and read them."""
    remember_link()
    with st.sidebar:
        profile = choose_profile()
        chosen = _schedule()
        stages = st.slider(
            "Stages", 1, MAX_STAGES, 8, key="stages", bind="query-params",
            help="Pipeline ranks: devices (or groups of devices) that each hold a part of the model. More stages need "
            "less memory each and make a longer warm-up.",
        )  # fmt: skip
        chunks = 1
        if chosen.fixed_chunks is None:
            chunks = st.slider(
                "Interleave (chunks per stage)", 1, MAX_CHUNKS, 2, key="interleave", bind="query-params",
                help="Slices of the model that each stage holds. More chunks make the bubble smaller, and need more "
                "activation memory and more transfers.",
            )  # fmt: skip
        micro_batches = st.slider(
            "Micro-batches", 1, MAX_MICRO_BATCHES, 32, key="micro_batches", bind="query-params",
            help="Forward and backward passes in one training step. More micro-batches hide the bubble better.",
        )  # fmt: skip
        limit = _memory_limit(profile)
        group_size, remainder = None, Remainder.LAST
        with st.expander("Constant memory, transfers" + (", groups" if chosen.uses_groups else "")):
            constant = amount(
                "Constant memory (MiB)", "constant_memory", default=float(profile.constant_mb),
                top=max(8192.0, 2 * profile.constant_mb), step=256.0,
                text="Memory that every stage needs whatever it holds: CUDA context, communication buffers.",
            )  # fmt: skip
            longest = max(layer.forward_time for layer in profile.body)
            p2p_time = amount(
                f"Transfer time ({literal(profile.time_unit)})", "p2p_time", default=0.0,
                top=float(longest) or 1.0, step=float(longest) / 20 or 0.1,
                text="Delay of data that goes from one stage to another, for one micro-batch. The sender goes on "
                "working meanwhile.",
            )  # fmt: skip
            if chosen.uses_groups:
                group_size, remainder = _groups(stages)
        options = _solver_options()
    try:
        pipeline = Pipeline(
            num_stages=stages, num_micro_batches=micro_batches, num_chunks=chunks, placement=chosen.placement,
            group_size=group_size, remainder=remainder, p2p_time=p2p_time,
        )  # fmt: skip
        _check_size(pipeline)
        request = replace(options, memory_limit_mb=limit)
        scenario = Scenario(replace(profile, constant_mb=constant), chosen.name, pipeline, request)
        schedule(chosen.name, pipeline)
    except SappError as error:
        return Controls(None, error.problems)
    return Controls(scenario)


def _schedule() -> ScheduleFamily:
    names = [known.name for known in SCHEDULES]
    name = st.selectbox(
        "Schedule", names, index=names.index("1f1b"), key="schedule", bind="query-params",
        help="In which order a stage works on its micro-batches: "
        + " ".join(f"**{known.name}**: {known.title}." for known in SCHEDULES),
    )  # fmt: skip
    chosen = family(str(name))
    st.caption(f"**{chosen.title}.** {chosen.summary}")
    return chosen


def _memory_limit(profile: ModelProfile) -> float | None:
    limited = st.toggle(
        "Limit the memory of a stage", value=profile.memory_limit_mb is not None, key="limited", bind="query-params",
        disabled=not profile.has_memory,
        help="Off: only time is balanced, and no stage is called too full.",
    )  # fmt: skip
    if not profile.has_memory:
        st.caption("This profile gives no memory, so only time can be balanced.")
        return None
    if not limited:
        return None
    default = limit_default(profile)
    return amount(
        "Memory limit per stage (MiB)", "memory_limit", default=default, top=2.5 * default, step=500.0,
        text="What one device may use, in MiB (profile files call them MB): 80 GiB are 81,920 MiB. A smaller limit "
        "makes the balancer recompute more.",
    )  # fmt: skip


def _groups(stages: int) -> tuple[int | None, Remainder]:
    """Micro-batches go through the chunks group by group; None = groups as large as the number of stages."""
    size = st.number_input(
        "Group size (micro-batches)", min_value=1, value=None, step=1, placeholder=f"{stages} (one per stage)",
        key="group_size", bind="query-params",
        help="Micro-batches that pass one chunk before the next chunk's turn; Megatron calls it "
        "microbatch_group_size_per_vp_stage. Empty: as many as stages.",
    )  # fmt: skip
    remainder = st.selectbox(
        "Group with the remainder", list(Remainder), key="remainder", bind="query-params",
        help="When the micro-batches do not divide into groups: the *last* group is short (Paddle), or the *first* one "
        "is longer (SAPP).",
    )  # fmt: skip
    return size, Remainder(str(remainder))


def _solver_options() -> BalanceRequest:
    with st.expander("Solver"):
        objective = st.selectbox(
            "Objective", list(Objective), index=list(Objective).index(Objective.SAPP_1), key="objective",
            bind="query-params",
            help="What the integer program minimises: classic SAPP stand-ins for the step time, from coarse (sapp-0) "
            "to fine (sapp-2). The plan is simulated afterwards, and the certified gap says how far its step time can "
            "be from the best possible one.",
        )  # fmt: skip
        model = st.selectbox(
            "Memory model", list(MemoryModel), key="memory_model", bind="query-params",
            help="*exact*: activations in flight are counted from the schedule itself. *sapp*: SAPP's closed formulas, "
            "for comparison with it; they can be off.",
        )  # fmt: skip
        solver = st.selectbox(
            "Solver", _SOLVERS, key="solver", bind="query-params",
            help="*highs* is usually faster; *cbc* is an independent second opinion.",
        )  # fmt: skip
        seconds = st.slider(
            "Time limit (s)", 5, 300, 90, step=5, key="time_limit", bind="query-params",
            help="The search ends after so many seconds with the best plan found, and says how good it is at least.",
        )  # fmt: skip
    return BalanceRequest(
        None, Objective(str(objective)), MemoryModel(str(model)), solver=str(solver), time_limit=float(seconds)
    )


def _check_size(pipeline: Pipeline) -> None:
    ops = 2 * pipeline.num_stages * pipeline.num_chunks * pipeline.num_micro_batches
    if ops > MAX_OPS:
        fitting = MAX_OPS * pipeline.num_micro_batches // ops
        raise PipelineError(
            f"num_micro_batches: this page draws up to {MAX_OPS:,} ops a step, these settings make {ops:,}; at most "
            f"{fitting:,} micro-batches fit, or use the command line."
        )
