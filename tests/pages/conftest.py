import pytest
import streamlit as st

from tests.pages.opened import Opened


@pytest.fixture(autouse=True)
def fresh_server():
    """Results and runs are shared by the sessions of a server; every test has a server of its own."""
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


@pytest.fixture(autouse=True)
def figures_from_python():
    """Without a browser there is nobody to draw, so the timeline is the figure that Python makes."""
    before = st.get_option("server.enableStaticServing")
    st.config.set_option("server.enableStaticServing", False)
    yield
    st.config.set_option("server.enableStaticServing", before)


@pytest.fixture
def opened():
    """The page as somebody sees it who just opened it, the sample solved."""
    return Opened().settled()
