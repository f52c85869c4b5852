"""Several visitors of one real server, each with settings of their own."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from pages.shared.sources import sample
from sapp_core.charts.numbers import time_text
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.request import BalanceRequest
from sapp_core.schedules.registry import make_schedule
from sapp_core.study import reference_for
from tests.browser.server import Server
from tests.browser.visitor import Visitor

MOST_SECONDS = 60


@pytest.fixture(scope="module")
def narrow():
    """A server that works on one run at a time."""
    running = Server(environment={"SAPP_MAX_SOLVES": "1"})
    yield running
    running.stop()


def even_split_sentence(micro_batches: int) -> str:
    """What the page says about these settings and no others."""
    profile, pipeline = sample("small32").profile, Pipeline(4, micro_batches)
    limits = BalanceRequest(profile.memory_limit_mb).limits(4)
    reference = reference_for(profile, make_schedule("1f1b", pipeline), limits)
    return f"The {reference.words} takes {time_text(reference.evaluation.step_time, profile.time_unit)}."


def visit(server: Server, number: int) -> tuple[list[str], list[str]]:
    """Two what-ifs; what was said after each, and what was said while waiting."""
    with Visitor(server.url, profile="small32", stages="4", micro_batches=str(8 + number)) as visitor:
        visitor.until_balanced(MOST_SECONDS)
        said = [visitor.said]
        visitor.slide("Micro-batches", 20 + number)
        visitor.press("Balance")
        visitor.until_balanced(MOST_SECONDS)
        return [*said, visitor.said], visitor.queued


def test_everybody_gets_the_answer_to_their_own_question(narrow):
    visitors = range(3)
    with ThreadPoolExecutor(len(visitors)) as pool:
        visits = list(pool.map(lambda number: visit(narrow, number), visitors))
    for number, (said, _) in enumerate(visits):
        assert even_split_sentence(8 + number) in said[0]
        assert even_split_sentence(20 + number) in said[1]
        assert all("Proven optimal" in text for text in said)
    waiting = [text for _, queued in visits for text in queued]
    assert any("1st in the queue" in text for text in waiting)
    assert any("2nd in the queue" in text for text in waiting)
    assert narrow.children() == []
