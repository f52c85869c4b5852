"""The plan balanced again for other numbers of the profile, a few short runs beside each other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

import streamlit as st

from pages.shared.jobs import jobs
from pages.shared.session import session_name
from sapp_core.advice import NOTHING_LOST
from sapp_core.domain.plan import Plan
from sapp_core.domain.result import BalanceResult
from sapp_core.domain.scenario import Scenario
from sapp_core.domain.sensitivity import Reaction, Sensitivity
from sapp_core.schedules.zero_bubble import PLANNED
from sapp_core.sensitivity import changed

SECONDS = 4.0
"""Of each run at most: a search that begins at a good plan rarely needs more."""
MOST_TIMES, MOST_MEMORY = 4, 2
"""The most important numbers of each sort; the others matter less by definition."""
_AT_A_TIME = 2

_STATE = "rebalancing"


@dataclass(frozen=True, slots=True)
class Trial:
    """One changed number, or none, and what is asked with it.

    Attributes:
        reaction: of the plan, whose number changes; None = the profile stays as it is.
        smaller: whether the number is made smaller.
        scenario: with what changes; the search begins at the plan.
    """

    reaction: Reaction | None
    smaller: bool
    scenario: Scenario


@dataclass(slots=True)
class Rebalancing:
    """The trials of a session.

    Attributes:
        key: of the plan and the share they belong to.
        trials: all of them.
        answers: by place in `trials`, of those that have ended; None = without an answer.
        ended: whether nothing is left to wait for.
    """

    key: tuple[str, float]
    trials: tuple[Trial, ...]
    answers: dict[int, BalanceResult | None]
    ended: bool = False


def trials_of(scenario: Scenario, plan: Plan, found: Sensitivity, lower_bound: float | None) -> tuple[Trial, ...]:
    """Smaller and larger of the numbers that matter most; memory only where it is limited.

    Where the plan is not proven best, the profile as it is comes first: what is gained then, no number is to blame for.

    Args:
        scenario: whose numbers change.
        plan: to begin at.
        found: its reactions.
        lower_bound: proven for every plan of the scenario; None when nothing is.
    """
    limited = scenario.request.memory_limit_mb is not None
    chosen = (*found.times[:MOST_TIMES], *(found.memory[:MOST_MEMORY] if limited else ()))
    asked = replace(scenario, request=replace(scenario.request, time_limit=SECONDS, threads=1, start=plan))
    # The bound of a schedule that plans its order for the times is about one order.
    bound = None if scenario.schedule_name in PLANNED else lower_bound
    best = bound is not None and found.step_time < (1 + NOTHING_LOST) * bound
    own = () if best or not chosen else (Trial(None, smaller=False, scenario=asked),)
    return own + tuple(
        Trial(reaction, smaller, changed(asked, reaction.number, 1 - found.share if smaller else 1 + found.share))
        for reaction in chosen
        for smaller in (True, False)
    )


def most_seconds(trials: Sequence[Trial]) -> float:
    """How long all trials take at most, alone on the server."""
    return ceil(len(trials) / min(_AT_A_TIME, jobs().turns.most)) * SECONDS


def begin(key: tuple[str, float], trials: tuple[Trial, ...]) -> None:
    """Start over with these trials (for callbacks)."""
    stop()
    st.session_state[_STATE] = Rebalancing(key, trials, {})


def stop() -> None:
    """End what still runs; answers stay (for callbacks)."""
    state: Rebalancing | None = st.session_state.get(_STATE)
    if state is None or state.ended:
        return
    for place in range(len(state.trials)):
        jobs().dismiss(_name(place))
    state.ended = True


def current(key: tuple[str, float]) -> Rebalancing | None:
    """The trials of this plan, None without; those of another plan are ended and forgotten."""
    state: Rebalancing | None = st.session_state.get(_STATE)
    if state is not None and state.key != key:
        stop()
        del st.session_state[_STATE]
        return None
    return state


def advance(state: Rebalancing) -> None:
    """Take the answers that are there and start what is next."""
    runs = 0
    for place, trial in enumerate(state.trials):
        if place in state.answers:
            continue
        found = jobs().poll(_name(place))
        if found is not None and found.ended:
            state.answers[place] = found.answer if isinstance(found.answer, BalanceResult) else None
            jobs().dismiss(_name(place))
        elif found is not None:
            runs += 1
        elif runs < _AT_A_TIME:
            jobs().start(_name(place), trial.scenario)
            runs += 1
    state.ended = len(state.answers) == len(state.trials)


def _name(place: int) -> str:
    return f"{session_name()} trial {place}"
