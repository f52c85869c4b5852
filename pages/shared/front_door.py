"""Every page is entered through app.py, also by a link that goes straight to it."""

import streamlit as st

from pages.shared.server_settings import SettingError, settings
from pages.shared.text import bullets

_DEFAULT = "pages/balance.py"
_ENTERED = "entered"


def enter() -> None:
    """For app.py: pages may run from here on, unless the server is set up wrongly."""
    st.session_state[_ENTERED] = True
    try:
        settings()
    except SettingError as error:
        st.error(f"**This server is set up wrongly.**\n\n{bullets(error.problems)}", icon=":material/settings:")
        st.stop()


def require_entrance(script: str) -> None:
    """For a page: start over with app.py where Streamlit left it out.

    A fresh server discovers the folder `pages` by itself and runs the page that a link asks for alone, without title,
    layout and the other pages; calling `st.navigation` once ends that.

    Args:
        script: of the page, as app.py names it.
    """
    if _ENTERED not in st.session_state:
        st.navigation([st.Page(_DEFAULT, default=True), st.Page(script)], position="hidden")
        st.rerun()
