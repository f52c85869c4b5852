"""Sweep: many settings at once, and which of them are worth a closer look."""

import streamlit as st

from pages.shared import session, sweep_opening, sweep_results
from pages.shared.cached import outlook
from pages.shared.front_door import require_entrance
from pages.shared.link import link_notices, remember_link
from pages.shared.pictures import adapt_page
from pages.shared.sweep_controls import SweepControls, sidebar
from pages.shared.sweep_jobs import SweepState, seen_state, sweep_jobs
from pages.shared.text import bullets

_POLL_SECONDS = 1.0


def page() -> None:
    """The whole page, from top to bottom."""
    sweep_opening.go_if_wanted()
    require_entrance("pages/sweep.py")
    adapt_page()
    remember_link()
    head, action = st.columns([4, 1], vertical_alignment="bottom")
    head.title("Sweep", anchor=False)
    head.markdown(
        "All combinations of the lists on the left: which is fastest, which needs least memory, which do not fit. "
        "Click a point to open it in Balance."
    )
    controls = sidebar()
    link_notices()
    state = seen_state(session.session_name())
    running = state is not None and not state.ended
    action.button(
        "Start", type="primary", key="sweep_start", icon=":material/play_arrow:", width="stretch",
        disabled=controls.swept is None or running, on_click=_start, args=(controls,),
        help="Works on all points in the background; results are drawn as they come.",
    )  # fmt: skip
    if controls.problems:
        st.error(f"**These lists cannot be swept.**\n\n{bullets(controls.problems)}", icon=":material/rule:")
    if not running and controls.swept is not None and (state is None or controls.swept != state.swept):
        _announce(controls)
    if state is None:
        return
    if controls.swept is not None and controls.swept != state.swept:
        st.warning("**Stale:** the results below belong to earlier lists.", icon=":material/history:")
    st.fragment(_state_and_results, run_every=_POLL_SECONDS if running else None)(controls, running=running)


def _announce(controls: SweepControls) -> None:
    """What a start would do: how many points, and how long they take."""
    if controls.swept is None:
        return
    grid = controls.swept.grid
    with st.spinner("Counting points …"):
        ahead = outlook(grid, controls.swept.profile, controls.workers or 1)
    refused = grid.num_points - ahead.runnable
    words = f"**{grid.num_points:,} points**"
    if refused:
        words += f", {refused:,} of which cannot run; the table will say why"
    if controls.workers is None:
        words += ". They go to the Dask cluster, which decides how many it works on at a time."
    elif ahead.runnable:
        processes = f"{controls.workers} worker process{'' if controls.workers == 1 else 'es'}"
        words += f". Estimated to take **{ahead.estimate.words}** with {processes}."
    st.info(f"{words} Press **Start**.", icon=":material/grid_view:")


def _start(controls: SweepControls) -> None:
    if controls.swept is not None and controls.executor is not None:
        sweep_jobs().start(session.session_name(), controls.swept, controls.executor)


def _resume(controls: SweepControls, state: SweepState) -> None:
    if controls.executor is not None:
        sweep_jobs().start(session.session_name(), state.swept, controls.executor, state.results)


def _state_and_results(controls: SweepControls, *, running: bool) -> None:
    sweep_opening.go_if_wanted()
    state = seen_state(session.session_name())
    if state is None or (running and state.ended):
        st.rerun()
    # Always one element, so that what comes after it stays in its place.
    with st.container():
        _progress(controls, state)
    sweep_results.show(state)


def _progress(controls: SweepControls, state: SweepState) -> None:
    total, done = state.swept.grid.num_points, len(state.results)
    if not state.ended:
        bar, cancel = st.columns([5, 1], vertical_alignment="center")
        bar.progress(done / total, text=f"{done:,} of {total:,} points, {_time_left(state)}")
        cancel.button(
            "Cancel", key="sweep_cancel", icon=":material/stop_circle:", width="stretch",
            on_click=sweep_jobs().cancel, args=(session.session_name(),),
            help="Ends the work; what is done is kept and can be resumed.",
        )  # fmt: skip
    elif state.problems:
        st.error(f"**The sweep stopped.**\n\n{bullets(state.problems)}", icon=":material/error:")
    if state.ended and not state.complete:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.info(f"Stopped: {done:,} of {total:,} points are done.", icon=":material/pause_circle:")
            st.button(
                "Resume", key="sweep_resume", icon=":material/resume:", on_click=_resume, args=(controls, state),
                disabled=controls.executor is None, help="Works on the points that are missing.",
            )  # fmt: skip


def _time_left(state: SweepState) -> str:
    """From the points done since the start or the last resume; those that cannot run took no time."""
    worked = sum(not result.point.problems for result in state.results[state.resumed_with :])
    if not worked:
        return "the first ones are on their way"
    left = state.swept.grid.num_points - len(state.results)
    seconds = state.seconds / worked * left
    return f"about {seconds:.0f} s left" if seconds < 100 else f"about {seconds / 60:.0f} min left"


page()
