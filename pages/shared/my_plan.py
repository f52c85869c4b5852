"""My plan: one that the user brings or edits, simulated beside the plan that is shown."""

from collections.abc import Callable

import streamlit as st

from pages.shared import my_plan_state, sections
from pages.shared.cached import Simulated, even_split_of, simulate
from pages.shared.headline import over_limit_warning, rival_metrics
from pages.shared.my_plan_sources import bring
from pages.shared.my_plan_state import Version
from pages.shared.plan_editor import plan_editor, take_edits
from pages.shared.sections import View
from pages.shared.session import BALANCE_VIEW, Outcome
from pages.shared.text import bullets, literal
from sapp_core.charts.plan_difference import difference_sentences, difference_table
from sapp_core.domain.plan import Plan

_DRAWN = "my_plan_drawn"


def timelines(shown: Outcome, simulated: Simulated) -> None:
    """The timeline of the shown plan, and on request that of my plan below it on the same time axis."""
    before = _mine(shown, simulated)
    take_edits(simulated.evaluation, (before or simulated).evaluation.plan)
    mine = _mine(shown, simulated)
    if mine is None or not st.session_state.get(_DRAWN):
        sections.timeline(simulated)
        return
    view = View(BALANCE_VIEW, max(simulated.evaluation.step_time, mine.evaluation.step_time))
    st.markdown(f"**{_name(shown)}**")
    sections.timeline(simulated, view)
    st.markdown("**My plan**")
    sections.timeline(mine, view, "my_timeline")


def tab(shown: Outcome, simulated: Simulated, balance: Callable[[Plan], None]) -> None:
    """Everything about my plan.

    Args:
        shown: what the page shows.
        simulated: its plan, or the even split where it has none.
        balance: starts a run whose search begins at a plan.
    """
    profile, pipeline = simulated.evaluation.profile, simulated.evaluation.schedule.pipeline
    versions = my_plan_state.my_plan(profile, pipeline)
    mine = _mine(shown, simulated)
    name = _name(shown).lower()
    _introduction(versions[-1] if versions else None, name)
    if aside := my_plan_state.why_aside(profile, pipeline):
        st.warning(
            f"**My plan is put aside:** it does not fit these settings, and comes back with those it was made for.\n\n"
            f"{bullets(aside)}",
            icon=":material/inventory_2:",
        )
    _buttons(shown, simulated, versions[-1].plan if versions else None, balance)
    bring(simulated.evaluation)
    # A table with few columns leaves room beside it; nothing above it may move while somebody types.
    if pipeline.num_chunks == 1 and len(profile.body) == 1:
        table, differences = st.columns([3, 2])
        numbers = st.container()
    else:
        table, numbers, differences = st.container(), st.container(), st.container()
    with table:
        _table(simulated, mine)
    if mine is None:
        return
    with numbers:
        rival_metrics(shown.scenario, mine, simulated, name)
        over_limit_warning(shown.scenario, mine)
    with differences:
        _differences(simulated, mine, name)
    sections.memory(mine, shown.scenario, simulated, _name(shown), "my_memory")


def _mine(shown: Outcome, simulated: Simulated) -> Simulated | None:
    evaluation = simulated.evaluation
    versions = my_plan_state.my_plan(evaluation.profile, evaluation.schedule.pipeline)
    return simulate(shown.scenario, versions[-1].plan) if versions else None


def _name(shown: Outcome) -> str:
    return "Balanced plan" if shown.result.plan else "Even split"


def _introduction(version: Version | None, name: str) -> None:
    if version is None:
        st.markdown(
            f"A plan of your own beside the {name}: edit the numbers below, or bring one that you have. It is "
            "simulated at once under the same schedule."
        )
        return
    remarks = " ".join(map(literal, version.remarks))
    st.markdown(f"**My plan** ({literal(version.origin)}), simulated beside the {name}. {remarks}")


def _buttons(shown: Outcome, simulated: Simulated, plan: Plan | None, balance: Callable[[Plan], None]) -> None:
    evaluation = simulated.evaluation
    profile, pipeline = evaluation.profile, evaluation.schedule.pipeline
    even = even_split_of(shown.scenario).simulated.evaluation.plan

    def take(chosen: Plan, origin: str) -> None:
        my_plan_state.take(Version(chosen, origin), profile, pipeline)

    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(
            "Balance from here", key="balance_from_here", icon=":material/balance:", disabled=plan is None,
            on_click=balance, args=(plan,),
            help="Starts the search at my plan. Numbers under *Keep* stay what they are.",
        ):  # fmt: skip
            st.rerun()  # The run and its progress belong to the whole page.
        st.button(
            "Undo", key="my_plan_undo", icon=":material/undo:", on_click=my_plan_state.undo, args=(profile, pipeline),
            disabled=plan is None and my_plan_state.draft(evaluation.plan) is None,
            help="Takes the last change back.",
        )  # fmt: skip
        st.button(
            f"Reset to the {_name(shown).lower()}", key="my_plan_reset", icon=":material/restart_alt:",
            on_click=take, args=(evaluation.plan, f"the {_name(shown).lower()}"),
            help="Starts over from the plan shown above. *Undo* brings my plan back.",
        )  # fmt: skip
        st.button(
            "Even split", key="my_plan_even", icon=":material/splitscreen:", on_click=take, args=(even, "even split"),
            help="What a framework would do by default becomes my plan.",
        )  # fmt: skip
        st.toggle(
            "Draw its timeline", key=_DRAWN, disabled=plan is None, persist_state="session",
            on_change="rerun", help="Below the timeline above, on the same time axis.",
        )  # fmt: skip


def _table(simulated: Simulated, mine: Simulated | None) -> None:
    evaluation = (mine or simulated).evaluation
    st.markdown("**Layers of each cell**, in model order")
    plan_editor(evaluation, evaluation.plan)
    if typed := my_plan_state.draft(evaluation.plan):
        st.warning(
            f"**No plan yet.** The numbers above keep what you typed; the last whole plan stays simulated.\n\n"
            f"{bullets(typed.problems)}",
            icon=":material/edit:",
        )


def _differences(simulated: Simulated, mine: Simulated, name: str) -> None:
    pipeline = mine.evaluation.schedule.pipeline
    plans = simulated.evaluation.plan, mine.evaluation.plan
    sentences = difference_sentences(*plans, pipeline)
    cells = difference_table(*plans, pipeline)
    st.markdown(f"**What differs** ({name} → my plan)")
    if not cells["Stage"]:
        st.markdown(f"Nothing: my plan is the {name}.")
        return
    st.markdown(bullets(sentences) if sentences else "Every stage holds and recomputes the same number of layers.")
    if pipeline.num_chunks > 1:
        st.dataframe(cells, hide_index=True, alt="Layers and recomputation of each cell that differs.")
