"""First steps for whoever opens the page for the first time: in the page, and gone once they have been taken."""

import streamlit as st

from pages.shared.link import came_by_link

_GONE = "guide_gone"
_STEPS = """
**New here? Three steps.**
1. **Profile**, in the sidebar: choose a sample, or upload time and memory of your own layers. The page *Profile* makes
   them from a model's sizes.
2. **Pipeline**, below it: schedule, stages, micro-batches and memory limit.
3. **Balance**, at the top. Then the timeline shows who computes when (gaps are idle time), *Peak memory* what fills
   each stage against its limit, *Where time is lost* why the gaps are there, and *Certified gap* how far the plan can
   be from the best one.
"""


def guide() -> None:
    """The steps; nothing for who has taken them, has waved them off, or came by a link to see something else."""
    if st.session_state.get(_GONE) or came_by_link():
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="guide"):
        st.markdown(_STEPS, width="stretch")
        st.button("Got it", key="guide_close", on_click=guide_taken, help="Closes the first steps for this session.")


def guide_taken() -> None:
    """No more first steps in this session (for callbacks)."""
    st.session_state[_GONE] = True
