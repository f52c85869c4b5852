"""What people read on a terminal."""

from dataclasses import replace

import pytest
from hypothesis import given

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import even_split
from sapp_core.domain.profile import LayerKind, LayerProfile, ModelProfile
from sapp_core.domain.result import BalanceResult, Objective, Status
from sapp_core.interchange.text import balance_text, number, profile_text, schedule_text, simulation_text
from sapp_core.schedules.in_flight import peak_in_flight
from sapp_core.schedules.registry import make_schedule
from sapp_core.study import evaluate
from tests.strategies import studies

LAYER = LayerProfile(
    "Layer", LayerKind.BODY, 5, 10.0, (20.0, 20.0, 20.0, 20.0, 30.0), 100.0, (50.0, None, None, None, 5.0)
)
TAIL = LayerProfile("Tail", LayerKind.TAIL, 1, 4.0, (8.0,) * 5, 40.0, (None,) * 5)
PROFILE = ModelProfile("small", (LAYER, TAIL), constant_mb=7.0, memory_limit_mb=900.0)
SCHEDULE = make_schedule("vpp", Pipeline(num_stages=2, num_micro_batches=4, num_chunks=2))
EVEN = evaluate(PROFILE, SCHEDULE, even_split(PROFILE, SCHEDULE.pipeline))
RESULT = BalanceResult(
    status=Status.OPTIMAL,
    plan=EVEN.plan,
    step_time=EVEN.step_time,
    lower_bound=EVEN.step_time - 3,
    gap=3 / EVEN.step_time,
    objective=Objective.SAPP_1,
    objective_value=1234.5,
    objective_bound=1234.5,
    solver="highs",
    seconds=0.25,
)


def test_a_simulation_shows_headline_numbers_with_units_and_one_line_a_stage():
    # Work of a stage: 4 micro-batches × (5 layers × 30 ms + tail 12 ms) / 2 stages = 324 ms; ideal bubble 1/(V·M).
    assert simulation_text(EVEN, EVEN, (700.0, 500.0)).splitlines() == [
        "small: vpp, 2 stages × 2 chunks × 4 micro-batches",
        "step time    378 ms, same as the even split (378 ms, over the memory limit)",
        "bubble       16.7 % (ideal 12.5 %, imbalance 4.2 %, recompute 0.0 %, transfer 0.0 %)",
        "peak memory  757 MiB on stage 0, limit 700 MiB: OVER THE LIMIT on stages 0",
        "",
        "stage  Layer  none  parameters  constant  activations  peak MiB  free",
        "0        2+1     3         300         7          450       757   -57",
        "1        1+1     2         240         7          150       397   103",
    ]


def test_the_stage_with_the_least_room_is_the_peak():
    assert "peak memory  397 MiB on stage 1, limit 400 MiB" in simulation_text(EVEN, None, (900.0, 400.0))
    assert "peak memory  757 MiB on stage 0, no limit" in simulation_text(EVEN, None, None)


def test_stages_over_their_limit_are_named():
    text = simulation_text(EVEN, None, (400.0, 900.0))
    assert "on stage 0, limit 400 MiB: OVER THE LIMIT on stages 0" in text


def test_a_balanced_plan_shows_how_it_ended_and_what_is_proven():
    slower = replace(EVEN, timeline=replace(EVEN.timeline, step_time=2 * EVEN.step_time))
    lines = balance_text(RESULT, PROFILE, SCHEDULE, EVEN, slower, None).splitlines()
    assert lines[1] == "status       optimal: proven for objective sapp-1, value 1,234 (highs, 0.2 s)"
    assert "50.0 % less than the even split" in lines[2]
    assert lines[4].endswith("no limit")
    assert lines[5].startswith("gap ")
    assert "no plan within the limit is faster than" in lines[5]


@pytest.mark.parametrize(
    ("status", "words"),
    [(Status.INFEASIBLE, "infeasible"), (Status.NO_SOLUTION_IN_TIME, "no plan found within the time limit")],
)
def test_without_a_plan_only_the_status_is_shown(status, words):
    result = replace(RESULT, status=status, plan=None, step_time=None, lower_bound=None, gap=None, objective_value=None)
    title, line = balance_text(result, PROFILE, SCHEDULE, None, EVEN, None).splitlines()
    assert title.startswith("small: vpp")
    assert words in line


@given(studies())
def test_tables_are_aligned_and_complete(study):
    evaluation = evaluate(*study)
    lines = simulation_text(evaluation, None, None).splitlines()
    table = lines[lines.index("") + 1 :]
    assert len(table) == evaluation.schedule.pipeline.num_stages + 1
    assert len({len(line) for line in table}) == 1
    assert len({len(line.split()) for line in table[1:]}) == 1


def test_an_order_is_one_line_a_stage():
    text = schedule_text(SCHEDULE, SCHEDULE.tokens(), peak_in_flight(SCHEDULE))
    lines = text.splitlines()
    assert lines[2].startswith("stage 0 [4 2]: F0.0 F0.1 F1.0 F1.1")
    assert len(lines) == 4


def test_a_profile_shows_every_number_that_was_resolved():
    lines = profile_text(PROFILE, ["name: is not given."]).splitlines()
    assert lines[0] == "small"
    assert "modes considered: none, full" in lines[2]
    assert "limit      900 MiB" in lines
    assert "warning: name: is not given." in lines
    tables = [line.split() for line in lines if line.startswith(("Layer", "Tail"))]
    assert tables == [
        ["Layer", "BODY", "5", "10", "100"],
        ["Tail", "TAIL", "1", "4", "40"],
        ["Layer", "20", "20", "20", "20", "30"],
        ["Tail", "8", "8", "8", "8", "8"],
        ["Layer", "50", "-", "-", "-", "5"],
        ["Tail", "-", "-", "-", "-", "-"],
    ]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (0.000123456789, "0.000123457"),
        (12.5, "12.5"),
        (999.25, "999.25"),
        (170550.4, "170,550"),
        (-1000.0, "-1,000"),
    ],
)
def test_numbers_are_short(value, shown):
    assert number(value) == shown
