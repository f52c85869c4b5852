"""The relaxation as a program that is solved again and again: rows are added when broken, dropped when idle.

The relaxed program of thousands of subproblems is the same but for some bounds. Each solve goes on from the last one,
so what it costs is the number of rows carried along.
"""

import numpy as np
from numpy.typing import NDArray

from sapp_core.balancer.path_bound import SAFETY, PlanModel
from sapp_core.balancer.path_rows import PathRows
from sapp_core.domain.result import Status

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

MIX = 0.3
"""Share of the best plan in the second point at which paths are sought; see in-out separation in `path_bound`."""
KNOWN_ENOUGH = 1e-3
"""Relative; when a path already known is broken by more, no other is sought."""
PER_ROUND = 40
"""Rows added at once, the most broken first."""
IDLE, WORTHWHILE = 8, 50
"""Rows go when they have not mattered for so many solves, and so many can go together."""
MOST_PATHS = 4_000
"""Paths remembered; beyond, the half that has not mattered for longest is forgotten."""


class PathCuts:
    """A relaxed program and the paths known to it.

    Args:
        model: relaxed, with no path yet.
        rows: paths known; those found are added.
    """

    def __init__(self, model: PlanModel, rows: PathRows) -> None:
        self.model = model
        self._rows = rows
        self._first = model.live.num_rows
        self._used: Ints = np.zeros(0, dtype=np.intp)  # `[row of the program, from the first]`, its path
        self._idle: Ints = np.zeros(0, dtype=np.intp)  # `[row of the program, from the first]`, solves
        self._solves = 0
        self._last = np.zeros(len(rows))  # `[path]`, the solve at which it last mattered

    def solve(self) -> tuple[float, Floats] | None:
        """Lower bound under the bounds now set, and `[column]` the answer; infinite when there is none.

        None when the program was stopped.
        """
        solved = self.model.live.solve(np.inf)
        if solved.status is Status.INFEASIBLE:
            return np.inf, np.zeros(0)
        if solved.bound is None or solved.values is None:
            return None
        self._solves += 1
        binding = np.abs(self.model.live.prices()[self._first :]) > 0
        self._idle = np.where(binding, 0, self._idle + 1)
        self._last[self._used[binding]] = self._solves
        return self.model.unit.to_profile(solved.bound) * (1 - SAFETY), solved.values

    def add_longest(self, plan: Floats, count: int) -> None:
        """Hand some of the paths known to the program: those longest under a (fractional) plan."""
        self._grow()
        self._hand_over(np.argsort(-self._rows.lengths(plan), kind="stable")[:count])

    def separate(self, plan: Floats, value: float, anchor: Floats) -> int:
        """Add paths that the last answer breaks, known ones first; how many.

        Args:
            plan: of the answer.
            value: its bound.
            anchor: a good plan; paths are also sought between both.
        """
        self._drop_idle()
        lengths = self._rows.lengths(plan)
        if lengths.max() <= value * (1 + KNOWN_ENOUGH):
            self._rows.add_from(plan)
            self._rows.add_from((1 - MIX) * plan + MIX * anchor)
            lengths = self._rows.lengths(plan)
        self._grow()
        broken = np.flatnonzero(lengths > value * (1 + 2 * SAFETY))
        broken = broken[~np.isin(broken, self._used)]
        chosen = broken[np.argsort(-lengths[broken], kind="stable")[:PER_ROUND]]
        self._hand_over(chosen)
        return len(chosen)

    def _grow(self) -> None:
        """Paths found count as used now."""
        self._last = np.append(self._last, np.full(len(self._rows) - len(self._last), float(self._solves)))

    def _hand_over(self, paths: Ints) -> None:
        if len(paths):
            self.model.add_paths(self._rows, paths)
            self._used = np.append(self._used, paths)
            self._idle = np.append(self._idle, np.zeros(len(paths), dtype=np.intp))
            self._last[paths] = self._solves

    def _drop_idle(self) -> None:
        """Forget rows of the program, and paths, that no longer matter."""
        idle = np.flatnonzero(self._idle > IDLE)
        if len(idle) >= WORTHWHILE:
            gone = self.model.live.drop_rows(self._first + idle) - self._first
            self._used, self._idle = np.delete(self._used, gone), np.delete(self._idle, gone)
        if len(self._rows) > MOST_PATHS:
            scores = self._last.copy()
            scores[self._used] = np.inf
            kept = self._rows.keep_longest(scores, max(MOST_PATHS // 2, len(self._used)))
            self._last = self._last[kept]
            self._used = np.searchsorted(kept, self._used)
