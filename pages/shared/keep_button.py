"""Keeping what the Balance page shows for comparison."""

import streamlit as st

from pages.shared import saved
from pages.shared.session import Outcome
from pages.shared.text import bullets

COMPARE_PAGE = "pages/compare.py"


def keep_button(shown: Outcome) -> None:
    """Keep scenario, plan and result; a way to the Compare page once something is kept."""
    plan = shown.result.plan
    if plan is None:
        return
    kept = saved.is_kept(shown.scenario, plan)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Kept for comparison" if kept else "Keep for comparison", key="keep", disabled=kept,
            icon=":material/bookmark_added:" if kept else ":material/bookmark_add:", on_click=saved.keep,
            args=(shown.scenario, plan, shown.result if shown.was_balanced else None),
            help="Keeps settings, plan and result for the Compare page, until this tab is closed; the link carries "
            "them through a reload.",
        )  # fmt: skip
        if count := len(saved.shelf()):
            st.page_link(
                COMPARE_PAGE, label=f"Compare {count} kept scenario{'s' if count > 1 else ''}",
                icon=":material/compare:",
            )  # fmt: skip
    if saved.notices():
        st.warning(bullets(saved.notices()))
