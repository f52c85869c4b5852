"""The kept scenarios as a list to rename, reorder, show, hide, delete, and to add to."""

import streamlit as st

from pages.shared import kept, my_plan_state, saved, session
from pages.shared.cached import even_split_of
from pages.shared.headline import even_split_words
from pages.shared.kept import MOST_KEPT, MOST_SHOWN, Kept, default_name
from pages.shared.text import literal, shown_name
from sapp_core.domain.plan import Plan
from sapp_core.domain.result import BalanceResult
from sapp_core.domain.scenario import Scenario
from sapp_core.domain.sequence_split import split_along_sequence
from sapp_core.interchange.comparison import LONGEST_NAME
from sapp_core.interchange.scenario import MAX_REPORT_BYTES

_ROUND = "kept_files_round"

Offer = tuple[str, Scenario, Plan, BalanceResult | None, str]
"""(what it is, scenario, plan, result, name)."""


def kept_list() -> None:
    """A row for each kept scenario."""
    entries = saved.shelf()
    full = kept.num_shown(entries) >= MOST_SHOWN
    with st.expander(f"Kept scenarios ({len(entries)} of at most {MOST_KEPT})", expanded=True):
        for place, entry in enumerate(entries):
            _row(entry, place, len(entries), full=full)
        if full and len(entries) > MOST_SHOWN:
            st.caption(f"{MOST_SHOWN} are compared at a time; take the tick off one to show another.")
        add_controls()


def add_controls() -> None:
    """What can be kept with one click, and files."""
    with st.container(horizontal=True, vertical_alignment="center"):
        for number, (what, *asked) in enumerate(offers()):
            scenario, plan, result, name = asked
            st.button(
                f"Add {what}", key=f"kept_add_{number}", icon=":material/add:", on_click=saved.keep,
                args=(scenario, plan, result, name), disabled=len(saved.shelf()) >= MOST_KEPT,
            )  # fmt: skip
    key = f"kept_files_{st.session_state.get(_ROUND, 0)}"
    st.file_uploader(
        "Add from files: scenarios and comparisons (JSON) or reports (HTML)", type=["json", "html", "htm"], key=key,
        accept_multiple_files=True, on_change=_add_files, args=(key,), max_upload_size=MAX_REPORT_BYTES // 2**20,
        help="Files that *Save scenario*, *Report* or the downloads of this page wrote. Their plans are simulated "
        "again here; nothing is balanced again.",
    )  # fmt: skip


def offers() -> list[Offer]:
    """What the Balance page shows now and is not kept yet: its result, the even split, the user's own plan."""
    shown = session.outcome()
    if shown is None:
        return []
    scenario, found = shown.scenario, []
    named = default_name(scenario)
    if shown.result.plan is not None:
        found.append(
            ("the Balance result", scenario, shown.result.plan, shown.result if shown.was_balanced else None, "")
        )
    found.append(("its even split", *even_split(scenario)))
    profile = split_along_sequence(scenario.profile, scenario.pipeline.num_sequence_splits)
    if versions := my_plan_state.my_plan(profile, scenario.pipeline):
        found.append(("my plan", scenario, versions[-1].plan, None, f"my plan · {named}"))
    return [offer for offer in found if not saved.is_kept(offer[1], offer[2])]


def even_split(scenario: Scenario) -> tuple[Scenario, Plan, None, str]:
    """Scenario, plan, result and name of the even split of a scenario."""
    even = even_split_of(scenario)
    return scenario, even.simulated.evaluation.plan, None, f"{even_split_words(even)} · {default_name(scenario)}"


def _row(entry: Kept, place: int, count: int, *, full: bool) -> None:
    number = entry.number
    shown, name = f"kept_shown_{number}", f"kept_name_{number}"
    # The list says what the widgets show, not the other way round.
    st.session_state[shown], st.session_state[name] = entry.is_shown, entry.name
    with st.container(horizontal=True, vertical_alignment="center", key=f"kept_row_{number}", gap="small"):
        st.checkbox(
            f"Show {literal(entry.name)}", key=shown, label_visibility="collapsed", width=28,
            disabled=full and not entry.is_shown,
            on_change=saved.change, args=(lambda before: kept.toggled(before, number),),
        )  # fmt: skip
        st.text_input(
            f"Name of {literal(entry.name)}", key=name, label_visibility="collapsed", max_chars=LONGEST_NAME,
            on_change=_rename, args=(number, name),
        )  # fmt: skip
        st.button(
            "", key=f"kept_up_{number}", icon=":material/arrow_upward:", disabled=place == 0, help="Further up",
            on_click=saved.change, args=(lambda before: kept.moved(before, number, -1),),
        )  # fmt: skip
        st.button(
            "", key=f"kept_down_{number}", icon=":material/arrow_downward:", disabled=place == count - 1,
            help="Further down", on_click=saved.change, args=(lambda before: kept.moved(before, number, 1),),
        )  # fmt: skip
        st.button(
            "", key=f"kept_delete_{number}", icon=":material/delete:", help="Delete",
            on_click=saved.change, args=(lambda before: kept.without(before, number),),
        )  # fmt: skip


def _rename(number: int, key: str) -> None:
    name = str(st.session_state[key] or "")
    saved.change(lambda before: kept.renamed(before, number, name))


def _add_files(key: str) -> None:
    files = [(shown_name(file.name), file.getvalue()) for file in st.session_state[key]]
    if files:
        saved.add_files(files)
        # A new uploader: an emptied one would add its files again at the next change.
        st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
