"""The sidebar: widgets to a scenario. The URL holds every value but an uploaded file."""

from dataclasses import dataclass, replace

import streamlit as st

from pages.shared.amounts import amount
from pages.shared.cached import schedule
from pages.shared.choice import choose_profile, limit_default
from pages.shared.link import remember_link
from pages.shared.pins import pin_control, pins_from_text
from pages.shared.pipeline_controls import (
    check_size,
    chunks_and_splits,
    groups,
    input_gradient,
    overlap,
    stages_and_micro_batches,
    weight_gradient_memory,
)
from pages.shared.scenario_file import scenario_opener
from pages.shared.schedule_choice import choose_schedule, summary
from pages.shared.text import literal
from pages.shared.training_sizes import with_training_sizes
from sapp_core.balancer.pins import pin_problems
from sapp_core.balancer.sapp_memory import KNOWN
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import MemoryModel, Objective
from sapp_core.domain.scenario import Scenario
from sapp_core.domain.sequence_split import split_along_sequence
from sapp_core.errors import PipelineError, SappError
from sapp_core.schedules.registry import ScheduleFamily

_SOLVERS = ("highs", "cbc")
LONGEST_SECONDS = 300
"""Time limit of a search that is begun here, s."""


@dataclass(frozen=True, slots=True)
class Controls:
    """What the sidebar says: a scenario, or the sentences on why there is none."""

    scenario: Scenario | None
    problems: tuple[str, ...] = ()


def sidebar() -> Controls:
    """Draw all controls and read them."""
    remember_link()
    with st.sidebar:
        profile = choose_profile("balance")
        scenario_opener()
        chosen = choose_schedule()
        with st.container(key="schedule_summary"):
            summary(chosen)
        stages, micro_batches = stages_and_micro_batches()
        chunks, splits = chunks_and_splits(chosen)
        profile = with_training_sizes(profile, splits)
        limit = _memory_limit(profile)
        efficiency, share, kept = overlap(chosen), input_gradient(chosen), weight_gradient_memory(chosen)
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
            group_size, remainder = groups(chosen, stages)
        pins = pin_control(stages, chunks)
        options = _solver_options(chosen)
    try:
        pipeline = Pipeline(
            num_stages=stages, num_micro_batches=micro_batches, num_chunks=chunks, num_sequence_splits=splits,
            placement=chosen.placement, group_size=group_size, remainder=remainder, p2p_time=p2p_time,
            overlap_efficiency=efficiency, input_gradient_share=share, weight_gradient_memory_share=kept,
        )  # fmt: skip
        check_size(chosen, pipeline)
        request = replace(options, memory_limit_mb=limit, pinned=pins_from_text(pins))
        if problems := pin_problems(request.pinned, split_along_sequence(profile, splits), pipeline):
            raise PipelineError(*problems)
        scenario = Scenario(replace(profile, constant_mb=constant), chosen.name, pipeline, request)
        schedule(chosen.name, pipeline)
    except SappError as error:
        return Controls(None, error.problems)
    return Controls(scenario)


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


def _solver_options(chosen: ScheduleFamily) -> BalanceRequest:
    model, solver = MemoryModel.EXACT, _SOLVERS[0]
    with st.expander("Solver"):
        objective = Objective(
            str(
                st.selectbox(
                    "Objective", list(Objective), key="objective", bind="query-params",
                    help="*exact*: the simulated step time itself, with a proof of how far it can be from the best. "
                    "*sapp-0*, *sapp-1*, *sapp-2*: classic stand-ins for the step time, from coarse to fine.",
                )
            )
        )  # fmt: skip
        if objective is not Objective.EXACT:
            if chosen.name in KNOWN:
                model = MemoryModel(
                    str(
                        st.selectbox(
                            "Memory model", list(MemoryModel), key="memory_model", bind="query-params",
                            persist_state="session",
                            help="*exact*: activations in flight are counted from the schedule itself. *sapp*: SAPP's "
                            "closed formulas, for comparison with it; they can be off.",
                        )
                    )
                )  # fmt: skip
            else:
                st.caption("Memory is counted from the schedule itself: SAPP has no closed formulas for this one.")
            solver = str(
                st.selectbox(
                    "Solver", _SOLVERS, key="solver", bind="query-params", persist_state="session",
                    help="*highs* is usually faster; *cbc* is an independent second opinion.",
                )
            )  # fmt: skip
        seconds = st.slider(
            "Time limit (s)", 5, LONGEST_SECONDS, 20, step=5, key="time_limit", bind="query-params",
            help="The search ends after so many seconds with the best plan found, and says how good it is at least.",
        )  # fmt: skip
    return BalanceRequest(None, objective, model, solver=solver, time_limit=float(seconds))
