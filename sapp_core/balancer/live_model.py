"""A HiGHS model that stays: rows are added to it and it is solved again from where it stood."""

from dataclasses import dataclass

import highspy
import numpy as np
import pulp
from numpy.typing import NDArray

from sapp_core.balancer.solvers import TOLERANCE, finite, swallow_banner
from sapp_core.domain.result import Status
from sapp_core.errors import SolverError

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

DEFAULT_TOLERANCE = 1e-7
"""Of HiGHS, for rows of programs without whole numbers; with less, it takes some answers for doubtful."""


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """How one solve ended.

    Attributes:
        status: optimal means proven.
        value: of the answer; None without one.
        bound: proven lower bound; None when there is none.
        values: `[column]`; None without an answer.
    """

    status: Status
    value: float | None
    bound: float | None
    values: Floats | None


class LiveModel:
    """A program handed to HiGHS once.

    Args:
        problem: with its objective.
        seed: of the solver's random choices.
        relax: let every variable be fractional.
    """

    def __init__(self, problem: pulp.LpProblem, seed: int, *, relax: bool) -> None:
        swallow_banner()
        solver = pulp.HiGHS(
            mip=not relax,
            msg=False,
            # The first HiGHS on a thread sets for all later ones how many threads they may use; it is 1 everywhere.
            threads=1,
            gapRel=0.0,
            random_seed=seed,
            mip_feasibility_tolerance=TOLERANCE,
            # Whole layers must keep their limits to the last byte; a bound is rounded down anyway.
            primal_feasibility_tolerance=DEFAULT_TOLERANCE if relax else TOLERANCE,
        )
        solver.createAndConfigureSolver(problem)
        solver.buildSolverModel(problem)
        self._model: highspy.Highs = problem.solverModel
        self._relaxed = relax
        self._stopped = False
        self.column = {variable.name: number for number, variable in enumerate(problem.variables())}
        """Variable name → its position in `Solved.values`."""
        self.bound: float | None = None
        """Proven lower bound of the solve under way, as last told; may be read from another thread."""
        events = highspy.cb.HighsCallbackType
        self._model.setCallback(self._listen, None)
        for event in (events.kCallbackMipInterrupt, events.kCallbackSimplexInterrupt, events.kCallbackIpmInterrupt):
            self._model.startCallback(event)

    def add_rows(self, lower: Floats, columns: NDArray[np.int32], weights: Floats) -> None:
        """Add `weights · columns ≥ lower`: lower is `[row]`, weights are `[row][i]` for the i-th of the columns."""
        used = weights != 0
        starts = np.concatenate([[0], np.cumsum(used.sum(axis=1))[:-1]]).astype(np.int32)
        indices = np.broadcast_to(columns, weights.shape)[used]
        unlimited = np.full(len(lower), highspy.kHighsInf)
        self._model.addRows(len(lower), lower, unlimited, len(indices), starts, indices, weights[used])

    @property
    def num_rows(self) -> int:
        """Rows so far; the next one added gets this number."""
        return int(self._model.getNumRow())

    @property
    def num_columns(self) -> int:
        """Variables."""
        return len(self.column)

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped

    def between(self, row: int, lower: float, upper: float) -> None:
        """Give a row new bounds on both sides."""
        self._model.changeRowBounds(row, lower, upper)

    def prices(self) -> Floats:
        """`[row]`, what its bound costs in the last answer; 0 where it does not bind."""
        return np.array(self._model.getSolution().row_dual)

    def drop_rows(self, rows: Ints) -> Ints:
        """Remove those of some rows that do not bind the last answer, and go on from it.

        Returns:
            Rows removed, as they were numbered; later ones move up.
        """
        basis = self._model.getBasis()
        statuses = list(basis.row_status)
        idle = np.array([row for row in rows if statuses[row] == highspy.HighsBasisStatus.kBasic], dtype=np.int32)
        self._model.deleteRows(len(idle), idle)
        gone = set(idle.tolist())
        basis.row_status = [status for row, status in enumerate(statuses) if row not in gone]
        self._model.setBasis(basis)
        return idle.astype(np.intp)

    def limit(self, column: str, upper: float) -> None:
        """Give a variable a new upper bound; it has 0 as its lower one."""
        self._model.changeColBounds(self.column[column], 0.0, upper)

    def whole(self, columns: list[str]) -> None:
        """Make variables whole-numbered."""
        for name in columns:
            self._model.changeColIntegrality(self.column[name], highspy.HighsVarType.kInteger)

    def solve(self, seconds: float) -> Solved:
        """Solve to proven optimality, or until the time is up or `stop` is called.

        Raises:
            SolverError: HiGHS failed.
        """
        model, statuses = self._model, highspy.HighsModelStatus
        self.bound = None
        if self._stopped:
            return Solved(Status.NO_SOLUTION_IN_TIME, None, None, None)
        model.setOptionValue("time_limit", model.getRunTime() + max(seconds, 0.0))
        model.run()
        status = model.getModelStatus()
        if status in {statuses.kInfeasible, statuses.kUnboundedOrInfeasible}:
            return Solved(Status.INFEASIBLE, None, None, None)
        if status not in {statuses.kOptimal, statuses.kTimeLimit, statuses.kInterrupt}:
            raise SolverError(f"solver: highs ended without an answer ({model.modelStatusToString(status)}).")
        information = model.getInfo()
        proven = status == statuses.kOptimal
        if self._relaxed:
            bound = information.objective_function_value if proven else None
        else:
            bound = finite(information.mip_dual_bound)
        answered = information.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        if not answered:
            return Solved(Status.NO_SOLUTION_IN_TIME, None, bound, None)
        return Solved(
            status=Status.OPTIMAL if proven else Status.FEASIBLE,
            value=information.objective_function_value,
            bound=bound,
            values=np.array(model.getSolution().col_value),
        )

    def stop(self) -> None:
        """End a solve that another thread is in, and all later ones."""
        self._stopped = True

    def _listen(
        self,
        event: highspy.cb.HighsCallbackType,
        _message: str,
        state: highspy.cb.HighsCallbackOutput,
        order: highspy.cb.HighsCallbackInput,
        _data: object,
    ) -> None:
        if event == highspy.cb.HighsCallbackType.kCallbackMipInterrupt:
            self.bound = finite(state.mip_dual_bound)
        order.user_interrupt = self._stopped
