"""CBC = HiGHS = every plan looked at, on random tiny models; and what an infeasible one answers."""

from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from sapp_core.balancer.balance import balance
from sapp_core.domain.costs import chunk_costs
from sapp_core.domain.result import BalanceResult, MemoryModel, Objective, Status
from sapp_core.simulator.engine import prepare, simulate
from sapp_core.simulator.memory import peaks
from tests.balancer.brute_force import SURROGATES, backward_time, surrogate
from tests.balancer.tiny import TinyModel, tiny_model

SEEDS = (*range(100), 299, 456, 487, 506, 843, 878)
"""The last ones once found that level 2 of one wave measures by fractions of times."""
SOLVERS = ("highs", "cbc")


@cache
def model(seed: int) -> TinyModel:
    return tiny_model(seed)


@cache
def answer(seed: int, solver: str) -> BalanceResult:
    tiny = model(seed)
    return balance(tiny.profile, tiny.schedule, replace(tiny.request, solver=solver))


def values(tiny: TinyModel) -> np.ndarray:
    return surrogate(tiny.plans, tiny.schedule, tiny.request.objective)[tiny.fits]


FEASIBLE = [seed for seed in SEEDS if model(seed).fits.any()]
OUT_OF_MEMORY = [seed for seed in SEEDS if len(model(seed).memory) and not model(seed).fits.any()]
CROWDED = [seed for seed in SEEDS if not len(model(seed).memory)]


def test_the_models_cover_what_matters():
    assert len(FEASIBLE) >= 60
    assert len(OUT_OF_MEMORY) >= 15
    assert len(CROWDED) >= 5
    seen = Counter(
        what
        for seed in FEASIBLE
        for what in (
            model(seed).request.objective,
            model(seed).request.memory_model,
            model(seed).schedule.name,
            f"{len(model(seed).profile.body)} kinds",
            f"{len(model(seed).profile.modes)} modes",
            f"{model(seed).schedule.pipeline.num_chunks} chunks",
            "one wave"
            if model(seed).schedule.pipeline.num_chunks > 1
            and model(seed).schedule.pipeline.num_micro_batches == model(seed).schedule.pipeline.num_stages
            and model(seed).request.objective is not Objective.SAPP_0
            else "general",
        )
    )
    for what in (
        *SURROGATES,
        *MemoryModel,
        "1 kinds",
        "2 kinds",
        "1 modes",
        "2 modes",
        "3 modes",
        "2 chunks",
        "one wave",
    ):
        assert seen[what] >= 5, what


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", FEASIBLE)
def test_the_optimum_is_that_of_all_plans(seed, solver):
    tiny, result = model(seed), answer(seed, solver)
    assert result.status is Status.OPTIMAL
    assert result.objective_value == pytest.approx(values(tiny).min(), rel=1e-9, abs=1e-9)
    assert result.objective_bound == result.objective_value
    assert result.infeasibility is None


@pytest.mark.parametrize("seed", FEASIBLE)
def test_the_plan_is_legal_within_its_limits_and_takes_the_time_it_says(seed):
    tiny, result = model(seed), answer(seed, "highs")
    result.plan.check(tiny.profile, tiny.schedule.pipeline)
    costs = chunk_costs(tiny.profile, result.plan, tiny.schedule.pipeline)
    assert result.step_time == pytest.approx(simulate(prepare(tiny.schedule), costs).step_time)
    if tiny.request.memory_model is MemoryModel.EXACT:
        used = [stage.total_mb for stage in peaks(prepare(tiny.schedule), costs)]
        assert all(a <= b + 1e-6 for a, b in zip(used, tiny.limits, strict=True))


@pytest.mark.parametrize("seed", FEASIBLE)
def test_nothing_is_recomputed_in_vain(seed):
    """No plan with the same layers in the same cells and the same objective spends less on backwards."""
    tiny, result = model(seed), answer(seed, "highs")
    pipeline = tiny.schedule.pipeline
    layers = np.array(
        [
            [placement.total(*pipeline.cells(v)[0]) for v in range(pipeline.num_virtual_stages)]
            for placement in result.plan.layers
        ]
    )
    spent = tiny.plans.cells(backward_time).sum(axis=(1, 2))
    alike = (tiny.plans.counts.sum(axis=2) == layers).all(axis=(1, 2)) & tiny.fits
    as_good = surrogate(tiny.plans, tiny.schedule, tiny.request.objective) <= result.objective_value + 1e-6
    costs = chunk_costs(tiny.profile, result.plan, pipeline)
    assert np.sum(costs.backward) + np.sum(costs.recompute) == pytest.approx(spent[alike & as_good].min())


@pytest.mark.parametrize("seed", FEASIBLE)
def test_no_plan_is_quicker_than_the_lower_bound(seed):
    tiny, result = model(seed), answer(seed, "highs")
    quickest = tiny.plans.step_times(tiny.schedule)[tiny.fits].min()
    assert result.lower_bound <= quickest
    assert 0 <= result.gap == pytest.approx((result.step_time - result.lower_bound) / result.step_time)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", OUT_OF_MEMORY)
def test_an_infeasible_model_names_the_smallest_limit_and_the_stage_that_sets_it(seed, solver):
    tiny, result = model(seed), answer(seed, solver)
    assert result.status is Status.INFEASIBLE
    assert (result.plan, result.step_time, result.objective_value, result.lower_bound, result.gap) == (None,) * 5
    smallest = tiny.memory.max(axis=1).min()
    assert result.infeasibility.smallest_limit_mb == pytest.approx(smallest)

    excess = tiny.memory - (tiny.limits if isinstance(tiny.request.memory_limit_mb, tuple) else 0)
    least = excess.max(axis=1).min()
    best = excess[excess.max(axis=1) <= least + 1e-6] >= least - 1e-6
    always = np.flatnonzero(best.all(axis=0))
    assert result.infeasibility.stage in (always if len(always) else np.flatnonzero(best.any(axis=0)))
    assert f"Stage {result.infeasibility.stage} is worst off" in result.infeasibility.sentences[0]


@pytest.mark.parametrize("seed", OUT_OF_MEMORY)
def test_the_smallest_limit_is_enough_and_less_is_not(seed):
    tiny, limit = model(seed), answer(seed, "highs").infeasibility.smallest_limit_mb
    assert balance(tiny.profile, tiny.schedule, replace(tiny.request, memory_limit_mb=limit)).status is Status.OPTIMAL
    below = replace(tiny.request, memory_limit_mb=limit - 1e-3)
    assert balance(tiny.profile, tiny.schedule, below).status is Status.INFEASIBLE


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", CROWDED)
def test_too_few_layers_for_the_cells_are_infeasible_whatever_the_memory(seed, solver):
    result = answer(seed, solver)
    assert result.status is Status.INFEASIBLE
    assert result.infeasibility.stage is None
    assert result.infeasibility.smallest_limit_mb is None
    assert "body layer" in result.infeasibility.sentences[0]
