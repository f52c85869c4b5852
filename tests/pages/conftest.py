import pytest
import streamlit as st

from tests.pages.opened import Opened


@pytest.fixture(autouse=True)
def fresh_server():
    """Results and runs are shared by the sessions of a server; every test has a server of its own."""
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


@pytest.fixture
def opened():
    """The page as somebody sees it who just opened it, the sample solved."""
    return Opened().settled()
