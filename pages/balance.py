"""Balance: place the layers of a model on the stages of a pipeline, and see the training step that follows."""

import math

import streamlit as st

from pages.shared import my_plan, sections, session
from pages.shared.cached import EvenSplit, Simulated, even_split_of, simulate
from pages.shared.comparison import comparison_table
from pages.shared.controls import LONGEST_SECONDS, Controls, sidebar
from pages.shared.downloads import downloads, study_of
from pages.shared.guide import guide, guide_taken
from pages.shared.headline import (
    comparison,
    even_split_words,
    metrics,
    over_limit_warning,
    provenance,
)
from pages.shared.jobs import JobState, jobs
from pages.shared.keep_button import keep_button
from pages.shared.link import forget_link, link_notices
from pages.shared.measured import measured_tab
from pages.shared.pictures import adapt_page
from pages.shared.pins import forget_pin_notice
from pages.shared.run_progress import run_progress
from pages.shared.schedule_choice import forget_schedule_notice, offer_nearest
from pages.shared.sensitivity import sensitivity_tab
from pages.shared.session import Outcome
from pages.shared.text import bullets, literal
from sapp_core.charts.numbers import memory_text
from sapp_core.domain.plan import Plan
from sapp_core.domain.result import BalanceResult, Infeasibility, Status
from sapp_core.domain.scenario import Scenario
from sapp_core.schedules.registry import family
from sapp_core.words import knob_words, verdict

_TABS = (
    "Peak memory",
    "Memory over time",
    "Where time is lost",
    "Plan",
    "My plan",
    "Comparison",
    "Measured",
    "Sensitivity",
    "Search",
    "Download",
)

# A run that ends so soon is waited for: pictures on the way would only be drawn to be drawn again.
_SOON_SECONDS = 3.0
# So many times the time limit is offered where it was too short.
_MORE_TIME = 4


def page() -> None:
    """The whole page, from top to bottom."""
    adapt_page()
    head, action = st.columns([4, 1], vertical_alignment="bottom")
    head.title("Pipeline balance", anchor=False)
    head.markdown(
        "Places the layers of a model on the stages of a training pipeline and chooses what each stage recomputes, so "
        "that a step takes as little time as the memory allows."
    )
    controls = sidebar()
    link_notices()
    guide()
    action.button(
        "Balance", type="primary", key="balance", icon=":material/balance:", width="stretch",
        disabled=controls.scenario is None, on_click=_balance,
        help="Searches the plan with the shortest simulated step for the settings on the left.",
    )  # fmt: skip
    if controls.problems:
        st.error(f"**These settings cannot run.**\n\n{bullets(controls.problems)}", icon=":material/rule:")
        offer_nearest(family(st.session_state["schedule"]))
    _start_if_wanted(controls)
    running = jobs().has_job(session.session_name())
    queued = jobs().waits(session.session_name())
    if queued:
        _queue()
    elif running:
        _progress()
    if session.notices():
        st.warning(bullets(session.notices()))
    shown = session.outcome()
    if shown:
        _stale(shown, controls, running=running)
        _outcome(shown)
    elif controls.scenario and (queued or not running):
        _preview(controls.scenario)


def _balance(start: Plan | None = None) -> None:
    guide_taken()
    forget_link()
    forget_schedule_notice()
    forget_pin_notice()
    session.want_balance(start)


def _start_if_wanted(controls: Controls) -> None:
    # A script may be broken off anywhere, so a wish is only forgotten once it is fulfilled.
    if not session.balance_wanted():
        return
    if controls.scenario is not None:
        known = None if session.outcome() else session.results().find(controls.scenario)
        if known:
            session.show(Outcome(controls.scenario, known))
        else:
            session.set_notices(())
            jobs().start(session.session_name(), controls.scenario.starting_from(session.wanted_start()))
    session.balance_begun()


@st.fragment(run_every=1.0)
def _queue() -> None:
    # A room full of people who wait asks less often than those whose search has news.
    state = jobs().poll(session.session_name())
    if state is None or not state.place:
        st.rerun()
    run_progress(state)


@st.fragment(run_every=0.25)
def _progress() -> None:
    state = jobs().poll(session.session_name())
    if state is None or state.ended:
        if state is not None:
            _finish(state)
            jobs().dismiss(session.session_name())
        st.rerun()
    patient = state.seconds < _SOON_SECONDS
    if not patient and state.best and state.best.above_best is not None and session.outcome() is None:
        # Nothing is on the page yet: a rated plan now is worth more than a proven one later.
        session.show(Outcome(state.scenario.starting_from(None), state.best))
        st.rerun()
    run_progress(state)
    if not patient:
        sections.search(state.trace, state.seconds, state.scenario)


def _finish(state: JobState) -> None:
    if not isinstance(state.answer, BalanceResult):
        problems = state.answer.problems if state.answer else ()
        when = "before any plan was found" if state.seconds else "while it waited for its turn"
        session.set_notices(problems or (f"Cancelled {when}. Nothing below has changed.",))
        return
    asked = state.scenario.starting_from(None)
    session.show(Outcome(asked, state.answer, stopped_early=state.cancelled))
    if state.cancelled:
        # Shown here, but not kept for others: whoever opens the link gets a run of their own.
        session.set_notices((f"Cancelled after {state.seconds:.0f} s. Below is the best plan found until then.",))
    else:
        session.results().keep(asked, state.answer)


