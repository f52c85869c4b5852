"""Which numbers of the profile matter for this plan, and which are worth measuring again."""

import streamlit as st

from pages.shared import cached, rebalancing
from pages.shared.cached import Simulated
from pages.shared.pictures import page_theme, plot
from pages.shared.rebalancing import Rebalancing, Trial
from pages.shared.text import literal
from sapp_core.charts.numbers import memory_text, percent_text, signed_percent_text
from sapp_core.charts.tornado import drawn, sensitivity_rows
from sapp_core.domain.plan_difference import stage_changes
from sapp_core.domain.result import BalanceResult
from sapp_core.domain.scenario import Scenario
from sapp_core.domain.sensitivity import Excess, ProfileNumber, Sensitivity
from sapp_core.sensitivity import LARGEST_SHARE, SMALLEST_SHARE, USUAL_SHARE

_TIME, _MEMORY = "Step time", "Peak memory"
_SMALL = 0.005
"""A step time that moves by less than this share is not worth another measurement."""


def sensitivity_tab(scenario: Scenario, simulated: Simulated) -> None:
    """The tornado chart, what it says in words, and the plan balanced again with other numbers."""
    share, memory = _controls(scenario)
    found = cached.reactions(scenario, simulated, share)
    st.markdown(_words(found))
    if memory and not found.memory:
        st.info("No memory number of the profile changes the highest peak.")
    else:
        plot(
            cached.tornado_chart(scenario, simulated, share, page_theme(), memory),
            "tornado",
            f"{scenario.profile.name}_{scenario.schedule_name}_sensitivity",
            _words(found).replace("*", "").replace("\\", ""),
        )
    st.caption(
        "Each number of the profile, as resolved, changes alone; plan and order of work stay as they are. "
        "A recompute time is what the mode adds to the backward time. "
        f"{_more(found, memory)}"
    )
    _again(scenario, simulated, found)
    with st.expander("All numbers"):
        shares = {
            name: st.column_config.NumberColumn(format="percent") for name in ("Change if smaller", "Change if larger")
        }
        st.dataframe(sensitivity_rows(found, scenario.profile.time_unit), hide_index=True, column_config=shares)


def _controls(scenario: Scenario) -> tuple[float, bool]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        percent = st.number_input(
            "Change of each number (%)", min_value=int(100 * SMALLEST_SHARE), max_value=int(100 * LARGEST_SHARE),
            value=int(100 * USUAL_SHARE), step=1, key="sensitivity_share", persist_state="session", width=220,
            help="How much smaller and larger each number of the profile is made: about as much as it may be wrong.",
        )  # fmt: skip
        shown = _TIME
        if scenario.profile.has_memory:
            shown = st.segmented_control(
                "Shows", [_TIME, _MEMORY], default=_TIME, required=True, key="sensitivity_shown",
                persist_state="session",
                help="Times move the step time; memory moves the highest peak of all stages, and may make the plan not "
                "fit. Hatched bars no longer fit the limit.",
            )  # fmt: skip
    return percent / 100, shown == _MEMORY


def _words(found: Sensitivity) -> str:
    """What to measure again, what not, and what the limit is close to; Markdown."""
    share = percent_text(found.share, 0)
    said = []
    if found.times:
        first = found.times[0]
        said.append(
            f"**Measure first:** {_named(first.number)}. {share} less or more moves the step by "
            f"{_change(first.lower, found.step_time)} or {_change(first.higher, found.step_time)}."
        )
        small = [reaction for reaction in found.times if reaction.swing < _SMALL * found.step_time]
        if small:
            said.append(
                f"**Not worth another measurement:** {len(small)} of {len(found.times)} times, which move it by less "
                f"than {percent_text(_SMALL)} altogether."
            )
    tight = [(reaction.number, reaction.excess) for reaction in found.memory if reaction.excess]
    if tight:
        number, excess = max(tight, key=lambda pair: pair[1].mb)
        said.append(f"**Close to the limit:** with {share} more {_named(number)} the plan {_lacks(excess)}.")
    return " ".join(said) or "No number of the profile changes anything."


def _more(found: Sensitivity, memory: bool) -> str:  # noqa: FBT001
    left = len(found.memory if memory else found.times) - len(drawn(found, memory=memory)) + len(found.idle)
    return f"{left} more move it too little to be seen, or not at all: see the table below." if left else ""


