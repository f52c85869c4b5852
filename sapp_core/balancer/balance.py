"""The entry: profile, schedule and request to a plan that is simulated, checked and rated."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from pulp import LpProblem

from sapp_core.balancer import notes
from sapp_core.balancer.ilp import PlacementProgram
from sapp_core.balancer.infeasible import out_of_memory, too_few_layers
from sapp_core.balancer.least_recompute import least_recompute
from sapp_core.balancer.question import question_of, stage_memory
from sapp_core.balancer.request import BalanceRequest
from sapp_core.balancer.sapp_objective import surrogate
from sapp_core.balancer.solvers import Answer, Effort, Snapshot, Watch, checking_solver, solver_named
from sapp_core.balancer.step_bound import minimise_longest_path
from sapp_core.balancer.time_unit import PROFILE_UNIT, time_unit
from sapp_core.domain.costs import ChunkCosts, chunk_costs
from sapp_core.domain.plan import Plan
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.result import BalanceResult, Infeasibility, Progress, Status
from sapp_core.domain.schedule import Schedule
from sapp_core.domain.timeline import MEMORY_ROUNDING_MB
from sapp_core.errors import PlanError, SolverError
from sapp_core.simulator.engine import durations_of, prepare, step_times

__all__ = ["BalanceRequest", "balance", "lp_text"]

CHECK_SECONDS = 10.0
"""For checking a plan against all rows: milliseconds, but it must not fail because the run's time is used up."""
SHORTEST_SECONDS = 0.01
"""A solver may be asked to stop at once, but 0 means "no limit" to some."""
BOUND_SAFETY = 1e-6
"""Relative; what the tolerances of a linear program could add to a bound at most."""


def balance(
    profile: ModelProfile,
    schedule: Schedule,
    request: BalanceRequest,
    progress: Callable[[Progress], None] | None = None,
    improved: Callable[[BalanceResult], None] | None = None,
) -> BalanceResult:
    """Place the layers of a profile under a schedule.

    Args:
        profile: what to place.
        schedule: where, and in which order of work.
        request: limits and choices.
        progress: told the state of the run every fifth of a second; what it raises ends the run.
        improved: given each better plan while the run goes on, as far as the solver tells them.

    Returns:
        A checked plan, or why there is none. Its lower bound of the step time holds for all plans that keep the
        memory rows of the request's memory model.

    Raises:
        PipelineError: the request does not fit the schedule.
        SolverError: the solver is not there or failed.
    """
    run = _Run(profile, schedule, request, progress, improved)
    reason = too_few_layers(profile, schedule.pipeline)
    return run.without_plan(Status.INFEASIBLE, reason) if reason else run.result()


def lp_text(profile: ModelProfile, schedule: Schedule, request: BalanceRequest) -> str:
    """The integer program of a request in CPLEX LP format, times in the profile's own unit.

    Raises:
        PipelineError: the request does not fit the schedule.
    """
    program = question_of(profile, schedule, request).program(PROFILE_UNIT)
    problem = program.problem
    problem += surrogate(program, schedule, request.objective)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "balance.lp"
        problem.writeLP(str(file))
        return file.read_text(encoding="utf-8")


