"""The length of a critical path is the step time, and bounds it from below under all other durations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sapp_core.balancer.critical_path import critical_paths
from sapp_core.simulator.engine import prepare, step_times
from tests.recorded import FILES, accepted, label, recorded_schedule
from tests.strategies import schedules

SMALL = 400
"""Ops; larger recorded orders repeat what smaller ones show."""
RECORDED = [
    case
    for file in FILES
    for case in accepted(file)
    if not case.get("problems") and sum(map(len, case["orders"])) <= SMALL
]


def check(schedule, seed: int) -> None:
    random = np.random.default_rng(seed)
    pipeline = schedule.pipeline
    shape = (4, pipeline.num_chunks, pipeline.num_stages)
    prepared = prepare(schedule)
    here = random.integers(0, 40, shape) / 4
    others = random.integers(0, 40, (20, *shape)) / 4
    paths = critical_paths(prepared, here)
    assert paths[0].length == pytest.approx(step_times(prepared, here[np.newaxis])[0])
    assert [path.length for path in paths] == sorted((path.length for path in paths), reverse=True)
    elsewhere = step_times(prepared, others)
    for path in paths:
        delay = path.transfers * pipeline.p2p_time
        assert path.weights @ here.ravel() + delay == pytest.approx(path.length)
        assert (others.reshape(20, -1) @ path.weights + delay <= elsewhere + 1e-9).all()


@pytest.mark.parametrize("case", RECORDED[:: max(1, len(RECORDED) // 60)], ids=label)
def test_recorded_orders(case):
    check(recorded_schedule(case), seed=case["microbatches"])


@given(schedules(), st.integers(0, 2**31))
@settings(max_examples=60)
def test_all_schedules(schedule, seed):
    check(schedule, seed)
