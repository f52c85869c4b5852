"""Raising the lower bound until it meets the best plan, on a thread beside the search.

HiGHS works outside the interpreter, so both go on at once. The relaxation of fractional plans is solved to its end.
Then, with the paths found so far, patterns of stages are chosen where a stage is one cell and there is one body kind;
elsewhere fractional plans are divided until no part is left. Before any plan is known, whole plans are sought. The best
step time known is a cut-off: when nothing is left below it, that plan is the best.
"""

from collections.abc import Callable
from threading import Lock, Thread
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sapp_core.balancer.branch_and_cut import BranchAndCut
from sapp_core.balancer.live_model import LiveModel, Solved
from sapp_core.balancer.path_bound import PROVEN, SAFETY, STEP, PlanModel, relaxation
from sapp_core.balancer.path_rows import PathRows
from sapp_core.balancer.pattern_model import PatternModel
from sapp_core.balancer.plan_space import PlanSpace
from sapp_core.balancer.stage_patterns import Pattern, applies, stage_patterns
from sapp_core.balancer.time_unit import TimeUnit
from sapp_core.domain.result import Status
from sapp_core.errors import SappError

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class StepModel(Protocol):
    """A program that minimises the step time, as `Proof` uses it."""

    live: LiveModel

    def add_paths(self, rows: PathRows, numbers: Ints) -> None:
        """Bound the step time by some of the paths."""

    def op_times(self, values: Floats) -> Floats:
        """`[kind][chunk][stage]`, durations that an answer stands for."""

    def vector(self, values: Floats) -> Floats | None:
        """The plan that an answer stands for; None when its layers are not whole."""


NEAR = 0.98
"""Paths are handed to a program when this near the longest, under the relaxed or the best plan."""
MOST_ROWS = 1_500


