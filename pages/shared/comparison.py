"""What other ways of placing the layers would give: even splits at once, the classic objectives one after another."""

from dataclasses import replace

import streamlit as st

from pages.shared import session
from pages.shared.cached import simulate
from pages.shared.jobs import jobs
from pages.shared.run_progress import queue_words
from pages.shared.session import Outcome
from sapp_core.charts.compare import Rival
from sapp_core.charts.compare import comparison_table as table_of
from sapp_core.domain.plan import even_split
from sapp_core.domain.profile import RecomputeMode
from sapp_core.domain.result import BalanceResult, MemoryModel, Objective, Status
from sapp_core.domain.scenario import Scenario
from sapp_core.domain.sequence_split import split_along_sequence

SECONDS = 3.0
"""For each of the classic objectives."""
_CLASSIC = (Objective.SAPP_0, Objective.SAPP_1, Objective.SAPP_2)
_FAILED = "comparison_failed"


def comparison_table(shown: Outcome) -> None:
    """The shown plan against even splits and the classic objectives; the latter are balanced now if need be."""
    asked = [_classic(shown.scenario, objective) for objective in _CLASSIC if objective is not shown.result.objective]
    if any(_answer(scenario) is None for scenario in asked):
        _balance_next(asked)
    limits = shown.scenario.request.limits(shown.scenario.pipeline.num_stages)
    rivals = [_shown(shown), *_even_splits(shown.scenario), *map(_rival, asked)]
    st.dataframe(
        table_of(rivals, limits, has_memory=shown.scenario.profile.has_memory), hide_index=True,
        alt="Step time, bubble and peak memory of this plan, of even splits, and of the classic objectives.",
    )  # fmt: skip
    st.caption(
        f"All plans are simulated under the same schedule. The classic objectives get {SECONDS:g} s each, with memory "
        "counted from the schedule itself."
    )


@st.fragment(run_every=0.5)
def _balance_next(asked: list[Scenario]) -> None:
    """One run at a time, beside the page's own."""
    name = f"{session.session_name()} comparison"
    todo = [scenario for scenario in asked if _answer(scenario) is None]
    if not todo:
        st.rerun()
    state = jobs().poll(name)
    if state is None:
        jobs().start(name, todo[0])
    elif state.ended:
        if isinstance(state.answer, BalanceResult):
            session.results().keep(state.scenario, state.answer)
        elif state.answer is not None:
            _failures()[state.scenario.key] = " ".join(state.answer.problems)
        jobs().dismiss(name)
    waiting = f" {queue_words(state.place)}" if state and state.place else ""
    st.progress(
        (len(asked) - len(todo)) / len(asked),
        text=f"Balancing with {todo[0].request.objective}: at most {SECONDS:g} s for each of {len(todo)}.{waiting}",
    )


def _classic(scenario: Scenario, objective: Objective) -> Scenario:
    request = replace(
        scenario.request, objective=objective, memory_model=MemoryModel.EXACT, solver="highs", time_limit=SECONDS
    )
    return replace(scenario, request=request)


def _answer(scenario: Scenario) -> BalanceResult | str | None:
    """A result, the sentence on why there is none, or None before either."""
    return session.results().find(scenario) or _failures().get(scenario.key)


def _failures() -> dict[str, str]:
    found: dict[str, str] = st.session_state.setdefault(_FAILED, {})
    return found


def _shown(shown: Outcome) -> Rival:
    plan = shown.result.plan
    evaluation = simulate(shown.scenario, plan).evaluation if plan else None
    return Rival(f"This plan ({shown.result.objective})", evaluation)


def _even_splits(scenario: Scenario) -> list[Rival]:
    """With every way to recompute that the schedule leaves, the least first."""
    profile = split_along_sequence(scenario.profile, scenario.pipeline.num_sequence_splits)
    rivals = []
    for mode in profile.modes:
        plan = even_split(profile, scenario.pipeline, mode)
        how = "no recomputation" if mode is RecomputeMode.NONE else f"{mode} recomputation"
        rivals.append(Rival(f"Even split, {how}", simulate(scenario, plan).evaluation))
    return rivals


def _rival(scenario: Scenario) -> Rival:
    name, answer = str(scenario.request.objective), _answer(scenario)
    if answer is None:
        return Rival(name, None, "being balanced")
    if isinstance(answer, str):
        return Rival(name, None, answer)
    if answer.plan is None:
        return Rival(name, None, "no plan fits" if answer.status is Status.INFEASIBLE else "no plan found in time")
    how = "proven optimal for its objective" if answer.status is Status.OPTIMAL else f"best of {SECONDS:g} s"
    return Rival(name, simulate(scenario, answer.plan).evaluation, how)