def _stale(shown: Outcome, controls: Controls, *, running: bool) -> None:
    if controls.scenario is None or running or controls.scenario == shown.scenario:
        return
    changes = "; ".join(literal(change) for change in shown.scenario.changes(controls.scenario))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.warning(f"**Stale:** the results below belong to earlier settings ({changes}).", icon=":material/history:")
        st.button(
            "Balance again", key="balance_again", icon=":material/balance:", on_click=_balance,
            help="Searches a plan for the settings as they are now; until then the earlier results stay.",
        )  # fmt: skip


def _outcome(shown: Outcome) -> None:
    even = even_split_of(shown.scenario)
    if shown.result.plan is None:
        _no_plan(shown, even)
        return
    simulated = simulate(shown.scenario, shown.result.plan)
    metrics(shown.scenario, simulated, even, shown.result)
    notes = (literal(note) for note in shown.result.notes)
    st.markdown(" ".join((provenance(shown), comparison(shown.scenario, even), knob_words(shown.scenario), *notes)))
    over_limit_warning(shown.scenario, simulated)
    keep_button(shown)
    _charts(shown, simulated, even)


def _no_plan(shown: Outcome, even: EvenSplit) -> None:
    reason = shown.result.infeasibility
    if shown.result.status is Status.NO_SOLUTION_IN_TIME or reason is None:
        limited = shown.scenario.request.memory_limit_mb is not None
        st.warning(
            f"{verdict(shown.result)} Whether one exists is open: the search ended before it found a plan or a proof "
            f"that there is none. Raise the time limit{' or relax the memory limit' if limited else ''}.",
            icon=":material/hourglass_disabled:",
        )
        _use_more_time(shown.scenario)
    else:
        st.error(f"**No plan fits.**\n\n{bullets(reason.sentences)}", icon=":material/block:")
        _use_smallest_limit(reason)
    st.markdown(f"Below: the {even_split_words(even)}, for orientation.")
    metrics(shown.scenario, even.simulated, even, None)
    _charts(shown, even.simulated, None)


def _use_smallest_limit(reason: Infeasibility) -> None:
    if reason.smallest_limit_mb is None:
        return
    limit = math.ceil(reason.smallest_limit_mb)

    def use() -> None:
        st.session_state["memory_limit"] = float(limit)
        _balance()

    st.button(
        f"Use {limit:,} MiB ({memory_text(limit)}) as the limit", key="use_limit", type="primary", on_click=use,
        help="The smallest limit, the same on every stage, that some plan meets.",
    )  # fmt: skip


def _use_more_time(scenario: Scenario) -> None:
    seconds = min(LONGEST_SECONDS, _MORE_TIME * math.ceil(scenario.request.time_limit))
    if seconds <= scenario.request.time_limit:
        return

    def use() -> None:
        st.session_state["time_limit"] = seconds
        _balance()

    st.button(
        f"Balance again with {seconds} s", key="use_more_time", type="primary", on_click=use,
        help="Searches again with a longer time limit; it ends earlier when the plan is proven optimal.",
    )  # fmt: skip


def _preview(scenario: Scenario) -> None:
    even = even_split_of(scenario)
    st.markdown(f"Not balanced yet. Below: the {even_split_words(even)}, what a framework would do by default.")
    metrics(scenario, even.simulated, even, None)
    over_limit_warning(scenario, even.simulated)
    sections.timeline(even.simulated)


@st.fragment
def _charts(shown: Outcome, simulated: Simulated, even: EvenSplit | None) -> None:
    my_plan.timelines(shown, simulated)
    peaks, over_time, bubbles, plan, mine, others, measured, reacting, search, download = st.tabs(
        _TABS, key="details", on_change="rerun"
    )
    if peaks.open:
        with peaks:
            sections.memory(simulated, shown.scenario, even.simulated if even else None)
    if over_time.open:
        with over_time:
            sections.memory_over_time(simulated, shown.scenario)
    if bubbles.open:
        with bubbles:
            named = ((even_split_words(even).capitalize(), even.simulated),) if even else ()
            sections.bubbles((*named, ("Even split" if even is None else "Balanced plan", simulated)))
    if plan.open:
        with plan:
            sections.plan(simulated)
    if mine.open:
        with mine:
            my_plan.tab(shown, simulated, _balance)
    if others.open:
        with others:
            comparison_table(shown)
    if measured.open:
        with measured:
            measured_tab(simulated)
    if reacting.open:
        with reacting:
            sensitivity_tab(shown.scenario, simulated, shown.result.lower_bound)
    if search.open:
        with search:
            sections.search(shown.result.trace, shown.result.seconds, shown.scenario)
    if download.open:
        with download:
            downloads(study_of(shown, simulated, even or even_split_of(shown.scenario)))


page()
