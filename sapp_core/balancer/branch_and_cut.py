"""Raising the lower bound by dividing the fractional plans, the part with the lowest bound first.

A solver's own branch and bound knows only the paths it was given, and starts anew with every path more. Here paths are
sought in every part, and serve all others: a stage forced to hold one layer more becomes the bottleneck, and the paths
along it show what that costs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from sapp_core.balancer.branching import Gains, Sums, whole_sums
from sapp_core.balancer.path_bound import PROVEN, PlanModel
from sapp_core.balancer.path_cuts import PathCuts
from sapp_core.balancer.path_rows import PathRows

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

FIRST_PATHS = 100
"""Paths the program starts with."""
STRESS = (1.05, 1.17, 1.35)
"""Stages are made so much slower to find the paths along them before any answer breaks them."""
SLOW, WINDOW = 5e-3, 3
"""A part is divided when its bound has gained less than this, relative, in so many rounds."""
AHEAD = 3e-3
"""Relative; a part this far above the lowest one waits for its turn."""
SMALL = 1e-6
"""Relative; gains below count as this when sums are compared."""


@dataclass(frozen=True, slots=True, eq=False, order=False)
class Part:
    """The plans whose sums lie within bounds.

    Attributes:
        lower, upper: `[sum]`.
        bound: no plan among them is faster.
    """

    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)
    bound: float

    def half(self, number: int, value: float, side: int, bound: float) -> "Part":
        """Those below (0) or above (1) a fractional value of a sum."""
        lower, upper = self.lower.copy(), self.upper.copy()
        if side:
            lower[number] = np.ceil(value)
        else:
            upper[number] = np.floor(value)
        return Part(lower, upper, max(bound, self.bound))


@dataclass(frozen=True, slots=True, eq=False)
class Proven:
    """The state after a solve.

    Attributes:
        bound: no plan is faster, but for a gap that counts as proof.
        plan: a plan just found that may be answered, or None.
    """

    bound: float
    plan: Floats | None = None


class BranchAndCut:
    """One search for the lowest bound.

    Args:
        model: relaxed, with no path yet.
        rows: paths known; those found are added.
        point: the best fractional plan.
        anchor: the best plan.
    """

    def __init__(self, model: PlanModel, rows: PathRows, point: Floats, anchor: Floats) -> None:
        self._cut_off = np.inf
        self._ceiling = np.inf
        self._model = model
        self._anchor = anchor
        self._sums: Sums = whole_sums(model)
        self._gains = Gains(len(self._sums.level))
        self._first = model.live.num_rows
        columns = np.arange(model.live.num_columns, dtype=np.int32)
        model.live.add_rows(np.zeros(len(self._sums.level)), columns, self._sums.weights)
        whole = np.full(len(self._sums.level), float(model.space.per_kind.sum()))
        self._set = Part(np.zeros(len(whole)), np.full(len(whole), np.inf), 0.0)
        self._open: list[tuple[float, int, Part]] = [(0.0, 0, Part(np.zeros(len(whole)), whole, 0.0))]
        self._made = 1
        self._stress(rows, point)
        self._cuts = PathCuts(model, rows)
        self._cuts.add_longest(point, FIRST_PATHS)

    def beat(self, step_time: float) -> None:
        """A plan this quick is known: only faster ones are of interest."""
        self._cut_off = min(self._cut_off, step_time * (1 - PROVEN / 2))

    def steps(self) -> Iterator[Proven]:
        """The state after every solve, until no part is left; fewer when the program is stopped."""
        while self._open:
            bound, _, part = heappop(self._open)
            if bound >= self._cut_off:
                break
            yield from self._treat(part)
            if self._model.live.stopped:
                return
        yield Proven(self._lowest(np.inf))

    def _treat(self, part: Part) -> Iterator[Proven]:
        """Cut a part until it is above the cut-off, or divide it."""
        history: list[float] = []
        while True:
            solved = self._solve(part)
            if solved is None:
                return
            part = Part(part.lower, part.upper, max(part.bound, solved[0]))
            yield Proven(self._lowest(part.bound))
            if part.bound >= self._cut_off:
                return
            plan = solved[1][self._model.columns]
            added = self._cuts.separate(plan, solved[0], self._anchor)
            history.append(solved[0])
            slow = len(history) > WINDOW and history[-1] - history[-1 - WINDOW] < SLOW * history[-1]
            if added and not slow:
                continue
            if self._open and part.bound > self._open[0][0] * (1 + AHEAD):
                self._push(part)
                return
            numbers, sums = self._sums.fractional(solved[1])
            if len(numbers):
                self._divide(part, numbers, sums)
                return
            if not added:
                yield self._whole(part, np.rint(plan))
                return

    def _whole(self, part: Part, plan: Floats) -> Proven:
        """All sums of the answer are whole, so it is the quickest plan of its part."""
        space = self._model.space
        if space.allows(plan):
            self.beat(float(space.step_times(plan[np.newaxis])[0]))
            return Proven(self._lowest(part.bound), plan)
        # A limit is kept to the solver's tolerance only. What is said of the part stays true.
        self._ceiling = min(self._ceiling, part.bound)
        return Proven(self._lowest(part.bound))

    def _divide(self, part: Part, numbers: Ints, sums: Floats) -> None:
        """Into two, on the sum that promises most."""
        best, halves = -np.inf, []
        for number in numbers.tolist():
            value = float(sums[number])
            tried, gains = [], []
            for side, distance in enumerate((value - np.floor(value), np.ceil(value) - value)):
                half = part.half(number, value, side, part.bound)
                gain = self._gains.expected(number, side, distance)
                if gain is None:
                    solved = self._solve(half)
                    if solved is None:
                        return
                    half = part.half(number, value, side, solved[0])
                    gain = min(half.bound, self._cut_off, 2 * part.bound) - part.bound
                    self._gains.learn(number, side, gain, distance)
                tried.append(half)
                gains.append(max(gain, SMALL * part.bound))
            if gains[0] * gains[1] > best:
                best, halves = gains[0] * gains[1], tried
        for half in halves:
            self._push(half)

    def _solve(self, part: Part) -> tuple[float, Floats] | None:
        for number in np.flatnonzero((part.lower != self._set.lower) | (part.upper != self._set.upper)).tolist():
            self._model.live.between(self._first + number, float(part.lower[number]), float(part.upper[number]))
        self._set = part
        return self._cuts.solve()

    def _push(self, part: Part) -> None:
        if part.bound < self._cut_off:
            heappush(self._open, (part.bound, self._made, part))
            self._made += 1

    def _lowest(self, bound: float) -> float:
        """Of all parts, one with this bound included."""
        return min(bound, self._cut_off, self._ceiling, self._open[0][0] if self._open else np.inf)

    def _stress(self, rows: PathRows, point: Floats) -> None:
        """Find the paths along each stage, under the fractional plan, the best plan, and one between."""
        space = self._model.space
        for plan in (point, self._anchor, 0.5 * (point + self._anchor)):
            durations = space.op_times(plan[np.newaxis])[0]
            for stage in range(durations.shape[2]):
                for factor in STRESS:
                    slower = durations.copy()
                    slower[:, :, stage] *= factor
                    rows.add_from_times(slower, most=1)
