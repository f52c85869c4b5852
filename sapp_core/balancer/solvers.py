"""The solvers behind one small interface; the only file that knows how PuLP calls them and what they answer.

The status of PuLP 3.3 says "Optimal" after a time limit too; only `sol_status` tells. PuLP 4 answers with
`LpSolveStats` and brings no CBC of its own: then `_answer` and `_cbc_path` change, and nothing outside this file.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Protocol

import highspy
import pulp

from sapp_core.balancer.cbc_log import best_and_bound
from sapp_core.domain.result import Status
from sapp_core.errors import SolverError

POLL_SECONDS = 0.2
"""Between two looks at a running solver."""
TOLERANCE = 1e-9
"""Of rows and whole numbers: with the solvers' own 1e-6, some MiB could slip past a limit of many thousands."""


@dataclass(frozen=True, slots=True)
class Effort:
    """What a solver may spend.

    Attributes:
        seconds: at most.
        seed: of its random choices.
        threads: at most.
    """

    seconds: float
    seed: int
    threads: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A running solver at one moment.

    Attributes:
        best: objective of the best answer so far, None before the first.
        bound: proven lower bound so far, None before the first.
        values: variable name → value of the best answer; None when the solver does not tell before its end.
    """

    best: float | None = None
    bound: float | None = None
    values: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """How a solver ended.

    Attributes:
        status: optimal means proven.
        bound: proven lower bound of the objective, None when the solver gave none.
        values: variable name → value; empty unless the status is optimal or feasible.
    """

    status: Status
    bound: float | None
    values: Mapping[str, float]


Watch = Callable[[Snapshot], None]


class Solver(Protocol):
    """Minimises a linear program with whole-numbered variables."""

    name: str

    def available(self) -> bool:
        """Whether it can be used on this machine."""

    def solve(
        self, problem: pulp.LpProblem, effort: Effort, watch: Watch | None = None, *, relax: bool = False
    ) -> Answer:
        """Solve to proven optimality or until the time is up.

        Args:
            problem: with its objective.
            effort: to spend.
            watch: told the state every `POLL_SECONDS`, from the caller's thread; what it raises stops the solver.
            relax: let every variable be fractional.

        Raises:
            SolverError: the solver failed.
        """


def solver_named(name: str) -> Solver:
    """The solver of a name.

    Raises:
        SolverError: unknown, or not installed; the sentence lists those that are.
    """
    usable = {solver.name: solver for solver in SOLVERS if solver.available()}
    if name in usable:
        return usable[name]
    fault = "not installed" if name in {solver.name for solver in SOLVERS} else "not known"
    raise SolverError(
        f"solver: {name!r} is {fault}; choose from {', '.join(usable) or 'none: no solver is installed'}."
    )


def checking_solver() -> Solver:
    """The installed solver that answers most exactly (CBC prints values with 8 digits), for checking a found plan."""
    return next(solver for solver in SOLVERS if solver.available())


class Highs:
    """HiGHS, inside this process."""

    name = "highs"

    def available(self) -> bool:
        """Whether it can be used on this machine."""
        return bool(pulp.HiGHS(msg=False).available())

    def solve(
        self, problem: pulp.LpProblem, effort: Effort, watch: Watch | None = None, *, relax: bool = False
    ) -> Answer:
        """See `Solver.solve`."""
        events = highspy.cb.HighsCallbackType
        names = [variable.name for variable in problem.variables()]
        latest = Snapshot()
        stopped = False

        def listen(
            event: highspy.cb.HighsCallbackType,
            _message: str,
            state: highspy.cb.HighsCallbackOutput,
            order: highspy.cb.HighsCallbackInput,
            _data: object,
        ) -> None:
            nonlocal latest
            values = latest.values
            if event == events.kCallbackMipImprovingSolution:
                values = dict(zip(names, state.mip_solution.tolist(), strict=True))
            latest = Snapshot(finite(state.mip_primal_bound), finite(state.mip_dual_bound), values)
            order.user_interrupt = stopped

        def stop() -> None:
            nonlocal stopped
            stopped = True

        swallow_banner()
        _run(
            pulp.HiGHS(
                mip=not relax,
                msg=False,
                timeLimit=effort.seconds,
                threads=effort.threads,
                gapRel=0.0,
                callbackTuple=(listen, None),
                callbacksToActivate=[events.kCallbackMipImprovingSolution, events.kCallbackMipInterrupt],
                random_seed=effort.seed,
                mip_feasibility_tolerance=TOLERANCE,
                primal_feasibility_tolerance=TOLERANCE,
            ),
            problem,
            watch,
            look=lambda: latest,
            stop=stop,
        )
        model, statuses = problem.solverModel, highspy.HighsModelStatus
        understood = {statuses.kOptimal, statuses.kInfeasible, statuses.kTimeLimit, statuses.kInterrupt}
        if _is_bounded(problem):
            understood.add(statuses.kUnboundedOrInfeasible)
        if model.getModelStatus() not in understood:
            text = model.modelStatusToString(model.getModelStatus())
            raise SolverError(f"solver: highs ended without an answer ({text}).")
        # A relaxed program that ran out of time has a value, but no proof that nothing is below it.
        solved = model.getModelStatus() == statuses.kOptimal
        relaxed_bound = model.getInfo().objective_function_value if solved else None
        return _answer(problem, relaxed_bound if relax else model.getInfo().mip_dual_bound)


class Cbc:
    """CBC, a program of its own, through files."""

    name = "cbc"

    def available(self) -> bool:
        """Whether it can be used on this machine."""
        return bool(pulp.COIN_CMD(path=_cbc_path(), msg=False).available())

    def solve(
        self, problem: pulp.LpProblem, effort: Effort, watch: Watch | None = None, *, relax: bool = False
    ) -> Answer:
        """See `Solver.solve`.

        CBC writes its log in blocks, so what is seen of it on the way comes late, and it tells no values before its
        end. It can't be stopped from here: it ends with its time or with its process group.
        """
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "log"
            log.touch()
            solver = pulp.COIN_CMD(
                path=_cbc_path(),
                mip=not relax,
                msg=False,
                timeLimit=effort.seconds,
                # One thread is the default, and the only one that gives the same answer every time.
                threads=effort.threads if effort.threads > 1 else None,
                logPath=str(log),
                options=[
                    # A seed of 0 means the time of day.
                    f"randomCbcSeed {effort.seed + 1}",
                    f"primalTolerance {TOLERANCE}",
                    f"integerTolerance {TOLERANCE}",
                ],
            )
            solver.tmpDir = folder
            _run(problem=problem, solver=solver, watch=watch, look=lambda: _read_log(log), stop=lambda: None)
            bound = _read_log(log).bound
        answer = _answer(problem, bound)
        if answer.status is Status.OPTIMAL:
            return replace(answer, bound=pulp.value(problem.objective))
        return answer


SOLVERS: tuple[Solver, ...] = (Highs(), Cbc())
"""All, the most exact first."""


def _run(
    solver: pulp.LpSolver,
    problem: pulp.LpProblem,
    watch: Watch | None,
    look: Callable[[], Snapshot],
    stop: Callable[[], None],
) -> None:
    """Solve on a thread of its own (solvers release the interpreter) and report from this one meanwhile."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        running = pool.submit(problem.solve, solver)
        try:
            while not wait((running,), POLL_SECONDS).done:
                if watch is not None:
                    watch(look())
        except BaseException:
            stop()
            raise
        if watch is not None:
            watch(look())
    try:
        running.result()
    except pulp.PulpSolverError as error:
        raise SolverError(f"solver: {solver.name} failed: {error}.") from error