def _again(scenario: Scenario, simulated: Simulated, found: Sensitivity) -> None:
    plan = simulated.evaluation.plan
    key = (simulated.key + scenario.key, found.share)
    trials = rebalancing.trials_of(scenario, plan, found)
    if not trials:
        return
    state = rebalancing.current(key)
    st.markdown("##### How the best plan reacts", help="What it costs to keep this plan if a number is wrong.")
    if state is None or (state.ended and not state.answers):
        st.button(
            f"Balance {len(trials)} times with changed numbers", key="rebalance", icon=":material/balance:",
            on_click=rebalancing.begin, args=(key, trials),
            help="Balances again with the most important numbers smaller and larger, each alone, starting from this "
            "plan.",
        )  # fmt: skip
        st.caption(
            f"At most {rebalancing.most_seconds(trials):.0f} s on an idle server: {len(trials)} runs of up to "
            f"{rebalancing.SECONDS:.0f} s."
        )
    elif state.ended:
        _answers(state, scenario, found)
    else:
        _progress(state, scenario, found)


@st.fragment(run_every=0.5)
def _progress(state: Rebalancing, scenario: Scenario, found: Sensitivity) -> None:
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
        _answers(state, scenario, found)


def _answers(state: Rebalancing, scenario: Scenario, found: Sensitivity) -> None:
    answered = [(trial, state.answers[place]) for place, trial in enumerate(state.trials) if place in state.answers]
    # What costs most, or does not fit at all, comes first.
    answered.sort(key=lambda pair: -(regret if (regret := _regret(*pair, found)) is not None else 1.0))
    rows = [_row(trial, answer, scenario, found) for trial, answer in answered]
    st.markdown(_verdict(answered, found))
    columns = {
        "Keeping this plan costs": st.column_config.NumberColumn(
            format="percent", help="How much longer a step takes than with the plan that is best then."
        ),
        "Gap": st.column_config.NumberColumn(format="percent", help="How far the new plan can be from the best."),
    }
    st.dataframe(rows, hide_index=True, column_config=columns)


def _row(
    trial: Trial, answer: BalanceResult | None, scenario: Scenario, found: Sensitivity
) -> dict[str, str | float | int | None]:
    number = trial.reaction.number
    unit = scenario.profile.time_unit
    moved = None
    if answer is not None and answer.plan is not None and trial.scenario.request.start is not None:
        changes = stage_changes(trial.scenario.request.start, answer.plan, scenario.pipeline)
        moved = sum(max(0, change.moved) for change in changes)
    kept = _kept(trial, found)
    return {
        "Number": f"{number.layer}: {number.words}" if number.layer else number.words,
        "Change": signed_percent_text(-found.share if trial.smaller else found.share),
        f"This plan ({unit})": kept,
        f"Best plan then ({unit})": answer.step_time if answer else None,
        "Keeping this plan costs": _regret(trial, answer, found),
        "Layers moved": moved,
        "Gap": answer.gap if answer else None,
        "Remark": _remark(trial, answer),
    }


def _kept(trial: Trial, found: Sensitivity) -> float | None:
    """Step time of the present plan with the changed number; None where it does not fit."""
    reaction = trial.reaction
    if not reaction.number.quantity.is_time:
        return None if reaction.excess and not trial.smaller else found.step_time
    return reaction.lower if trial.smaller else reaction.higher


def _regret(trial: Trial, answer: BalanceResult | None, found: Sensitivity) -> float | None:
    kept = _kept(trial, found)
    if kept is None or answer is None or not answer.step_time:
        return None
    return kept / answer.step_time - 1


def _remark(trial: Trial, answer: BalanceResult | None) -> str:
    if answer is None:
        return "no answer"
    if answer.plan is None:
        return "no plan fits" if answer.infeasibility else "no plan found in time"
    if trial.reaction.excess and not trial.smaller:
        return f"this plan {_lacks(trial.reaction.excess)}"
    return ""


def _verdict(answered: list[tuple[Trial, BalanceResult | None]], found: Sensitivity) -> str:
    rated = [(regret, trial) for trial, answer in answered if (regret := _regret(trial, answer, found)) is not None]
    if not rated:
        return ""
    regret, trial = max(rated, key=lambda pair: pair[0])
    if regret < 0.0005:
        return "**The plan is robust:** with each of these numbers changed, no better plan was found than this one."
    direction = "smaller" if trial.smaller else "larger"
    return (
        f"**Worth repeating most:** {_named(trial.reaction.number)}. If it is {percent_text(found.share, 0)} "
        f"{direction} in truth, keeping this plan costs {percent_text(regret)} of the step."
    )


def _named(number: ProfileNumber) -> str:
    return f"{number.words} of {literal(number.layer)}" if number.layer else number.words


def _change(value: float, base: float) -> str:
    return signed_percent_text(value / base - 1)


def _lacks(excess: Excess) -> str:
    return f"no longer fits: stage {excess.stage} lacks {memory_text(excess.mb)}"