class Proof:
    """A running proof.

    Args:
        space: of plans.
        unit: of time in the programs.
        seed: of the solver's random choices.
        bound: proven so far.
        best: the best plan and its step time, or None; asked before each program.
    """

    def __init__(
        self,
        space: PlanSpace,
        unit: TimeUnit,
        seed: int,
        bound: float,
        best: Callable[[], tuple[Floats, float] | None],
    ) -> None:
        self._space = space
        self._unit = unit
        self._seed = seed
        self._best = best
        self._rows = PathRows(space)
        self._lock = Lock()
        self._bound = bound
        self._model: LiveModel | None = None
        self._found: list[Floats] = []
        self._stopped = False
        self._failure: SappError | None = None
        self._cut_off = np.inf
        self.infeasible = False
        """No plan of whole layers keeps every row."""
        self._thread = Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End soon, and wait for it."""
        with self._lock:
            self._stopped = True
            if self._model is not None:
                self._model.stop()
        self._thread.join()

    @property
    def bound(self) -> float:
        """No plan is faster: proven so far, in the profile's unit of time.

        Raises:
            SappError: the solver failed.
        """
        if self._failure is not None:
            raise self._failure
        with self._lock:
            live = None if self._model is None else self._model.bound
        return max(self._bound, self._capped(live))

    def plans(self) -> list[Floats]:
        """Plans found since the last call."""
        with self._lock:
            found, self._found = self._found, []
        return found

    def _run(self) -> None:
        try:
            point = self._relax()
            if point is None or self._over():
                return
            known = self._best()
            if known is not None:
                self._rows.add_from(known[0])
            self._forget(point, None if known is None else known[0])
            if known is None:
                self._whole_plans()
                return
            patterns = stage_patterns(self._space, known[1], self._over) if applies(self._space) else None
            if self._over():
                return
            if patterns is None:
                self._divide(point, known[0])
            else:
                self._patterns(patterns)
        except SappError as error:
            self._failure = error

    def _relax(self) -> Floats | None:
        """The relaxation to its end; the quickest fractional plan."""
        model = PlanModel(self._space, self._unit, self._seed, relax=True)
        self._use(model.live)
        point = None
        for state in relaxation(model, self._rows):
            point = state.point
            if point is None:
                self.infeasible = True
                break
            self._raise(state.bound)
            if self._over():
                break
        self._use(None)
        return point

    def _over(self) -> bool:
        """Whether it was stopped, or the bound has met the best plan."""
        known = self._best()
        return self._stopped or (known is not None and known[1] - self._bound <= PROVEN * known[1])

    def _raise(self, bound: float) -> None:
        with self._lock:
            self._bound = max(self._bound, bound)

    def _capped(self, live: float | None) -> float:
        """A bound of a program under way, in the profile's unit; it says nothing above the cut-off."""
        return 0.0 if live is None else min(self._unit.to_profile(live) * (1 - SAFETY), self._cut_off)

    def _forget(self, *points: Floats | None) -> None:
        """Keep the paths that are near the longest under one of some plans."""
        lengths = [self._rows.lengths(point) for point in points if point is not None]
        self._rows.keep_longest(np.max([row / row.max() for row in lengths], axis=0), MOST_ROWS, NEAR)

    def _whole_plans(self) -> None:
        """The full program; each of its answers is a plan."""
        self._tighten(PlanModel(self._space, self._unit, self._seed, relax=False))

    def _patterns(self, patterns: tuple[tuple[Pattern, ...], ...]) -> None:
        """Whole layers per stage, then one pattern a stage."""
        model = PatternModel(self._space, patterns, self._unit, self._seed)
        for whole in model.levels:
            model.live.whole(whole)
            if not self._tighten(model):
                return

    def _divide(self, point: Floats, plan: Floats) -> None:
        """Divide the fractional plans until no part is left."""
        model = PlanModel(self._space, self._unit, self._seed, relax=True)
        self._use(model.live)
        search = BranchAndCut(model, self._rows, point, plan)
        for state in search.steps():
            self._raise(state.bound)
            if state.plan is not None:
                self._offer(state.plan)
            known = self._best()
            if known is not None:
                search.beat(known[1])
            if self._over():
                break
        self._use(None)

    def _tighten(self, model: StepModel) -> bool:
        """Solve and add the paths that its answer breaks, until it breaks none; False when all is said."""
        scale = self._unit.to_profile(1.0)
        missing = np.ones(len(self._rows.constants), dtype=bool)
        broken = missing.copy()
        while True:
            model.add_paths(self._rows, np.flatnonzero(broken))
            missing &= ~broken
            known = self._best()
            if known is not None:
                self._cut_off = known[1] * (1 - PROVEN / 2)
                model.live.limit(STEP, self._cut_off / scale)
            solved = self._solved(model.live)
            if solved.status is Status.INFEASIBLE:
                self.infeasible = known is None
                self._raise(0.0 if known is None else self._cut_off)
                return False
            self._raise(self._capped(solved.bound))
            if solved.values is None or solved.value is None:
                return False
            vector = model.vector(solved.values)
            if vector is not None:
                self._offer(vector)
            if solved.status is not Status.OPTIMAL:
                return False
            durations = model.op_times(solved.values)
            self._rows.add_from_times(durations)
            missing = np.append(missing, np.ones(len(self._rows.constants) - len(missing), dtype=bool))
            broken = missing & (self._rows.lengths_of_times(durations) > solved.value * scale * (1 + SAFETY))
            if not broken.any():
                return True

    def _solved(self, live: LiveModel) -> Solved:
        self._use(live)
        solved = live.solve(np.inf)
        self._use(None)
        return solved

    def _use(self, live: LiveModel | None) -> None:
        """Make a program the one under way, which `stop` ends."""
        with self._lock:
            self._model = live
            if self._stopped and live is not None:
                live.stop()

    def _offer(self, vector: Floats) -> None:
        with self._lock:
            self._found.append(vector)
