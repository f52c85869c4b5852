"""A proven lower bound of the step time: fractional plans against the longest paths found so far.

Minimise T over fractional plans under all rows known; simulate the answer; add the paths that made it longer than T;
again. T never exceeds the step time of any plan of whole layers. Separating also halfway between the answer and a
stable point (in-out separation, Ben-Ameur and Neto, "Acceleration of cutting-plane and column generation algorithms",
2007) takes far fewer rounds.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pulp import LpInteger

from sapp_core.balancer.ilp import PlacementProgram, enforces_recompute_first
from sapp_core.balancer.live_model import LiveModel
from sapp_core.balancer.path_rows import PathRows
from sapp_core.balancer.plan_space import PlanSpace
from sapp_core.balancer.time_unit import TimeUnit
from sapp_core.domain.result import Status

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

STEP = "step"
"""Name of the variable that stands for the step time."""
CLOSE = 1e-4
"""Relative; the relaxation has converged when simulation and bound are this close."""
SAFETY = 1e-6
"""Relative; what the tolerances of a solver could add to a bound at most."""
PROVEN = 1e-5
"""Relative; a gap up to this counts as proof."""


def step_program(program: PlacementProgram) -> PlacementProgram:
    """The program with a step time to minimise, which no row bounds yet."""
    problem = program.problem
    problem += problem.add_variable(STEP, 0)
    return program


class PlanModel:
    """Placement, pins and memory rows in HiGHS, and the step time to minimise, to be bounded by paths.

    Args:
        space: of plans.
        unit: of time in the model.
        seed: of the solver's random choices.
        relax: let plans be fractional.
    """

    def __init__(self, space: PlanSpace, unit: TimeUnit, seed: int, *, relax: bool) -> None:
        program = step_program(space.question.placement(unit))
        self.space = space
        self.unit = unit
        self._scale = unit.to_profile(1.0)
        self._relaxed = relax
        self.live = LiveModel(program.problem, seed, relax=relax)
        names = [variable.name for kind in program.counts for mode in kind for variable in mode]
        self.columns = np.array([self.live.column[name] for name in names], dtype=np.int32)
        self.whole_columns = np.array(
            [self.live.column[variable.name] for variable in program.problem.variables() if variable.cat == LpInteger]
        )
        """Columns that are whole-numbered in every plan."""
        self._step = self.live.column[STEP]
        # Thousands of them in large pipelines: building them one by one as text would take longer than solving.
        self.live.add_rows(-space.room, self.columns, -space.memory)

    def add_paths(self, rows: PathRows, numbers: Ints) -> None:
        """Add `step ≥ constant + weights · x` for each."""
        columns = np.append(self.columns, self._step).astype(np.int32)
        weights = np.column_stack([-rows.weights[numbers] / self._scale, np.ones(len(numbers))])
        self.live.add_rows(rows.constants[numbers] / self._scale, columns, weights)

    def op_times(self, values: Floats) -> Floats:
        """`[kind][chunk][stage]`, durations of an answer."""
        plan = values[self.columns] if self._relaxed else np.rint(values[self.columns])
        times: Floats = self.space.op_times(plan[np.newaxis])[0]
        return times

    def vector(self, values: Floats) -> Floats | None:
        """The plan of an answer; None when plans may be fractional."""
        if self._relaxed:
            return None
        plan: Floats = np.rint(values[self.columns])
        return plan


@dataclass(frozen=True, slots=True, eq=False)
class Relaxed:
    """The relaxation after some rounds.

    Attributes:
        bound: no plan of whole layers has a smaller step time; infinite when not even a fractional plan exists.
        point: the quickest fractional plan so far; None when there is none.
        step_time: of it, simulated.
    """

    bound: float
    point: Floats | None
    step_time: float


def relaxation(model: PlanModel, rows: PathRows) -> Iterator[Relaxed]:
    """The state after every round, until the bound has converged; nothing more when the model is stopped.

    Args:
        model: relaxed, with no path yet.
        rows: paths known; those found are added.
    """
    space = model.space
    spread = space.per_kind / np.bincount(space.kind)
    rows.add_from(spread[space.kind])
    missing = np.ones(len(rows.constants), dtype=bool)
    broken = missing.copy()
    bound = 0.0
    best, best_time = None, np.inf
    while True:
        # A path that the answer does not break would only make the program larger; it may be broken later.
        model.add_paths(rows, np.flatnonzero(broken))
        missing &= ~broken
        solved = model.live.solve(np.inf)
        if solved.status is Status.INFEASIBLE:
            yield Relaxed(np.inf, None, np.inf)
            return
        if solved.bound is None or solved.values is None:
            return
        bound = max(bound, model.unit.to_profile(solved.bound) * (1 - SAFETY))
        answer = solved.values[model.columns]
        # Both keep all rows but those of paths still unknown, and so does what lies between them.
        for candidate in (answer,) if best is None else (0.5 * (answer + best), answer):
            step_time, _ = rows.add_from(candidate)
            if step_time < best_time:
                best, best_time = candidate, step_time
        yield Relaxed(bound, best, best_time)
        missing = np.append(missing, np.ones(len(rows.constants) - len(missing), dtype=bool))
        broken = missing & (rows.lengths(answer) > bound * (1 + 2 * SAFETY))
        if best_time - bound <= CLOSE * best_time or not broken.any():
            return


def rounded(space: PlanSpace, point: Floats) -> Floats:
    """A plan of whole layers near a fractional one: every layer once, no empty cell, pins kept, kinds in order.

    Layers of each virtual stage by largest remainders, within what it must and may hold, then the run of all layers cut
    accordingly, then the modes of each kind in each cell by largest remainders. A plan that is all this already stays
    as it is. Memory rows may break: that is for the search to mend.
    """
    held: Floats = np.bincount(space.cell, weights=point, minlength=len(space.least)).astype(np.float64)
    total = int(space.per_kind.sum())
    room = np.clip(_whole(held, total), space.least, space.most)
    for _ in range(int(room.sum()) - total):
        room[np.argmax(room - space.least)] -= 1
    for _ in range(total - int(room.sum())):
        room[np.argmax(np.where(room < space.most, held - room, -np.inf))] += 1

    kinds = np.repeat(np.arange(len(space.per_kind)), space.per_kind)
    cells = np.repeat(np.arange(len(room)), room)
    vector = np.zeros(space.size)
    for kind, cell in sorted(set(zip(kinds.tolist(), cells.tolist(), strict=True))):
        own = np.flatnonzero((space.kind == kind) & (space.cell == cell))
        count = int(((kinds == kind) & (cells == cell)).sum())
        # A cell that had none of this kind takes the modes that the kind has elsewhere.
        share: Floats = point[own] if point[own].sum() > 0 else _modes_of(space, point, kind)
        vector[own] = _whole(share / share.sum() * count, count)
    if enforces_recompute_first(space.question.profile):
        _recompute_first(space, vector)
    return vector


def _recompute_first(space: PlanSpace, vector: Floats) -> None:
    """Recompute all layers of a kind in the cells where a later kind is recomputed."""
    last = space.mode.max()
    for cell in range(len(space.least)):
        here = space.cell == cell
        later = space.kind[here & (space.mode == last) & (vector > 0)].max(initial=0)
        for kind in range(later):
            stored, recomputed = np.flatnonzero(here & (space.kind == kind))
            vector[recomputed] += vector[stored]
            vector[stored] = 0.0


def _modes_of(space: PlanSpace, point: Floats, kind: int) -> Floats:
    """`[mode]`, layers of a kind in all cells together."""
    of_kind = np.flatnonzero(space.kind == kind)
    modes: Floats = np.bincount(space.mode[of_kind], weights=point[of_kind]).astype(np.float64)
    return modes


def _whole(amounts: Floats, total: int) -> Ints:
    """Whole numbers near some amounts, with a given sum: largest remainders."""
    whole: Ints = np.floor(amounts + CLOSE).astype(np.intp)
    left = total - int(whole.sum())
    order = np.argsort(-(amounts - whole), kind="stable")
    whole[order[: max(left, 0)]] += 1
    for number in order[::-1][: max(-left, 0)]:
        whole[number] -= 1
    return whole
