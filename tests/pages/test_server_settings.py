"""What an operator may set, and what a wrong value does."""

import pytest
import streamlit as st

from pages.shared.server_settings import CACHE_MB, MAX_SOLVES, SCHEDULERS, SettingError, server_settings
from tests.pages.opened import Opened


def test_without_settings_there_are_sensible_ones():
    found = server_settings({})
    assert found.max_solves >= 2
    assert found.cache_mb == 256
    assert server_settings({MAX_SOLVES: " ", CACHE_MB: ""}) == found


def test_settings_are_taken():
    found = server_settings({MAX_SOLVES: "7", CACHE_MB: " 1024 "})
    assert (found.max_solves, found.cache_mb) == (7, 1024)


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "many", "²", "257", "9" * 5000, "1_0"])
def test_a_wrong_value_is_answered_with_its_range(value):
    with pytest.raises(SettingError) as caught:
        server_settings({MAX_SOLVES: value})
    (sentence,) = caught.value.problems
    assert sentence.startswith("SAPP_MAX_SOLVES: must be a whole number from 1 to 256, found ")
    assert len(sentence) < 200


def test_all_wrong_values_are_named_at_once():
    with pytest.raises(SettingError) as caught:
        server_settings({MAX_SOLVES: "x", CACHE_MB: "1"})
    assert [sentence.split(":")[0] for sentence in caught.value.problems] == [MAX_SOLVES, CACHE_MB]


def test_the_page_says_what_is_wrong_and_nothing_else(monkeypatch):
    monkeypatch.setenv(MAX_SOLVES, "lots")
    page = Opened()
    assert "This server is set up wrongly" in page.said
    assert "SAPP_MAX_SOLVES: must be a whole number from 1 to 256, found 'lots'" in page.said
    assert not page.at.button
    monkeypatch.setenv(MAX_SOLVES, "2")
    st.cache_resource.clear()
    assert Opened().settled().numbers["Certified gap"]


@pytest.mark.parametrize("address", [None, "tcp://127.0.0.1:8786", "tls://localhost:1", "tcp://[::1]:8786"])
def test_schedulers_of_the_own_machine_may_be_used(address):
    assert server_settings({}).scheduler_problems(address) == ()


@pytest.mark.parametrize(
    "address",
    ["tcp://10.0.0.1:8786", "tcp://127.0.0.1@evil:1", "tcp://127.0.0.1:1/x", "inproc://x", "evil", "127.0.0.1"],
)
def test_other_schedulers_must_be_allowed_by_who_runs_the_server(address):
    (sentence,) = server_settings({}).scheduler_problems(address)
    assert sentence.startswith("scheduler: this server connects only to tcp://127.0.0.1:8786")
    assert repr(address) in sentence
    assert server_settings({SCHEDULERS: f"tcp://other:1, {address}"}).scheduler_problems(address) == ()
