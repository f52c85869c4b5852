from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from sapp_core.balancer.local_search import LocalSearch
from sapp_core.balancer.path_bound import rounded
from sapp_core.balancer.path_rows import PathRows
from sapp_core.balancer.plan_space import PlanSpace, plan_space
from sapp_core.balancer.question import question_of
from sapp_core.domain.plan import even_split
from sapp_core.domain.result import MemoryModel
from tests.balancer.recorded_cases import recorded_case


def space_of(name: str) -> PlanSpace:
    profile, schedule, request = recorded_case(name)
    return plan_space(question_of(profile, schedule, replace(request, memory_model=MemoryModel.EXACT)))


def even_splits(space: PlanSpace) -> list[np.ndarray]:
    question = space.question
    plans = (
        even_split(question.profile, question.schedule.pipeline, mode) for mode in reversed(question.profile.modes)
    )
    return [rounded(space, space.vector(plan)) for plan in plans]


def searched(space: PlanSpace, seed: int, steps: int) -> LocalSearch:
    search = LocalSearch(space, PathRows(space), seed)
    for _ in islice(search.steps(even_splits(space)), steps):
        pass
    return search


@pytest.mark.parametrize(("name", "known"), [("e1", 5862.6), ("e2", 5277.8), ("d1", 34259.0), ("d2", 29334.0)])
def test_it_finds_good_plans_in_few_steps(name, known):
    """d2 has two body kinds: where they meet has to move along, past plans that no pair of moves leaves."""
    space = space_of(name)
    search = searched(space, seed=0, steps=300)
    assert search.best_time <= known * 1.0005
    assert space.allows(search.best)
    assert space.step_times(search.best[np.newaxis])[0] == search.best_time
    assert np.array_equal(np.bincount(space.kind, weights=search.best), space.per_kind)


def test_its_steps_depend_on_the_seed_alone():
    space = space_of("e1")
    first, second, other = (searched(space, seed, 200) for seed in (3, 3, 4))
    assert np.array_equal(first.best, second.best)
    assert np.array_equal(first._rows.weights, second._rows.weights)
    assert not np.array_equal(first._rows.weights, other._rows.weights)


def test_excess_after_moves_is_that_of_the_moved_plans():
    """Moves on the same stage and on different ones, one by one and in pairs."""
    space = space_of("e2")
    search = LocalSearch(space, PathRows(space), 0)
    plan = even_splits(space)[-1]
    moves = search._legal_moves(plan)
    random = np.random.default_rng(0)
    for together in (1, 2):
        candidates = random.integers(len(moves), size=(300, together))
        expected = [space.excess(vector) for vector in search._moved(plan, moves[candidates])]
        assert search._excess(plan, moves, candidates) == pytest.approx(expected)
        assert max(expected) > 0
