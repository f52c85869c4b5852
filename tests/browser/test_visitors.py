"""Several visitors of one real server, each with settings of their own."""

from contextlib import ExitStack

import pytest

from tests.browser.server import Server
from tests.browser.visitor import Visitor, even_split_sentence


@pytest.fixture(scope="module")
def narrow():
    """A server that works on one run at a time."""
    running = Server(environment={"SAPP_MAX_SOLVES": "1"})
    yield running
    running.stop()


def test_visitors_take_turns_and_get_the_answers_to_their_own_questions(narrow):
    small = {"profile": "small32", "stages": "4"}
    hard = {
        "profile": "sim192", "schedule": "vpp", "stages": "16", "interleave": "3", "micro_batches": "16",
        "memory_limit": "53000", "time_limit": "300",
    }  # fmt: skip
    with ExitStack() as tabs:
        first = tabs.enter_context(Visitor(narrow.url, **hard))
        first.until(lambda: first.waits and "in the queue" not in first.said)
        second = tabs.enter_context(Visitor(narrow.url, **small, micro_batches="9"))
        second.until(lambda: "1st in the queue: this server works on one run at a time" in second.said)
        third = tabs.enter_context(Visitor(narrow.url, **small, micro_batches="10"))
        third.until(lambda: "2nd in the queue" in third.said)
        second.press("Cancel")
        second.until(lambda: "Cancelled" in second.said and not second.waits)
        third.until(lambda: "1st in the queue" in third.said)
        second.slide("Micro-batches", 21)
        second.press("Balance")
        second.until(lambda: "2nd in the queue" in second.said)
        first.press("Cancel")
        for visitor, micro_batches in ((third, 10), (second, 21)):
            visitor.until_balanced()
            assert even_split_sentence(micro_batches) in visitor.said
            assert "Proven optimal" in visitor.said
        first.until(lambda: "Cancelled after" in first.said)
    assert narrow.children() == []
