"""How the best plan reacts: balanced again with changed numbers, and what it costs to keep the present one."""

from math import inf, isinf

import streamlit as st

from pages.shared import rebalancing
from pages.shared.cached import Simulated
from pages.shared.rebalancing import Rebalancing, Trial
from sapp_core.advice import lacks
from sapp_core.charts.numbers import signed_percent_text
from sapp_core.domain.result import BalanceResult
from sapp_core.domain.scenario import Scenario
from sapp_core.domain.sensitivity import ProfileNumber, Sensitivity
from sapp_core.regret import Regret, regret

Row = dict[str, str | float | int | None]


def balanced_again(scenario: Scenario, simulated: Simulated, found: Sensitivity, lower_bound: float | None) -> None:
    """The button with its estimate, then progress, then the answers; nothing where no number matters.

    Args:
        scenario: whose numbers change.
        simulated: the present plan.
        found: its reactions.
        lower_bound: proven for every plan of the scenario; None when nothing is.
    """
    key = _key(scenario, simulated, found)
    trials = rebalancing.trials_of(scenario, simulated.evaluation.plan, found, lower_bound)
    if not trials:
        return
    state = rebalancing.current(key)
    st.markdown("##### How the best plan reacts", help="What it costs to keep this plan if a number is wrong.")
    if state is None or (state.ended and not state.answers):
        st.button(
            f"Balance again {len(trials)} times", key="rebalance", icon=":material/balance:",
            on_click=rebalancing.begin, args=(key, trials),
            help="Balances again with the most important numbers smaller and larger, each alone, starting from this "
            "plan; where it is not proven best, also with the profile as it is, to tell what it lacks by itself.",
        )  # fmt: skip
        st.caption(
            f"At most {rebalancing.most_seconds(trials):.0f} s on an idle server: {len(trials)} runs of up to "
            f"{rebalancing.SECONDS:.0f} s."
        )
    elif state.ended:
        _answers(state, scenario, simulated, found)
    else:
        _progress(state, scenario, simulated, found)


def known_regrets(scenario: Scenario, simulated: Simulated, found: Sensitivity) -> list[Regret]:
    """What keeping the plan costs, as far as runs that have ended say; arguments as in `balanced_again`."""
    state = rebalancing.current(_key(scenario, simulated, found))
    # What the plan lacks by itself has to be known before a number can be blamed.
    if state is None or (state.trials[0].reaction is None and 0 not in state.answers):
        return []
    return [cost for *_, cost in _rated(state, scenario, simulated, found)]


def _key(scenario: Scenario, simulated: Simulated, found: Sensitivity) -> tuple[str, float]:
    return simulated.key + scenario.key, found.share


def _rated(
    state: Rebalancing, scenario: Scenario, simulated: Simulated, found: Sensitivity
) -> list[tuple[Trial, BalanceResult | None, Regret]]:
    """The trials that have ended, each with its answer and what it says about keeping the plan."""
    plan, pipeline = simulated.evaluation.plan, scenario.pipeline
    ended = [(trial, state.answers[place]) for place, trial in enumerate(state.trials) if place in state.answers]
    return [
        (trial, answer, regret(found, trial.reaction, plan, pipeline, answer, smaller=trial.smaller))
        for trial, answer in ended
    ]


@st.fragment(run_every=0.5)
def _progress(state: Rebalancing, scenario: Scenario, simulated: Simulated, found: Sensitivity) -> None:
    rebalancing.advance(state)
    if state.ended:
        st.rerun()
    bar, cancel = st.columns([5, 1], vertical_alignment="center")
    bar.progress(len(state.answers) / len(state.trials), text=f"{len(state.answers)} of {len(state.trials)} balanced")
    cancel.button(
        "Cancel", key="rebalance_cancel", icon=":material/stop_circle:", width="stretch", on_click=rebalancing.stop,
        help="Ends these runs; answers that are there stay.",
    )  # fmt: skip
    if state.answers:
        _answers(state, scenario, simulated, found)


def _answers(state: Rebalancing, scenario: Scenario, simulated: Simulated, found: Sensitivity) -> None:
    answered = _rated(state, scenario, simulated, found)
    # The profile as it is comes first, then what costs most or does not fit at all; what nothing is known of last.
    answered.sort(
        key=lambda row: (row[0].reaction is None, -inf if row[2].share is None else row[2].share), reverse=True
    )
    columns = {
        "Keeping this plan costs": st.column_config.NumberColumn(
            format="percent", help="How much longer a step takes than with the best plan found then."
        ),
        "Layers moved": st.column_config.NumberColumn(help="Layers that the best plan has on another stage."),
        "Modes changed": st.column_config.NumberColumn(
            help="Layers that stay on their stage and are recomputed otherwise."
        ),
        "Gap": st.column_config.NumberColumn(format="percent", help="How far the new plan can be from the best."),
    }
    rows = [_row(trial, answer, cost, scenario, found) for trial, answer, cost in answered]
    st.dataframe(rows, hide_index=True, column_config=columns)


def _row(trial: Trial, answer: BalanceResult | None, cost: Regret, scenario: Scenario, found: Sensitivity) -> Row:
    unit = scenario.profile.time_unit
    return {
        "Number": _named(cost.number),
        "Change": "" if cost.number is None else signed_percent_text(-found.share if cost.smaller else found.share),
        f"This plan ({unit})": cost.kept,
        f"Best plan then ({unit})": cost.best,
        "Keeping this plan costs": None if cost.share is None or isinf(cost.share) else cost.share,
        "Layers moved": cost.moved,
        "Modes changed": cost.recomputed,
        "Gap": answer.gap if answer else None,
        "Remark": _remark(trial, answer, found),
    }


def _named(number: ProfileNumber | None) -> str:
    if number is None:
        return "none, the profile as it is"
    return f"{number.layer}: {number.words}" if number.layer else number.words


def _remark(trial: Trial, answer: BalanceResult | None, found: Sensitivity) -> str:
    if answer is None:
        return "no answer"
    if answer.plan is None:
        return "no plan fits" if answer.infeasibility else "no plan found in time"
    if found.excess:
        return f"does not fit as it is: {lacks(found.excess)}"
    if trial.reaction and trial.reaction.excess and not trial.smaller:
        return f"no longer fits: {lacks(trial.reaction.excess)}"
    return ""
