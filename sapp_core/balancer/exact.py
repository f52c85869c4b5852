"""The exact balancer: minimise the simulated step time itself, and say how far from perfect the plan can be.

A few rounds of the relaxation give a bound and a fractional plan; rounded, it starts a local search. Beside the search
a proof raises the bound. It ends when both meet, when the time is up, or when the caller stops asking.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from sapp_core.balancer.local_search import LocalSearch
from sapp_core.balancer.path_bound import PROVEN, PlanModel, Relaxed, relaxation, rounded
from sapp_core.balancer.path_rows import PathRows
from sapp_core.balancer.plan_space import PlanSpace
from sapp_core.balancer.proof import Proof
from sapp_core.balancer.time_unit import TimeUnit
from sapp_core.domain.plan import even_split
from sapp_core.domain.result import Status

Floats = NDArray[np.float64]

FIRST_ROUNDS, FIRST_SLOTS = (10, 80), 300_000
"""Rounds of the relaxation before the search starts: at most as many as simulate so many slots, within a range."""
NEAR = 0.03
"""Relative; the search starts when simulation and bound of the fractional plan are this close."""
MORE_ROUNDS = 8
"""Of the relaxation, between two starts of the search."""
FIRST_STEPS = 40
"""Of the search, before the proof starts: it needs a plan to beat."""
OWN_STEPS = 400
"""Steps that the search takes on its own before it hears of plans found by the proof.

So the same seed gives the same plan when the proof ends a run: the first plan of this length in the search's own
sequence, or else the proof's.
"""


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """The search at one moment.

    Attributes:
        status: `FEASIBLE` or `NO_SOLUTION_IN_TIME` on the way; `OPTIMAL` and `INFEASIBLE` end it.
        vector: the best plan, None before the first.
        step_time: of the best plan, in the profile's unit of time.
        bound: proven lower bound of the step time.
    """

    status: Status
    vector: Floats | None
    step_time: float
    bound: float


def exact_search(
    space: PlanSpace, unit: TimeUnit, seed: int, start: Floats | None = None
) -> Generator[State, None, None]:
    """The state after every step; the last one is final, earlier ones may be taken as the answer at any time.

    Args:
        space: of plans.
        unit: of time inside the programs.
        seed: of all random choices.
        start: a plan to begin from, whether it may be answered or not; None = begin from even splits.
    """
    even = _even_splits(space)
    given = [] if start is None else [rounded(space, start)]
    bound, point, best = 0.0, None, _quickest(space, [*given, *even])
    if best is not None:
        yield State(Status.FEASIBLE, *best, bound)
    relaxed = relaxation(PlanModel(space, unit, seed, relax=True), PathRows(space))
    rounds = min(max(FIRST_SLOTS // max(1, space.prepared.num_slots), FIRST_ROUNDS[0]), FIRST_ROUNDS[1])
    for state in islice(relaxed, rounds):
        bound, point = state.bound, state.point
        if point is None:
            yield State(Status.INFEASIBLE, None, np.inf, np.inf)
            return
        if best is None:
            yield State(Status.NO_SOLUTION_IN_TIME, None, np.inf, bound)
        else:
            yield State(Status.FEASIBLE, *best, min(bound, best[1]))
        if state.step_time - bound <= NEAR * state.step_time:
            break
    yield from _Exact(space, unit, seed, bound, best).states(chain(given, _starts(space, point, even, relaxed)))


def _even_splits(space: PlanSpace) -> list[Floats]:
    """One for each recompute mode, the most recomputation first."""
    profile, pipeline = space.question.profile, space.question.schedule.pipeline
    plans = (even_split(profile, pipeline, mode) for mode in reversed(profile.modes))
    return [rounded(space, space.vector(plan)) for plan in plans]


def _quickest(space: PlanSpace, vectors: list[Floats]) -> tuple[Floats, float] | None:
    """Of the plans that may be answered, the quickest and its step time."""
    allowed = [vector for vector in vectors if space.allows(vector)]
    if not allowed:
        return None
    step_times = space.step_times(np.array(allowed))
    best = int(np.argmin(step_times))
    return allowed[best], float(step_times[best])


def _starts(space: PlanSpace, point: Floats | None, even: list[Floats], relaxed: Iterator[Relaxed]) -> Iterator[Floats]:
    """Where the search begins: near the fractional plan, at even splits, and near what the relaxation goes on to.

    They lie in different valleys. Of the even splits, that with most recomputation comes first: with several body
    kinds it keeps the memory rows out of the way while the cells where kinds meet are sought.
    """
    if point is not None:
        yield rounded(space, point)
    yield even[0]
    if len(even) > 1:
        yield even[-1]
    while later := list(islice(relaxed, MORE_ROUNDS)):
        if later[-1].point is not None:
            yield rounded(space, later[-1].point)


class _Exact:
    """Search and proof side by side."""

    def __init__(
        self, space: PlanSpace, unit: TimeUnit, seed: int, bound: float, best: tuple[Floats, float] | None
    ) -> None:
        self._space = space
        self._search = LocalSearch(space, PathRows(space), seed)
        if best is not None:
            self._search.offer(best[0])
        self._proof = Proof(space, unit, seed, bound, lambda: self._best)
        self._bound = bound
        self._best = best
        self._steps = 0

    def states(self, starts: Iterator[Floats]) -> Generator[State, None, None]:
        """Until bound and plan meet."""
        steps = self._search.steps(starts)
        while self._steps < FIRST_STEPS and not self._met():
            self._step(steps)
            yield self._state()
        self._proof.start()
        try:
            while not (self._met() and self._settled()):
                self._step(steps)
                self._listen()
                if self._proof.infeasible and self._best is None:
                    yield State(Status.INFEASIBLE, None, np.inf, np.inf)
                    return
                yield self._state()
        finally:
            self._proof.stop()
        yield replace(self._state(), status=Status.OPTIMAL)

    def _step(self, steps: Iterator[bool]) -> None:
        """One step of the search."""
        next(steps)
        self._steps += 1
        if self._search.best is not None:
            self._consider(self._search.best, self._search.best_time)

    def _listen(self) -> None:
        """Take what the proof has found."""
        self._bound = max(self._bound, self._proof.bound)
        for vector in self._proof.plans():
            if self._space.allows(vector):
                self._consider(vector, float(self._space.step_times(vector[np.newaxis])[0]))
        if self._steps > OWN_STEPS and self._best is not None and not self._settled():
            self._search.offer(self._best[0])

    def _consider(self, vector: Floats, step_time: float) -> None:
        if self._best is None or step_time < self._best[1]:
            self._best = vector, step_time

    def _met(self) -> bool:
        return self._best is not None and self._best[1] - self._bound <= PROVEN * self._best[1]

    def _settled(self) -> bool:
        """Whether the search has had its time to find a plan as good as the best; then that one is taken."""
        if self._best is not None and self._search.best is not None and self._search.best_time <= self._best[1]:
            self._best = self._search.best, self._search.best_time
            return True
        return self._steps > OWN_STEPS

    def _state(self) -> State:
        if self._best is None:
            return State(Status.NO_SOLUTION_IN_TIME, None, np.inf, self._bound)
        vector, step_time = self._best
        return State(Status.FEASIBLE, vector, step_time, min(self._bound, step_time))
