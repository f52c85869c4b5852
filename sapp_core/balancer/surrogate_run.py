"""Balancing by the SAPP surrogate: solve its integer program, then simulate, check and rate the plan."""

from itertools import islice

from sapp_core.balancer.ilp import PlacementProgram
from sapp_core.balancer.infeasible import out_of_memory
from sapp_core.balancer.least_recompute import least_recompute
from sapp_core.balancer.path_bound import PlanModel, relaxation
from sapp_core.balancer.path_rows import PathRows
from sapp_core.balancer.run import Run
from sapp_core.balancer.sapp_objective import surrogate
from sapp_core.balancer.solvers import Effort, Snapshot, checking_solver
from sapp_core.domain.plan import Plan
from sapp_core.domain.result import BalanceResult, Status
from sapp_core.errors import SolverError

CHECK_SECONDS = 10.0
"""For checking a plan against all rows: milliseconds, but it must not fail because the run's time is used up."""
BOUND_ROUNDS = 50
"""Of the bound of the step time; it is there to rate the plan, not to prove it."""


def run_surrogate(run: Run) -> BalanceResult:
    """Bound, solve, check and rate."""
    question, unit = run.question, run.unit
    model = PlanModel(run.space, unit, run.request.seed, relax=True)
    possible = True
    for state in islice(relaxation(model, PathRows(run.space)), BOUND_ROUNDS):
        possible = state.point is not None
        run.lower_bound = state.bound if possible else None
        run.tell_again()
        if run.left <= 0:
            break
    program = question.program(unit)
    problem = program.problem
    problem += surrogate(program, question.schedule, run.request.objective)
    status = Status.INFEASIBLE
    if possible:
        answer = run.solve(problem, _Watch(run, program))
        status = answer.status
    if status is Status.INFEASIBLE:
        return run.without_plan(status, infeasibility=out_of_memory(question, run.solve))
    bound = None if answer.bound is None else unit.to_profile(answer.bound)
    if not answer.values:
        return run.without_plan(status, objective_bound=bound)
    plan = _with_least_recompute(run, program, program.plan(answer.values))
    value = unit.to_profile(_value(run, program, plan))
    if status is Status.OPTIMAL or (bound is not None and bound > value):
        bound = value
    run.tell(value, bound)
    return run.rated(status, plan, value, bound)


def _with_least_recompute(run: Run, program: PlacementProgram, plan: Plan) -> Plan:
    """The plan without recomputation that buys nothing; unchanged in the unlikely case that this takes long."""
    eased = least_recompute(run.question, run.request.objective, plan, _value(run, program, plan), run.unit)
    answer = checking_solver().solve(eased.problem, _checking(run))
    return eased.plan(answer.values) if answer.status is Status.OPTIMAL else plan


def _value(run: Run, program: PlacementProgram, plan: Plan) -> float:
    """What the objective says of a plan of whole layers that meets every row, in the program's unit.

    Raises:
        SolverError: it does not meet them.
    """
    program.fix(plan)
    answer = checking_solver().solve(program.problem, _checking(run))
    if answer.status is not Status.OPTIMAL or answer.bound is None:
        raise SolverError(f"solver: the answer of {run.request.solver}, rounded to whole layers, breaks a row.")
    return answer.bound


def _checking(run: Run) -> Effort:
    return Effort(CHECK_SECONDS, run.request.seed, threads=1)


class _Watch:
    """Passes on what the solver of the objective tells."""

    def __init__(self, run: Run, program: PlacementProgram) -> None:
        self._run = run
        self._program = program
        self._seen: object = None

    def __call__(self, snapshot: Snapshot) -> None:
        best, bound = self._run.in_profile(snapshot.best), self._run.in_profile(snapshot.bound)
        self._run.tell(best, bound)
        if snapshot.values is not None and snapshot.values is not self._seen and best is not None:
            self._seen = snapshot.values
            self._run.better(self._program.plan(snapshot.values), best, bound)
