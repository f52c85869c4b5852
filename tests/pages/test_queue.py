"""The page of somebody who has to wait for a turn."""

import pytest

from pages.shared.jobs import jobs
from pages.shared.server_settings import MAX_SOLVES
from pages.shared.turns import turns
from tests.pages.opened import Opened


@pytest.fixture
def busy(monkeypatch):
    """A server whose only turn is taken; the ticket of who has it."""
    monkeypatch.setenv(MAX_SOLVES, "1")
    return turns().draw()


def test_the_place_is_shown_and_the_run_begins_when_it_is_its_turn(busy):
    page = Opened(profile="small32", stages="4", micro_batches="8")
    assert "1st in the queue: this server works on one run at a time." in page.said
    assert "its 20 s count from then" in page.said
    assert not page.at.get("progress")
    assert page.running
    assert "Not balanced yet" in page.said  # Something to look at meanwhile.
    turns().leave(busy)
    assert "Proven optimal" in page.settled().said


def test_cancelling_in_the_queue_shows_the_even_split(busy):
    page = Opened(profile="small32", stages="4", micro_batches="8")
    behind = turns().draw()
    assert turns().place(behind) == 2
    page.at.button(key="cancel").click()
    page.run().settled()
    assert "Cancelled while it waited for its turn" in page.said
    assert "Not balanced yet" in page.said
    assert turns().place(behind) == 1


def test_the_comparison_waits_in_the_same_line(monkeypatch):
    monkeypatch.setenv(MAX_SOLVES, "1")
    page = Opened(profile="small32", stages="4", micro_batches="8").settled()
    busy = turns().draw()
    page.tab("Comparison")
    page.run()
    texts = [bar.proto.text for bar in page.at.get("progress")]
    assert any("1st in the queue" in text for text in texts)
    turns().leave(busy)
    assert jobs().turns is turns()
