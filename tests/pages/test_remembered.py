"""What a server remembers, and how much of it."""

import gc
import threading
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.shared.cached import simulate, timeline_chart
from pages.shared.remembered import Remembered, server_memory, weight
from pages.shared.sources import sample
from sapp_core.charts.theme import DARK, LIGHT
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import even_split
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.scenario import Scenario
from sapp_core.schedules.registry import make_schedule
from sapp_core.study import evaluate


@given(budget=st.integers(0, 3000), asked=st.lists(st.tuples(st.integers(0, 5), st.integers(1, 900)), max_size=30))
def test_the_budget_is_kept_and_the_last_used_stay(budget, asked):
    memory = Remembered(budget)
    sizes = {}
    for key, size in asked:
        sizes.setdefault(key, size)
        value = memory.get(key, lambda key=key: bytes(sizes[key]))
        assert value == bytes(sizes[key])
        assert memory.bytes <= budget
        if weight(value) <= budget:
            assert memory.get(key, lambda: pytest.fail("it was just used")) is value


def test_an_error_is_raised_and_not_remembered():
    memory = Remembered(10_000)
    with pytest.raises(ZeroDivisionError):
        memory.get("key", lambda: 1 // 0)
    assert memory.get("key", lambda: "fine") == "fine"


def test_two_who_ask_at_once_share_one_value():
    memory = Remembered(10_000)
    begun, go_on, made = threading.Event(), threading.Event(), []

    def slow():
        begun.set()
        assert go_on.wait(20)
        made.append(object())
        return made[-1]

    answers = []
    asking = [threading.Thread(target=lambda: answers.append(memory.get("key", slow))) for _ in range(3)]
    asking[0].start()
    assert begun.wait(20)
    for thread in asking[1:]:
        thread.start()
    go_on.set()
    for thread in asking:
        thread.join(20)
    assert len(made) == 1
    assert answers == made * 3


def test_the_weight_is_what_python_allocates():
    profile, pipeline = sample("small32").profile, Pipeline(8, 64)
    schedule = make_schedule("1f1b", pipeline)
    plan = even_split(profile, pipeline)
    evaluate(profile, schedule, plan)
    tracemalloc.start()
    evaluation = evaluate(profile, schedule, plan)
    gc.collect()
    allocated = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert weight(evaluation) - weight((profile, schedule, plan)) == pytest.approx(allocated, rel=0.25)


def test_equal_questions_have_one_answer_and_others_their_own():
    profile = sample("small32").profile
    scenario = Scenario(profile, "1f1b", Pipeline(4, 8), BalanceRequest(12_000.0))
    plan = even_split(profile, scenario.pipeline)
    one = simulate(scenario, plan)
    assert simulate(Scenario(profile, "1f1b", Pipeline(4, 8), BalanceRequest(9_000.0)), plan) is one
    longer = simulate(Scenario(profile, "1f1b", Pipeline(4, 9), BalanceRequest(12_000.0)), plan)
    assert longer.evaluation.step_time > one.evaluation.step_time
    chart = timeline_chart(one, LIGHT, None, 1.0)
    assert timeline_chart(one, LIGHT, None, 1.0) is chart
    assert timeline_chart(one, DARK, None, 1.0) is not chart
    assert timeline_chart(longer, LIGHT, None, 1.0) is not chart
    assert server_memory().bytes > weight(one)
