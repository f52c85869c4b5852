"""Compare: scenarios kept on the Balance page or brought as files, side by side."""

from dataclasses import dataclass

import streamlit as st

from pages.shared import cached, saved, sections, session
from pages.shared.cached import Simulated, simulate
from pages.shared.comparison_files import downloads
from pages.shared.front_door import require_entrance
from pages.shared.kept_list import add_controls, even_split, kept_list, offers
from pages.shared.pictures import adapt_page, page_theme, plot
from pages.shared.sections import View
from pages.shared.text import bullets, literal
from sapp_core.charts.numbers import memory_text, percent_text
from sapp_core.comparison.candidate import Candidate
from sapp_core.comparison.table import stage_table, summary_table
from sapp_core.comparison.words import what_changed

_TABS = ("Timelines", "Memory", "Where time is lost", "Settings", "Download")
_BASE = "compare_base"
_EVEN_SPLIT = 0  # stands for the number of a kept scenario
_WORDS_A_ROW = 3


@dataclass(frozen=True, slots=True)
class _Entry:
    """A scenario on the page.

    Attributes:
        number: of the kept scenario.
        candidate: what is compared.
        simulated: by which its charts are remembered.
    """

    number: int
    candidate: Candidate
    simulated: Simulated


def page() -> None:
    """The whole page, from top to bottom."""
    require_entrance("pages/compare.py")
    adapt_page()
    st.title("Compare scenarios", anchor=False)
    st.markdown("Two to six answers side by side: on one time axis, stage by stage, and in words.")
    if saved.notices():
        st.warning(bullets(saved.notices()))
    if not saved.shelf():
        _nothing_kept()
        return
    kept_list()
    if saved.link() is None:
        st.info(
            "A link cannot hold these scenarios: there are too many, or one has an uploaded profile, which stays "
            "private. Before you reload, save them under *Download* and add the file afterwards.",
            icon=":material/link_off:",
        )
    entries = _entries()
    if not entries:
        st.info("All kept scenarios are hidden. Tick at least one of them.", icon=":material/visibility_off:")
        return
    _comparison(entries)


def _nothing_kept() -> None:
    with st.container(border=True):
        st.subheader("Nothing is kept yet", anchor=False)
        st.markdown(
            "1. On the **Balance** page, press **Keep for comparison** below a result.\n"
            "2. Change a setting there, balance again, and keep that result too.\n"
            "3. Come back here: what is different is said in words, numbers and charts."
        )
        found = offers()
        if found:
            st.button(
                "Compare the Balance result with its even split" if len(found) > 1 else "Start with the even split",
                key="kept_start", type="primary", icon=":material/compare:", on_click=_start,
            )  # fmt: skip
        else:
            st.page_link("pages/balance.py", label="Go to the Balance page", icon=":material/balance:")
    add_controls()


def _start() -> None:
    # The even split comes first: it is what the others are compared with.
    for _, scenario, plan, result, name in sorted(offers(), key=lambda offer: offer[3] is not None):
        saved.keep(scenario, plan, result, name)


def _entries() -> list[_Entry]:
    """The scenarios that are shown; one alone is joined by its even split."""
    entries = []
    for kept in saved.shelf():
        if kept.is_shown:
            simulated = simulate(kept.scenario, kept.plan)
            entries.append(
                _Entry(kept.number, Candidate(kept.name, kept.scenario, simulated.evaluation, kept.result), simulated)
            )
    if len(entries) == 1:
        scenario, plan, _, name = even_split(entries[0].candidate.scenario)
        if plan != entries[0].candidate.plan:
            simulated = simulate(scenario, plan)
            entries.insert(0, _Entry(_EVEN_SPLIT, Candidate(name, scenario, simulated.evaluation), simulated))
    return entries


def _comparison(entries: list[_Entry]) -> None:
    if entries[0].number == _EVEN_SPLIT:
        st.caption("One scenario alone is compared with its even split, what a framework does by default.")
    candidates = [entry.candidate for entry in entries]
    base = _base(entries).candidate
    st.dataframe(
        summary_table(candidates, base), hide_index=True, height="content",
        alt=f"Step time, bubble, memory and moved layers of each scenario; differences from {base.name}.",
    )  # fmt: skip
    st.caption(
        f"In brackets: difference from **{literal(base.name)}**; differences of the bubble are percentage points. "
        "Moved layers sit in another cell, or on another stage where the cells are not the same."
    )
    _words(candidates, base)
    _details(entries, base)


