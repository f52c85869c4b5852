"""Dividing fractional plans: the bound is honest after every solve and ends at the optimum."""

from itertools import islice, pairwise

import numpy as np
import pytest

from sapp_core.balancer import path_cuts
from sapp_core.balancer.branch_and_cut import BranchAndCut
from sapp_core.balancer.path_bound import PROVEN, PlanModel, relaxation
from sapp_core.balancer.path_rows import PathRows
from sapp_core.balancer.plan_space import PlanSpace
from sapp_core.schedules.registry import SCHEDULES
from tests.balancer.exact_spaces import allowed_plans, space_of_case, space_of_model, unit_of
from tests.balancer.recorded_cases import CASES
from tests.balancer.tiny_exact import exact_model, quickest


def started(
    space: PlanSpace, plan: np.ndarray, step_time: float, seed: int = 0
) -> tuple[BranchAndCut, PlanModel, float]:
    """A search that seeks paths near a plan and is to beat a step time, its program, and the relaxation's bound."""
    unit, rows = unit_of(space), PathRows(space)
    *_, relaxed = relaxation(PlanModel(space, unit, seed, relax=True), rows)
    model = PlanModel(space, unit, seed, relax=True)
    search = BranchAndCut(model, rows, relaxed.point, plan)
    search.beat(step_time)
    return search, model, relaxed.bound


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", [family.name for family in SCHEDULES])
def test_it_ends_at_the_optimum_of_all_plans(name, seed):
    """From the slowest plan of all, so that it has to find the quickest one itself."""
    tiny = exact_model(name, seed)
    if not tiny.fits.any():
        return
    space = space_of_model(tiny)
    plans, step_times = allowed_plans(tiny, space)
    search, _, relaxed = started(space, plans[np.argmax(step_times)], step_times.max(), seed)
    known = step_times.max()
    bounds = [relaxed]
    for state in search.steps():
        bounds.append(state.bound)
        if state.plan is not None:
            assert space.allows(state.plan)
            known = min(known, space.step_times(state.plan[np.newaxis])[0])
    assert known == pytest.approx(quickest(tiny), rel=PROVEN)
    assert max(bounds) <= quickest(tiny)
    assert bounds[-1] >= quickest(tiny) * (1 - PROVEN)


def test_forgetting_paths_and_rows_changes_nothing(monkeypatch):
    monkeypatch.setattr(path_cuts, "MOST_PATHS", 40)
    monkeypatch.setattr(path_cuts, "WORTHWHILE", 2)
    monkeypatch.setattr(path_cuts, "IDLE", 1)
    for seed in range(3):
        test_it_ends_at_the_optimum_of_all_plans("vpp", seed)


@pytest.mark.parametrize("name", ["a2", "c1"])
def test_it_raises_the_bound_of_interleaved_cases_honestly(name):
    space = space_of_case(name)
    search, _, relaxed = started(space, even_spread(space), CASES[name]["best_known"] * 1.01)
    bounds = [state.bound for state in islice(search.steps(), 120)]
    assert all(later >= earlier * (1 - 1e-9) for earlier, later in pairwise(bounds))
    assert relaxed * 1.002 < bounds[-1] <= CASES[name]["best_known"]


def even_spread(space: PlanSpace) -> np.ndarray:
    """Paths may be sought near anything."""
    return (space.per_kind / np.bincount(space.kind))[space.kind]


def test_the_same_seed_takes_the_same_steps():
    space = space_of_case("e2")
    runs = []
    for _ in range(2):
        search, _, _ = started(space, even_spread(space), 5300.0)
        runs.append([state.bound for state in islice(search.steps(), 100)])
    assert runs[0] == runs[1]


@pytest.mark.parametrize("after", [1, 2, 30])
def test_it_says_nothing_more_once_stopped(after):
    space = space_of_case("e2")
    search, model, _ = started(space, even_spread(space), 5300.0)
    states = search.steps()
    assert len(list(islice(states, after))) == after
    model.live.stop()
    assert list(states) == []
