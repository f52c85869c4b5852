"""The objects of `--json`."""

import json
from dataclasses import replace

import pytest
from hypothesis import given

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import even_split
from sapp_core.domain.profile import MODES, LayerKind, LayerProfile, ModelProfile, RecomputeMode
from sapp_core.domain.result import BalanceResult, Objective, Status
from sapp_core.domain.schedule import Op, OpKind, Schedule, Slot
from sapp_core.errors import FormatError
from sapp_core.interchange.result import balance_object, profile_object, schedule_object, simulation_object, to_json
from sapp_core.schedules.in_flight import peak_in_flight
from sapp_core.schedules.registry import make_schedule
from sapp_core.study import evaluate
from tests.strategies import studies

KEYS = [
    "status",
    "step_time",
    "lower_bound",
    "gap",
    "seconds",
    "solver",
    "objective_value",
    "schedule",
    "pipeline",
    "plan",
    "peak_memory_mb",
    "memory",
    "bubble",
    "even_split",
]


def no_plan(status: Status) -> BalanceResult:
    return BalanceResult(
        status=status,
        plan=None,
        step_time=None,
        lower_bound=None,
        gap=None,
        objective=Objective.SAPP_1,
        objective_value=None,
        objective_bound=None,
        solver="highs",
        seconds=0.5,
    )


@given(studies())
def test_a_balanced_plan_and_a_simulated_one_say_the_same_of_the_plan(study):
    profile, schedule, plan = study
    evaluation = evaluate(profile, schedule, plan)
    even = evaluate(profile, schedule, even_split(profile, schedule.pipeline))
    result = replace(
        no_plan(Status.OPTIMAL),
        plan=plan,
        step_time=evaluation.step_time,
        lower_bound=1.0,
        gap=0.25,
        objective_value=7.0,
        objective_bound=7.0,
    )
    balanced = json.loads(to_json(balance_object(result, schedule, evaluation, even)))
    simulated = json.loads(to_json(simulation_object(evaluation, even, None, 0.5)))
    assert list(balanced) == list(simulated) == KEYS
    own = {"status": "optimal", "lower_bound": 1.0, "gap": 0.25, "solver": "highs", "objective_value": 7.0}
    assert {key: balanced[key] for key in own} == own
    assert {key: simulated[key] for key in own} == {**dict.fromkeys(own), "status": "feasible"}
    assert {key: balanced[key] for key in KEYS if key not in own} == {
        key: simulated[key] for key in KEYS if key not in own
    }
    assert balanced["plan"] == plan.as_dict()
    assert balanced["pipeline"] == schedule.pipeline.as_dict()
    assert balanced["peak_memory_mb"] == list(evaluation.peak_memory_mb)
    assert set(balanced["bubble"]) == {"ideal", "imbalance", "recompute", "transfer", "total"}
    assert balanced["bubble"]["total"] == evaluation.bubble.total
    assert balanced["even_split"] == {"step_time": even.step_time, "peak_memory_mb": list(even.peak_memory_mb)}
    for memory, peak in zip(balanced["memory"], balanced["peak_memory_mb"], strict=True):
        assert list(memory) == ["parameter_mb", "constant_mb", "activation_mb"]
        assert sum(memory.values()) == pytest.approx(peak)


@given(studies())
def test_a_simulated_plan_is_over_the_limit_when_one_stage_is(study):
    evaluation = evaluate(*study)
    peaks = evaluation.peak_memory_mb
    worst = peaks.index(max(peaks))
    tight = tuple(peak - (0.5 if stage == worst else 0) for stage, peak in enumerate(peaks))
    assert simulation_object(evaluation, None, peaks, 0.0)["status"] == "feasible"
    assert simulation_object(evaluation, None, tight, 0.0)["status"] == "over_limit"


@pytest.mark.parametrize("status", [Status.INFEASIBLE, Status.NO_SOLUTION_IN_TIME])
def test_without_a_plan_the_keys_stay_and_are_null(status):
    schedule = make_schedule("1f1b", Pipeline(num_stages=2, num_micro_batches=2))
    answer = json.loads(to_json(balance_object(no_plan(status), schedule, None, None)))
    assert list(answer) == KEYS
    assert answer["status"] == str(status)
    assert all(answer[key] is None for key in ("step_time", "plan", "peak_memory_mb", "memory", "bubble", "even_split"))


def test_an_order_is_written_as_tokens():
    schedule = make_schedule("vpp", Pipeline(num_stages=2, num_micro_batches=2, num_chunks=2))
    answer = json.loads(to_json(schedule_object(schedule, peak_in_flight(schedule))))
    assert answer == {
        "schedule": "vpp",
        "orders": [
            ["F0.0", "F0.1", "F1.0", "F1.1", "B1.0", "B1.1", "B0.0", "B0.1"],
            ["F0.0", "F0.1", "F1.0", "B1.0", "F1.1", "B1.1", "B0.0", "B0.1"],
        ],
        "stage_of": [[0, 2], [1, 3]],
        "peak_inflight": [[2, 2], [2, 1]],
    }


def test_fractions_of_a_micro_batch_in_flight_stay_fractions():
    pipeline = Pipeline(num_stages=1, num_micro_batches=1, num_sequence_splits=2)
    ops = [Op(OpKind.F, 0, 0, 0), Op(OpKind.F, 0, 0, 1), Op(OpKind.B, 0, 0, 1), Op(OpKind.B, 0, 0, 0)]
    schedule = Schedule("by hand", pipeline, (tuple(Slot((op,)) for op in ops),))
    text = to_json(schedule_object(schedule, [[0.5]]))
    assert json.loads(text)["peak_inflight"] == [[0.5]]
    assert json.loads(text)["orders"] == [["F0.0.0", "F0.0.1", "B0.0.1", "B0.0.0"]]


def test_a_profile_is_written_as_resolved():
    layer = LayerProfile("Layer", LayerKind.BODY, 4, 1.5, (3, 3.1, 3.2, 3.3, 4.5), 7, (9, None, None, None, 1))
    profile = ModelProfile("model", (layer,), constant_mb=5, time_unit="us", memory_limit_mb=None)
    assert json.loads(to_json(profile_object(profile, ["training: is not known."]))) == {
        "name": "model",
        "time_unit": "us",
        "constant_mb": 5,
        "memory_limit_mb": None,
        "modes": [str(RecomputeMode.NONE), str(RecomputeMode.FULL)],
        "layers": [
            {
                "name": "Layer",
                "kind": "BODY",
                "num_layers": 4,
                "forward_time": 1.5,
                "backward_time": dict(zip(MODES, (3, 3.1, 3.2, 3.3, 4.5), strict=True)),
                "parameter_mb": 7,
                "activation_mb": {"none": 9, "select": None, "comm": None, "both": None, "full": 1},
            }
        ],
        "warnings": ["training: is not known."],
    }


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_json_has_no_word_for_is_refused(value):
    with pytest.raises(FormatError, match="too large for JSON"):
        to_json({"step_time": [value]})
