"""The dashboard: `streamlit run app.py`."""

from pathlib import Path

import streamlit as st

from pages.shared.chart_component import fetch_library
from pages.shared.front_door import enter
from pages.shared.saved import follow_link

_ICON = Path(__file__).parent / "pages" / "shared" / "icon.svg"

st.set_page_config(page_title="SAPP pipeline dashboard", page_icon=str(_ICON), layout="wide")
enter()
fetch_library()
follow_link()
st.navigation(
    [
        st.Page("pages/balance.py", title="Balance", icon=":material/balance:", default=True),
        st.Page("pages/profile.py", title="Profile", icon=":material/layers:"),
        st.Page("pages/compare.py", title="Compare", icon=":material/compare:"),
        st.Page("pages/sweep.py", title="Sweep", icon=":material/scatter_plot:"),
        st.Page("pages/schedules.py", title="Schedules", icon=":material/view_timeline:"),
    ]
).run()
