"""The exact objective against every plan of tiny models, under every registered schedule."""

from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from sapp_core.balancer.balance import balance
from sapp_core.domain.costs import chunk_costs
from sapp_core.domain.pipeline import Placement
from sapp_core.domain.profile import MODES
from sapp_core.domain.result import BalanceResult, Status
from sapp_core.domain.sequence_split import split_along_sequence
from sapp_core.schedules.registry import SCHEDULES
from sapp_core.schedules.zero_bubble import PLANNED
from sapp_core.simulator.engine import prepare
from sapp_core.simulator.memory import peaks
from tests.balancer.tiny import TinyModel
from tests.balancer.tiny_exact import exact_model, quickest

MODELS = [(family.name, seed) for family in SCHEDULES for seed in range(6)]


@cache
def model(name: str, seed: int) -> TinyModel:
    return exact_model(name, seed)


@cache
def answer(name: str, seed: int) -> BalanceResult:
    tiny = model(name, seed)
    return balance(tiny.profile, tiny.schedule, tiny.request)


def test_the_models_cover_what_matters():
    seen = Counter(
        what
        for name, seed in MODELS
        for tiny in [model(name, seed)]
        for pipeline in [tiny.schedule.pipeline]
        for what in (
            "feasible" if tiny.fits.any() else "out of memory",
            f"{len(tiny.profile.body)} kinds",
            "no limit" if tiny.request.memory_limit_mb is None else "limit",
            "limit for each stage" if isinstance(tiny.request.memory_limit_mb, tuple) else "one limit",
            "splits" if pipeline.num_sequence_splits > 1 else "whole sequences",
            "transfers" if pipeline.p2p_time else "no transfers",
            "overlap" if pipeline.overlap_efficiency and pipeline.placement is not Placement.LOOP else "one by one",
            "many plans" if len(tiny.plans.counts) > 500 else "few plans",
        )
    )
    for what in (
        "feasible",
        "out of memory",
        "1 kinds",
        "2 kinds",
        "no limit",
        "limit for each stage",
        "splits",
        "transfers",
        "overlap",
        "many plans",
    ):
        assert seen[what] >= 4, (what, seen)
    for family in SCHEDULES:
        assert sum(model(family.name, seed).fits.any() for seed in range(6)) >= 3, family.name


@pytest.mark.parametrize(("name", "seed"), MODELS)
def test_the_optimum_is_that_of_all_plans(name, seed):
    tiny, result = model(name, seed), answer(name, seed)
    if not tiny.fits.any():
        assert result.status is Status.INFEASIBLE
        assert result.infeasibility.smallest_limit_mb == pytest.approx(tiny.memory.max(axis=1).min())
        assert (result.plan, result.step_time, result.lower_bound, result.gap) == (None,) * 4
        return
    assert result.status is Status.OPTIMAL
    # The order of work is given; one made for the plan (zero bubble) may be quicker still.
    assert result.objective_value == pytest.approx(quickest(tiny), rel=1e-5)
    assert result.objective_value >= quickest(tiny) * (1 - 1e-12)
    assert result.lower_bound <= quickest(tiny) * (1 + 1e-12)
    assert result.gap <= 1e-4
    assert result.step_time == pytest.approx(result.objective_value) or (
        result.step_time < result.objective_value and name in PLANNED
    )


@pytest.mark.parametrize(("name", "seed"), MODELS)
def test_the_plan_is_one_of_them_and_keeps_the_limits(name, seed):
    tiny, result = model(name, seed), answer(name, seed)
    if result.plan is None:
        assert not tiny.fits.any()
        return
    pipeline = tiny.schedule.pipeline
    result.plan.check(tiny.profile, pipeline)
    counts = np.array(
        [
            [
                [
                    placement.counts[MODES.index(mode)][c][s]
                    for v in range(pipeline.num_virtual_stages)
                    for c, s in pipeline.cells(v)[:1]
                ]
                for mode in tiny.plans.profile.modes
            ]
            for placement in result.plan.layers
        ]
    )
    assert (tiny.plans.counts == counts).all(axis=(1, 2, 3)).sum() == 1
    split = split_along_sequence(tiny.profile, pipeline.num_sequence_splits)
    used = [stage.total_mb for stage in peaks(prepare(tiny.schedule), chunk_costs(split, result.plan, pipeline))]
    assert all(a <= b + 1e-6 for a, b in zip(used, tiny.limits, strict=True))


@pytest.mark.parametrize(("name", "seed"), MODELS[::5])
def test_the_same_seed_gives_the_same_plan(name, seed):
    tiny, first = model(name, seed), answer(name, seed)
    again = balance(tiny.profile, tiny.schedule, tiny.request)
    assert (again.status, again.plan, again.step_time) == (first.status, first.plan, first.step_time)


@pytest.mark.parametrize(("name", "seed"), MODELS[::7])
def test_another_seed_proves_the_same_step_time(name, seed):
    tiny, first = model(name, seed), answer(name, seed)
    other = balance(tiny.profile, tiny.schedule, replace(tiny.request, seed=1000 + seed))
    assert other.status is first.status
    assert other.objective_value == (first.objective_value and pytest.approx(first.objective_value, rel=1e-5))
