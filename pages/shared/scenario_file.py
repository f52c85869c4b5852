"""Opening a saved scenario or report: every control, the plan and the result as they were."""

from dataclasses import dataclass

import streamlit as st

from pages.shared import cached, session
from pages.shared.choice import choose_saved_profile
from pages.shared.jobs import jobs
from pages.shared.link import forget_link
from pages.shared.pins import want_pins
from pages.shared.pipeline_controls import MAX_CHUNKS, MAX_MICRO_BATCHES, MAX_SPLITS, MAX_STAGES, check_size
from pages.shared.schedule_choice import forget_schedule_notice
from pages.shared.session import Outcome
from pages.shared.text import bullets, literal, shown_name
from sapp_core.domain.scenario import Scenario
from sapp_core.errors import PipelineError, SappError
from sapp_core.interchange.scenario import MAX_REPORT_BYTES, SavedScenario, scenario_from_json
from sapp_core.reopen import as_simulated, check_settings, simulated_result
from sapp_core.schedules.registry import family

LARGEST_AMOUNT = 1e9
"""What the number fields of this page take."""

_FILE, _SAID = "scenario_file", "scenario_said"
_SECONDS = (5, 300)


@dataclass(frozen=True, slots=True)
class _Said:
    """What opening the last file gave.

    Attributes:
        name: of the file.
        problems: why it was not opened.
        remarks: what was ignored in it.
    """

    name: str
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def scenario_opener() -> None:
    """The uploader, and what it has to say about the last file."""
    said: _Said | None = st.session_state.get(_SAID)
    with st.expander("Open a saved scenario or report", expanded=bool(said and said.problems)):
        st.file_uploader(
            "Scenario (JSON) or report (HTML)", type=["json", "html", "htm"], key=_FILE, on_change=_open,
            max_upload_size=MAX_REPORT_BYTES // 2**20,
            help="A file that *Save scenario* or *Report* wrote, on this page or on the command line. It brings back "
            "profile, settings, plan and result without balancing again.",
        )  # fmt: skip
        if said and said.problems:
            st.error(f"**{literal(said.name)} cannot be opened.** Nothing has changed.\n\n{bullets(said.problems)}")
        elif said and said.remarks:
            st.info(bullets(said.remarks))


def _open() -> None:
    file = st.session_state[_FILE]
    if file is None:
        st.session_state.pop(_SAID, None)
        return
    name = shown_name(file.name)
    try:
        saved = scenario_from_json(file.getvalue(), name)
        check_scenario(saved.scenario)
        shown = _outcome(saved, name)
    except SappError as error:
        st.session_state[_SAID] = _Said(name, problems=error.problems)
        return
    st.session_state[_SAID] = _Said(name, remarks=saved.warnings)
    jobs().dismiss(session.session_name())
    session.balance_begun()
    _move_controls(saved.scenario)
    if shown:
        session.set_window(None)
        session.show(shown)


def _outcome(saved: SavedScenario, source: str) -> Outcome | None:
    """The file's plan, simulated again; None where the file holds settings only."""
    scenario, result = saved.scenario, saved.result
    if saved.plan is None or (result is not None and result.plan is None):
        return Outcome(scenario, result, source=source) if result else None
    evaluation = cached.simulate(scenario, saved.plan).evaluation
    if result is None:
        return Outcome(scenario, simulated_result(evaluation, scenario), source=source)
    return Outcome(scenario, as_simulated(result, evaluation, scenario, source), source=source)


def check_scenario(scenario: Scenario) -> None:
    """Accept what the pages can show and their controls can say.

    Raises:
        PipelineError: with all that it cannot.
    """
    pipeline, request, problems = scenario.pipeline, scenario.request, []
    for name, most in (
        ("num_stages", MAX_STAGES),
        ("num_chunks", MAX_CHUNKS),
        ("num_micro_batches", MAX_MICRO_BATCHES),
        ("num_sequence_splits", MAX_SPLITS),
    ):
        if (value := getattr(pipeline, name)) > most:
            problems.append(
                f"pipeline.{name}: this page goes up to {most}, found {value:,}; use `python -m sapp_core open`."
            )
    limits = request.memory_limit_mb if isinstance(request.memory_limit_mb, tuple) else (request.memory_limit_mb or 1,)
    for name, value in (
        ("profile.constant_mb", scenario.profile.constant_mb),
        ("pipeline.p2p_time", pipeline.p2p_time),
        ("settings.memory_limit_mb", max(limits)),
    ):
        if value > LARGEST_AMOUNT:
            problems.append(f"{name}: this page goes up to {LARGEST_AMOUNT:,.0f}, found {value:,.0f}.")
    if len(request.pinned) > MAX_STAGES * MAX_CHUNKS:
        rule = f"settings.pinned: this page has at most {MAX_STAGES * MAX_CHUNKS:,} cells to pin"
        problems.append(f"{rule}, found {len(request.pinned):,} pins.")
    if problems:
        raise PipelineError(*problems)
    check_settings(scenario)
    check_size(family(scenario.schedule_name), pipeline)
    cached.schedule(scenario.schedule_name, pipeline)


def _move_controls(scenario: Scenario) -> None:
    """Every control as the scenario says; what a control cannot say shows as a difference below the title."""
    forget_link()
    forget_schedule_notice()
    choose_saved_profile(scenario.profile)
    pipeline, request, chosen = scenario.pipeline, scenario.request, family(scenario.schedule_name)
    state = st.session_state
    state["schedule"], state["schedule_before"] = chosen.name, chosen.name
    state["stages"], state["micro_batches"] = pipeline.num_stages, pipeline.num_micro_batches
    if chosen.fixed_chunks is None:
        state["interleave"] = pipeline.num_chunks
    if chosen.uses_splits:
        state["sequence_splits"] = pipeline.num_sequence_splits
    if chosen.uses_groups:
        state["group_size"], state["remainder"] = pipeline.group_size, pipeline.remainder
    if chosen.overlaps:
        state["overlap_efficiency"] = pipeline.overlap_efficiency
    if chosen.splits_backward:
        state["input_gradient_share"] = pipeline.input_gradient_share
        state["weight_gradient_memory"] = pipeline.weight_gradient_memory_share
    want_pins(request.pinned)
    state["constant_memory"], state["p2p_time"] = float(scenario.profile.constant_mb), float(pipeline.p2p_time)
    limit = request.memory_limit_mb
    state["limited"] = limit is not None
    if limit is not None:
        state["memory_limit"] = float(min(limit) if isinstance(limit, tuple) else limit)
    state["objective"], state["memory_model"], state["solver"] = request.objective, request.memory_model, request.solver
    state["time_limit"] = min(max(round(request.time_limit), _SECONDS[0]), _SECONDS[1])
