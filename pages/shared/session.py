"""What a session remembers from one rerun to the next, and what all sessions share about results."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from uuid import uuid4

import streamlit as st

from sapp_core.domain.plan import Plan
from sapp_core.domain.result import BalanceResult
from sapp_core.domain.scenario import Scenario

BALANCE_VIEW, SCHEDULES_VIEW, COMPARE_VIEW = "time_window", "order_window", "compare_window"
"""Views: charts that share one time window."""

_OUTCOME = "outcome"
_SESSION = "session"
_NOTICE = "notice"
_WANTED = "balance_wanted"
_START = "balance_start"
_KEPT_RESULTS = 64


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished run and the scenario it answers.

    Attributes:
        scenario: what was asked.
        result: the answer.
        stopped_early: whether somebody cancelled the run; the answer is the best plan until then.
        source: name of the scenario file it was opened from; empty for a run of this page.
    """

    scenario: Scenario
    result: BalanceResult
    stopped_early: bool = False
    source: str = ""

    @property
    def was_balanced(self) -> bool:
        """Whether a run found the plan; a scenario file may hold one that was only simulated."""
        return bool(self.result.solver)


class Results:
    """Results by scenario digest, the latest of each, so that a copied link shows the very same plan."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, BalanceResult] = OrderedDict()

    def keep(self, scenario: Scenario, result: BalanceResult) -> None:
        """Remember a result; the oldest one is forgotten when there are too many."""
        with self._lock:
            self._kept[scenario.key] = result
            self._kept.move_to_end(scenario.key)
            while len(self._kept) > _KEPT_RESULTS:
                self._kept.popitem(last=False)

    def find(self, scenario: Scenario) -> BalanceResult | None:
        """The result of an equal scenario, if one was balanced here."""
        with self._lock:
            return self._kept.get(scenario.key)


@st.cache_resource(show_spinner=False)
def results() -> Results:
    """The results of this server."""
    return Results()


def session_name() -> str:
    """A name of this session that no other session has."""
    return str(st.session_state.setdefault(_SESSION, uuid4().hex))


def outcome() -> Outcome | None:
    """What this session shows."""
    found: Outcome | None = st.session_state.get(_OUTCOME)
    return found


def show(shown: Outcome) -> None:
    """Show a run's answer from now on."""
    st.session_state[_OUTCOME] = shown
    st.session_state.pop(_NOTICE, None)


def forget_outcome() -> None:
    """Show nothing until the next answer."""
    st.session_state.pop(_OUTCOME, None)


def window(view: str = BALANCE_VIEW) -> tuple[float, float] | None:
    """Time window of the charts of a view, None = the whole step."""
    found: tuple[float, float] | None = st.session_state.get(view)
    return found


def set_window(chosen: tuple[float, float] | None, view: str = BALANCE_VIEW) -> None:
    """Choose the time window of the charts of a view."""
    st.session_state[view] = chosen


def notices() -> tuple[str, ...]:
    """Sentences to show until the next result."""
    found: tuple[str, ...] = st.session_state.get(_NOTICE, ())
    return found


def set_notices(sentences: tuple[str, ...]) -> None:
    """Say something until the next result."""
    st.session_state[_NOTICE] = sentences


def want_balance(start: Plan | None = None) -> None:
    """Ask for a run with the settings of the next rerun (for buttons), and say where its search begins."""
    st.session_state[_WANTED] = True
    st.session_state[_START] = start


def balance_wanted() -> bool:
    """Whether a run was asked for and not begun; opening the page asks for one."""
    return bool(st.session_state.get(_WANTED, True))


def wanted_start() -> Plan | None:
    """Where the search of the run that was asked for begins; None = as it likes."""
    found: Plan | None = st.session_state.get(_START)
    return found


def balance_begun() -> None:
    """What was asked for has been done."""
    st.session_state[_WANTED] = False