class _Run:
    """One run: its clock, its solver, and what it has told so far."""

    def __init__(
        self,
        profile: ModelProfile,
        schedule: Schedule,
        request: BalanceRequest,
        progress: Callable[[Progress], None] | None,
        improved: Callable[[BalanceResult], None] | None,
    ) -> None:
        self._begun = time.monotonic()
        self._request = request
        self._progress = progress
        self._improved = improved
        self._solver = solver_named(request.solver)
        self._question = question_of(profile, schedule, request)
        self._notes = notes.before_solving(profile, request)
        self._unit = time_unit(profile)
        self._prepared = prepare(schedule)
        self._checking = Effort(CHECK_SECONDS, request.seed, threads=1)
        self._trace: list[Progress] = []
        self._lower_bound: float | None = None

    def result(self) -> BalanceResult:
        """Bound, solve, check and rate."""
        question, schedule = self._question, self._question.schedule
        bounding = question.program(self._unit)
        minimise_longest_path(bounding, schedule)
        answer = self._solve(bounding.problem, self._tell_again, relax=True)
        if answer.bound is not None:
            self._lower_bound = self._unit.to_profile(answer.bound) * (1 - BOUND_SAFETY)

        program = question.program(self._unit)
        problem = program.problem
        problem += surrogate(program, schedule, self._request.objective)
        if answer.status is not Status.INFEASIBLE:
            answer = self._solve(problem, _Watch(self, program))
        if answer.status is Status.INFEASIBLE:
            reason = out_of_memory(question, lambda problem: self._solve(problem, self._tell_again))
            return self.without_plan(answer.status, infeasibility=reason)
        bound = self.in_profile(answer.bound)
        if not answer.values:
            return self.without_plan(answer.status, objective_bound=bound)
        plan = self._with_least_recompute(program, program.plan(answer.values))
        value = self._unit.to_profile(self._value(program, plan))
        if answer.status is Status.OPTIMAL or (bound is not None and bound > value):
            bound = value
        self.tell(value, bound)
        return self.rated(answer.status, plan, value, bound)

    def without_plan(
        self, status: Status, infeasibility: Infeasibility | None = None, objective_bound: float | None = None
    ) -> BalanceResult:
        """The result when there is no plan."""
        return BalanceResult(
            status=status,
            plan=None,
            step_time=None,
            lower_bound=None if infeasibility else self._lower_bound,
            gap=None,
            objective=self._request.objective,
            objective_value=None,
            objective_bound=objective_bound,
            solver=self._solver.name,
            seconds=self._elapsed(),
            infeasibility=infeasibility,
            notes=self._notes,
            trace=tuple(self._trace),
        )

    def rated(self, status: Status, plan: Plan, value: float, bound: float | None) -> BalanceResult:
        """The result with a plan: checked against the memory rows, simulated, and compared with the bound.

        Raises:
            SolverError: the plan is not allowed.
        """
        costs = self._checked(plan)
        durations = durations_of(costs, self._question.schedule.pipeline)
        step_time = float(step_times(self._prepared, durations[np.newaxis])[0])
        lower_bound = None if self._lower_bound is None else min(self._lower_bound, step_time)
        gap = None if lower_bound is None or not step_time else (step_time - lower_bound) / step_time
        return BalanceResult(
            status=status,
            plan=plan,
            step_time=step_time,
            lower_bound=lower_bound,
            gap=gap,
            objective=self._request.objective,
            objective_value=value,
            objective_bound=bound,
            solver=self._solver.name,
            seconds=self._elapsed(),
            notes=(*self._notes, *notes.on_plan(self._question, self._request, costs)),
            trace=tuple(self._trace),
        )

    def tell(self, best: float | None, bound: float | None) -> None:
        """Report the state, in the objective's own terms, and remember it when it is news."""
        now = Progress(self._elapsed(), best, bound)
        if not self._trace or (self._trace[-1].best, self._trace[-1].bound) != (best, bound):
            self._trace.append(now)
        if self._progress is not None:
            self._progress(now)

    def in_profile(self, value: float | None) -> float | None:
        """A value of the program in the profile's time unit."""
        return None if value is None else self._unit.to_profile(value)

    def better(self, plan: Plan, value: float, bound: float | None) -> None:
        """Hand on a plan found on the way."""
        if self._improved is not None:
            self._improved(self.rated(Status.FEASIBLE, plan, value, bound))

    def _solve(self, problem: LpProblem, watch: Watch, *, relax: bool = False) -> Answer:
        """Solve within what is left of the run's time."""
        left = max(self._request.time_limit - self._elapsed(), SHORTEST_SECONDS)
        effort = Effort(left, self._request.seed, self._request.threads)
        return self._solver.solve(problem, effort, watch, relax=relax)

    def _with_least_recompute(self, program: PlacementProgram, plan: Plan) -> Plan:
        """The plan without recomputation that buys nothing; unchanged in the unlikely case that this takes long."""
        value = self._value(program, plan)
        eased = least_recompute(self._question, self._request.objective, plan, value, self._unit)
        answer = checking_solver().solve(eased.problem, self._checking)
        return eased.plan(answer.values) if answer.status is Status.OPTIMAL else plan

    def _value(self, program: PlacementProgram, plan: Plan) -> float:
        """What the objective says of a plan of whole layers that meets every row, in the program's unit.

        Raises:
            SolverError: it does not meet them.
        """
        program.fix(plan)
        answer = checking_solver().solve(program.problem, self._checking)
        if answer.status is not Status.OPTIMAL or answer.bound is None:
            raise SolverError(f"solver: the answer of {self._solver.name}, rounded to whole layers, breaks a row.")
        return answer.bound

    def _checked(self, plan: Plan) -> ChunkCosts:
        """Costs of a plan that places every layer once and keeps every stage within its limit."""
        question = self._question
        try:
            costs = chunk_costs(question.profile, plan, question.schedule.pipeline)
        except PlanError as error:
            raise SolverError(*(f"solver: {problem}" for problem in error.problems)) from error
        for stage, (used, limit) in enumerate(
            zip(stage_memory(costs, question.vectors), question.limits or (), strict=bool(question.limits))
        ):
            if used > limit + MEMORY_ROUNDING_MB:
                raise SolverError(f"solver: stage {stage} needs {used} MiB, more than its limit of {limit} MiB.")
        return costs

    def _tell_again(self, _: Snapshot) -> None:
        """Still at work, but not on the objective."""
        last = self._trace[-1] if self._trace else Progress(0.0, None, None)
        self.tell(last.best, last.bound)

    def _elapsed(self) -> float:
        return time.monotonic() - self._begun


class _Watch:
    """Passes on what the solver of the objective tells."""

    def __init__(self, run: _Run, program: PlacementProgram) -> None:
        self._run = run
        self._program = program
        self._seen: object = None

    def __call__(self, snapshot: Snapshot) -> None:
        best, bound = self._run.in_profile(snapshot.best), self._run.in_profile(snapshot.bound)
        self._run.tell(best, bound)
        if snapshot.values is not None and snapshot.values is not self._seen and best is not None:
            self._seen = snapshot.values
            self._run.better(self._program.plan(snapshot.values), best, bound)
