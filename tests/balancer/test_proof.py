"""A proof beside a search: its bound is honest at every moment, rises, meets the optimum, and ends when told."""

from threading import Event
from threading import enumerate as running_threads

import numpy as np
import pytest

from sapp_core.balancer.live_model import LiveModel
from sapp_core.balancer.path_bound import PROVEN
from sapp_core.balancer.plan_space import PlanSpace
from sapp_core.balancer.proof import Proof
from sapp_core.errors import SolverError
from sapp_core.schedules.registry import SCHEDULES
from tests.balancer.exact_spaces import allowed_plans, space_of_case, space_of_model, unit_of
from tests.balancer.recorded_cases import CASES
from tests.balancer.tiny_exact import exact_model, quickest


class Listener:
    """Stands for the search: knows a plan from the start, takes what the proof finds, and watches the bound."""

    def __init__(self, space: PlanSpace, plan: np.ndarray | None, seed: int = 0) -> None:
        self._space = space
        self._best = None if plan is None else (plan, float(space.step_times(plan[np.newaxis])[0]))
        self.bounds: list[float] = []
        self.asked = Event()
        self.proof = Proof(space, unit_of(space), seed, 0.0, self._known)

    def _known(self) -> tuple[np.ndarray, float] | None:
        self.bounds.append(self.proof.bound)
        for plan in self.proof.plans():
            assert self._space.allows(plan)
            step_time = float(self._space.step_times(plan[np.newaxis])[0])
            if self._best is None or step_time < self._best[1]:
                self._best = plan, step_time
        if len(self.bounds) > 20:
            self.asked.set()
        return self._best

    def to_the_end(self) -> float:
        """The bound when the proof has ended by itself; the plans it found count until then."""
        before = set(running_threads())
        self.proof.start()
        for thread in set(running_threads()) - before:
            thread.join(120.0)
            assert not thread.is_alive()
        self._known()
        return self.proof.bound

    @property
    def step_time(self) -> float:
        assert self._best is not None
        return self._best[1]


@pytest.mark.parametrize("seed", range(2, 5))
@pytest.mark.parametrize("name", [family.name for family in SCHEDULES])
@pytest.mark.parametrize("start", ["the slowest plan", "no plan"])
def test_it_ends_at_the_optimum_of_all_plans(name, seed, start):
    tiny = exact_model(name, seed)
    space = space_of_model(tiny)
    plans, step_times = allowed_plans(tiny, space)
    if not len(plans):
        if start == "no plan":
            nothing = Listener(space, None, seed)
            nothing.to_the_end()
            assert nothing.proof.infeasible
        return
    listener = Listener(space, plans[np.argmax(step_times)] if start == "the slowest plan" else None, seed)
    bound = listener.to_the_end()
    assert not listener.proof.infeasible
    assert listener.step_time == pytest.approx(quickest(tiny), rel=PROVEN)
    assert quickest(tiny) * (1 - PROVEN) <= bound <= quickest(tiny)
    assert listener.bounds == sorted(listener.bounds)


@pytest.mark.parametrize("name", ["e1", "d1"])
def test_it_proves_recorded_cases(name):
    space = space_of_case(name)
    known = CASES[name].get("best_known")
    listener = Listener(space, None)
    bound = listener.to_the_end()
    assert bound == pytest.approx(listener.step_time, rel=PROVEN)
    assert known is None or (bound <= known and listener.step_time == pytest.approx(known, rel=PROVEN))


def test_a_stopped_proof_is_over_at_once():
    """Whatever program is under way; c1 would keep it busy for minutes."""
    space = space_of_case("c1")
    before = set(running_threads())
    listener = Listener(space, (space.per_kind / np.bincount(space.kind))[space.kind])
    listener.proof.start()
    assert listener.asked.wait(120.0)
    listener.proof.stop()
    assert set(running_threads()) <= before
    asked, bound = len(listener.bounds), listener.proof.bound
    assert 0 < bound <= CASES["c1"]["best_known"]
    assert (len(listener.bounds), listener.proof.bound) == (asked, bound)


def test_what_fails_on_its_thread_is_told_to_whom_asks(monkeypatch):
    def fail(*_: object) -> None:
        raise SolverError("solver: highs failed.")

    monkeypatch.setattr(LiveModel, "solve", fail)
    proof = Proof(space_of_case("e1"), unit_of(space_of_case("e1")), 0, 0.0, lambda: None)
    proof.start()
    proof.stop()
    with pytest.raises(SolverError):
        _ = proof.bound
