"""Where a run stands: its place in the queue, or how far the search is; and *Cancel*."""

import streamlit as st

from pages.shared import session
from pages.shared.headline import search_words
from pages.shared.jobs import JobState, jobs
from sapp_core.charts.numbers import ordinal_text


def queue_words(place: int) -> str:
    """A place in the queue, as a sentence."""
    most = jobs().turns.most
    runs = "one run" if most == 1 else f"{most} runs"
    return f"{ordinal_text(place)} in the queue: this server works on {runs} at a time."


def run_progress(state: JobState) -> None:
    """The bar and the button of this session's run."""
    limit = state.scenario.request.time_limit
    bar, cancel = st.columns([5, 1], vertical_alignment="center")
    if state.place:
        bar.info(
            f"**{queue_words(state.place)}** Yours starts by itself; its {limit:.0f} s count from then.",
            icon=":material/hourglass_top:",
        )
    else:
        bar.progress(
            min(1.0, state.seconds / limit),
            text=f"Balancing: {state.seconds:.0f} s of at most {limit:.0f} s, "
            f"{search_words(state.trace, state.scenario)}",
        )
    cancel.button(
        "Cancel", key="cancel", icon=":material/stop_circle:", width="stretch",
        on_click=jobs().cancel, args=(session.session_name(),),
        help="Leaves the queue." if state.place else "Ends the search; the best plan found so far is kept.",
    )  # fmt: skip
