"""A point of a sweep, opened on the Balance page: its settings go into that page's controls."""

from dataclasses import replace

import streamlit as st

from pages.shared import session
from pages.shared.link import forget_link
from pages.shared.pipeline_controls import MAX_CHUNKS, MAX_MICRO_BATCHES, MAX_SPLITS, MAX_STAGES
from pages.shared.schedule_choice import forget_schedule_notice
from pages.shared.session import Outcome
from pages.shared.sweep_jobs import Swept
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.scenario import Scenario
from sapp_core.domain.sweep import PointResult, SweepPoint
from sapp_core.schedules.registry import family

_WANTED = "sweep_opening"
_REFUSAL = "sweep_opening_refused"


def want(swept: Swept, result: PointResult) -> None:
    """For callbacks: move the controls of Balance to a point; the page goes there in its next run."""
    st.session_state[_REFUSAL] = _refusal(result.point)
    if st.session_state[_REFUSAL]:
        return
    scenario = swept.grid.scenario(swept.profile, result.point)
    settings = _settings(scenario)
    st.session_state.update(settings)
    # What was chosen before has nothing to do with this choice.
    st.session_state["schedule_before"] = scenario.schedule_name
    forget_link()
    forget_schedule_notice()
    session.set_window(None)
    if result.balance is None:
        session.forget_outcome()
        session.want_balance()
    else:
        st.session_state["time_limit"] = settings["time_limit"] = int(scenario.request.time_limit)
        # That page's own runs use more threads; the question is the same.
        asked = replace(scenario.request, threads=BalanceRequest(None).threads)
        session.show(Outcome(replace(scenario, request=asked), result.balance))
        session.balance_begun()
    st.session_state[_WANTED] = {key: _in_link(value) for key, value in settings.items() if value is not None}


def go_if_wanted() -> None:
    """In the run after `want`: to the Balance page."""
    if link := st.session_state.pop(_WANTED, None):
        # Streamlit refuses to leave with an empty link while widgets of this page stand in the address.
        st.switch_page("pages/balance.py", query_params=link)


def refusal() -> tuple[str, ...]:
    """Why the point that was clicked last cannot be opened; empty when it could."""
    found: tuple[str, ...] = st.session_state.get(_REFUSAL, ())
    return found


def _settings(scenario: Scenario) -> dict[str, object]:
    """Key of each control of Balance → its value."""
    pipeline, limit, chosen = scenario.pipeline, scenario.request.memory_limit_mb, family(scenario.schedule_name)
    settings: dict[str, object] = {
        "schedule": scenario.schedule_name,
        "stages": pipeline.num_stages,
        "micro_batches": pipeline.num_micro_batches,
        "limited": limit is not None,
        "constant_memory": float(scenario.profile.constant_mb),
        "p2p_time": float(pipeline.p2p_time),
        "objective": str(scenario.request.objective),
    }
    if isinstance(limit, float):
        settings["memory_limit"] = limit
    if chosen.fixed_chunks is None:
        settings["interleave"] = pipeline.num_chunks
    if chosen.uses_splits:
        settings["sequence_splits"] = pipeline.num_sequence_splits
    if chosen.uses_groups:
        settings["group_size"] = None
    return settings


def _in_link(value: object) -> str:
    return (
        str(value).lower() if isinstance(value, bool) else f"{value:.12g}" if isinstance(value, float) else str(value)
    )


def _refusal(point: SweepPoint) -> tuple[str, ...]:
    if point.problems:
        return point.problems
    most = (
        ("num_stages", point.num_stages, MAX_STAGES),
        ("num_chunks", point.num_chunks, MAX_CHUNKS),
        ("num_micro_batches", point.num_micro_batches or 0, MAX_MICRO_BATCHES),
        ("num_sequence_splits", point.num_sequence_splits, MAX_SPLITS),
    )
    return tuple(
        f"{name}: the Balance page goes up to {largest}, found {value}; use the command line."
        for name, value, largest in most
        if value > largest
    )