def _base(entries: list[_Entry]) -> _Entry:
    numbers = {entry.number: entry for entry in entries}
    if _BASE not in st.session_state:
        named = st.query_params.get(_BASE)
        st.session_state[_BASE] = next((n for n, entry in numbers.items() if entry.candidate.name == named), None)
    if st.session_state[_BASE] not in numbers:
        st.session_state[_BASE] = entries[0].number
    chosen = st.selectbox(
        "Compare with", list(numbers), key=_BASE, format_func=lambda number: numbers[number].candidate.name, width=420,
        persist_state="session", help="Differences are those from this scenario; the link keeps the choice.",
    )  # fmt: skip
    # Streamlit's own binding would leave the old name in the link of a scenario that is renamed.
    if chosen != entries[0].number:
        st.query_params[_BASE] = numbers[chosen].candidate.name
    elif _BASE in st.query_params:
        del st.query_params[_BASE]
    return numbers[chosen]


def _words(candidates: list[Candidate], base: Candidate) -> None:
    others = [candidate for candidate in candidates if candidate is not base]
    for first in range(0, len(others), _WORDS_A_ROW):
        row = others[first : first + _WORDS_A_ROW]
        for place, other in zip(st.columns(len(row)), row, strict=True):
            with place.container(border=True):
                st.markdown(f"**What changed: {literal(other.name)}**")
                st.markdown(bullets(what_changed(base, other)))


@st.fragment
def _details(entries: list[_Entry], base: Candidate) -> None:
    timelines, memory, bubbles, settings, files = st.tabs(_TABS, key="compare_details", on_change="rerun")
    candidates = [entry.candidate for entry in entries]
    if timelines.open:
        with timelines:
            _timelines(entries)
    if memory.open:
        with memory:
            _memory(entries, base)
    if bubbles.open:
        with bubbles:
            _bubbles(entries)
    if settings.open:
        with settings:
            _settings(candidates)
    if files.open:
        with files:
            downloads(candidates, base)


def _timelines(entries: list[_Entry]) -> None:
    units = dict.fromkeys(entry.candidate.scenario.profile.time_unit for entry in entries)
    if len(units) > 1:
        st.info(
            bullets([f"Times in {', '.join(units)} have no axis in common: scenarios with the same unit share one."])
        )
    for place, unit in enumerate(units):
        same = [entry for entry in entries if entry.candidate.scenario.profile.time_unit == unit]
        longest = max(entry.candidate.evaluation.step_time for entry in same)
        view = View(session.COMPARE_VIEW + (f"_{place}" if place else ""), longest)
        for entry in same:
            st.markdown(f"**{literal(entry.candidate.name)}**")
            sections.timeline(entry.simulated, view, f"kept_timeline_{entry.number}")


def _memory(entries: list[_Entry], base: Candidate) -> None:
    with_memory = [entry for entry in entries if entry.candidate.scenario.profile.has_memory]
    if not with_memory:
        st.info("None of these profiles gives memory, so there is none to compare.")
        return
    plans = tuple(
        (entry.candidate.name, entry.simulated, entry.candidate.scenario.request.memory_limit_mb)
        for entry in with_memory
    )
    peaks = ", ".join(
        f"{entry.candidate.name}: {memory_text(max(entry.candidate.evaluation.peak_memory_mb))}"
        for entry in with_memory
    )
    plot(
        cached.memory_comparison_chart(plans, page_theme()), "kept_memory", "comparison_memory",
        f"Peak memory of every stage, side by side; highest peaks: {peaks}.",
    )  # fmt: skip
    st.dataframe(stage_table([entry.candidate for entry in entries], base), hide_index=True)


def _bubbles(entries: list[_Entry]) -> None:
    named = tuple((entry.candidate.name, entry.simulated) for entry in entries)
    totals = ", ".join(f"{name}: {percent_text(found.evaluation.bubble.total)}" for name, found in named)
    plot(
        cached.bubble_comparison_chart(named, page_theme()), "kept_bubbles", "comparison_bubbles",
        f"The bubble of every scenario, part by part; in all: {totals}.",
    )  # fmt: skip
    st.caption(
        "In percent of one stage's share of the model's own work. **Schedule itself**: the bubble with perfectly even "
        "stages. **Uneven stages**: what uneven cells add. **Recomputation** and **transfers**: what they add on top."
    )


def _settings(candidates: list[Candidate]) -> None:
    facts = [candidate.scenario.facts() for candidate in candidates]
    different = [name for name in facts[0] if len({values[name] for values in facts}) > 1]
    st.dataframe(
        {"": [name.capitalize() for name in (different or facts[0])]}
        | {
            candidate.name: [values[name] for name in (different or facts[0])]
            for candidate, values in zip(candidates, facts, strict=True)
        },
        hide_index=True,
    )
    st.caption("Settings that are not the same everywhere." if different else "All settings are the same.")


page()
