"""Scenarios kept for comparison by a session; its link brings them back after a reload."""

from collections.abc import Callable

import streamlit as st

from pages.shared import kept, session
from pages.shared.cached import simulate
from pages.shared.kept import Shelf
from pages.shared.kept_link import from_link, to_link
from pages.shared.scenario_file import check_scenario
from sapp_core.domain.plan import Plan, even_split
from sapp_core.domain.result import BalanceResult
from sapp_core.domain.scenario import Scenario
from sapp_core.errors import SappError
from sapp_core.interchange.comparison import NamedScenario, comparison_from_json
from sapp_core.interchange.scenario import SavedScenario
from sapp_core.reopen import as_simulated

PARAMETER = "kept"
"""Of the link."""

_SHELF, _LINK, _NOTICES = "kept_scenarios", "kept_scenarios_link", "kept_notices"


def shelf() -> Shelf:
    """What is kept."""
    found: Shelf = st.session_state.get(_SHELF, ())
    return found


def notices() -> tuple[str, ...]:
    """Sentences on the last thing that was asked for and could not be done."""
    found: tuple[str, ...] = st.session_state.get(_NOTICES, ())
    return found


def change(do: Callable[[Shelf], Shelf]) -> None:
    """Keep another list from now on (for buttons)."""
    st.session_state[_NOTICES] = ()
    try:
        st.session_state[_SHELF] = do(shelf())
    except SappError as error:
        st.session_state[_NOTICES] = error.problems


def keep(scenario: Scenario, plan: Plan, result: BalanceResult | None, name: str = "") -> None:
    """Keep one more (for buttons)."""
    change(lambda before: kept.add(before, scenario, plan, result, name))


def is_kept(scenario: Scenario, plan: Plan) -> bool:
    """Whether just this is kept already."""
    return any((entry.scenario, entry.plan) == (scenario, plan) for entry in shelf())


def follow_link() -> None:
    """Once a run, before any page: the first time take what the link says, then let the link say what is kept."""
    if _SHELF not in st.session_state:
        st.session_state[_SHELF] = ()
        text = st.query_params.get(PARAMETER)
        if text:
            change(lambda before: _with_link(before, text))
    text = link()
    if text:
        if st.query_params.get(PARAMETER) != text:
            st.query_params[PARAMETER] = text
    elif PARAMETER in st.query_params:
        del st.query_params[PARAMETER]


def link() -> str | None:
    """What the link says of the kept scenarios; None where it cannot hold them, empty where there are none."""
    if not shelf():
        return ""
    before: tuple[Shelf, str | None] | None = st.session_state.get(_LINK)
    if before is None or before[0] is not shelf():
        before = st.session_state[_LINK] = shelf(), to_link(shelf())
    return before[1]


def add_files(files: list[tuple[str, bytes]]) -> None:
    """Keep the scenarios of some files (for uploaders); notices say what was not kept or was ignored."""
    said: list[str] = []
    for name, data in files:
        try:
            read = comparison_from_json(data, name)
            stem = name.rpartition(".")[0] or name
            st.session_state[_SHELF] = _with_scenarios(shelf(), read.scenarios, stem, name)
        except SappError as error:
            said += [f"{name} was not added: {problem}" for problem in error.problems]
        else:
            said += [f"{name}: {warning}" for warning in read.warnings]
    st.session_state[_NOTICES] = tuple(said)


def as_named(entries: Shelf) -> tuple[NamedScenario, ...]:
    """What files hold of them."""
    return tuple(
        NamedScenario(entry.name, SavedScenario(entry.scenario, entry.plan, entry.result), entry.is_shown)
        for entry in entries
    )


def _with_link(before: Shelf, text: str) -> Shelf:
    try:
        return _with_scenarios(before, from_link(text).scenarios, "", "the link")
    except SappError as error:
        raise SappError("The scenarios of this link were not added.", *error.problems) from error


def _with_scenarios(before: Shelf, scenarios: tuple[NamedScenario, ...], name: str, source: str) -> Shelf:
    """With the scenarios of a file or link, simulated again; all of them or none.

    Raises:
        SappError: one of them cannot be shown, or there are too many.
    """
    for entry in scenarios:
        scenario, plan, result = entry.saved.scenario, entry.saved.plan, entry.saved.result
        check_scenario(scenario)
        if plan is None:
            plan = even_split(scenario.profile, scenario.pipeline)
        evaluation = simulate(scenario, plan).evaluation
        if result is not None and result.plan is not None:
            result = as_simulated(result, evaluation, scenario, source)
        else:
            known = session.results().find(scenario.starting_from(None))
            result = known if known and known.plan == plan else None
        before = kept.add(before, scenario, plan, result, entry.name or name, is_shown=entry.is_shown)
    return before
