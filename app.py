"""The dashboard: `streamlit run app.py`."""

import streamlit as st

st.set_page_config(page_title="SAPP pipeline dashboard", page_icon="pages/shared/icon.png", layout="wide")
st.navigation([st.Page("pages/balance.py", title="Balance", icon=":material/balance:", default=True)]).run()