def _answer(problem: pulp.LpProblem, bound: float | None) -> Answer:
    """What PuLP 3.3 left in the problem."""
    proven = None if bound is None else finite(bound)
    if pulp.LpStatusInfeasible in {problem.status, problem.sol_status}:
        return Answer(Status.INFEASIBLE, None, {})
    statuses = {
        pulp.LpSolutionOptimal: Status.OPTIMAL,
        pulp.LpSolutionIntegerFeasible: Status.FEASIBLE,
        pulp.LpSolutionNoSolutionFound: Status.NO_SOLUTION_IN_TIME,
    }
    if problem.sol_status not in statuses:
        raise SolverError(f"solver: the program has no smallest value (status {problem.sol_status}).")
    status = statuses[problem.sol_status]
    if status is Status.NO_SOLUTION_IN_TIME:
        return Answer(status, proven, {})
    return Answer(status, proven, {variable.name: variable.varValue for variable in problem.variables()})


def _is_bounded(problem: pulp.LpProblem) -> bool:
    """Whether the bounds of the variables alone keep the objective from falling for ever."""
    terms = problem.objective.items()
    return all((variable.lowBound if cost > 0 else variable.upBound) is not None for variable, cost in terms)


def finite(value: float) -> float | None:
    """A bound or value as solvers tell it: infinity means none."""
    return value if isfinite(value) else None


def swallow_banner() -> None:
    """HiGHS prints a banner once a process, whatever its options say; it must not end up in somebody's output."""
    try:
        kept = os.dup(1)
    except OSError:
        return  # Standard output is closed: nothing to keep clean.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        highspy.Highs()  # type: ignore[no-untyped-call]
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def _cbc_path() -> str:
    """The CBC that comes with PuLP 3, or the one on the path."""
    bundled = str(pulp.PULP_CBC_CMD.pulp_cbc_path)
    return bundled if Path(bundled).exists() else shutil.which("cbc") or "cbc"


def _read_log(log: Path) -> Snapshot:
    best, bound = best_and_bound(log.read_text(encoding="utf-8", errors="replace"))
    return Snapshot(best, bound)
