"""What every balancing run has: a clock, what it has told so far, and a check of each plan before anyone sees it."""

import time
from collections.abc import Callable

import numpy as np
from pulp import LpProblem

from sapp_core.balancer import notes
from sapp_core.balancer.own_order import own_order
from sapp_core.balancer.plan_space import plan_space
from sapp_core.balancer.question import question_of, stage_memory
from sapp_core.balancer.solvers import Answer, Effort, Watch, solver_named
from sapp_core.balancer.time_unit import time_unit
from sapp_core.domain.costs import ChunkCosts, chunk_costs
from sapp_core.domain.plan import Plan
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import BalanceResult, Infeasibility, Progress, Status
from sapp_core.domain.schedule import Schedule
from sapp_core.domain.timeline import MEMORY_ROUNDING_MB
from sapp_core.errors import PlanError, SolverError
from sapp_core.simulator.engine import durations_of, step_times

SHORTEST_SECONDS = 0.01
"""A solver may be asked to stop at once, but 0 means "no limit" to some."""


class Run:
    """One run.

    Attributes:
        request: limits and choices.
        question: what has to be placed.
        space: its plans, with the schedule ready to simulate.
        unit: of time inside the programs.
        lower_bound: no plan has a smaller step time; None when nothing is proven yet. In the profile's unit.
    """

    def __init__(
        self,
        profile: ModelProfile,
        schedule: Schedule,
        request: BalanceRequest,
        progress: Callable[[Progress], None] | None,
        improved: Callable[[BalanceResult], None] | None,
    ) -> None:
        self._begun = time.monotonic()
        self._progress = progress
        self._improved = improved
        self._solver = solver_named(request.solver)
        self._trace: list[Progress] = []
        self.request = request
        self.question = question_of(profile, schedule, request)
        self.space = plan_space(self.question)
        self._notes = notes.before_solving(self.space, request)
        self.unit = time_unit(profile)
        self.lower_bound: float | None = None

    def solve(self, problem: LpProblem, watch: Watch | None = None) -> Answer:
        """Solve within what is left of the run's time, and keep telling meanwhile."""
        effort = Effort(max(self.left, SHORTEST_SECONDS), self.request.seed, self.request.threads)
        return self._solver.solve(problem, effort, watch or (lambda _: self.tell_again()))

    @property
    def left(self) -> float:
        """Seconds until the time limit; negative after it."""
        return self.request.time_limit - self._elapsed()

    def without_plan(
        self, status: Status, infeasibility: Infeasibility | None = None, objective_bound: float | None = None
    ) -> BalanceResult:
        """The result when there is no plan."""
        return BalanceResult(
            status=status,
            plan=None,
            step_time=None,
            lower_bound=None if infeasibility else self.lower_bound,
            gap=None,
            objective=self.request.objective,
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

        Bound and gap are about the order the search worked with. The step time is that of the order which suits the
        plan; where that is another one, a note says so.

        Raises:
            SolverError: the plan is not allowed.
        """
        costs = self._checked(plan)
        schedule = self.question.schedule
        durations = durations_of(costs, schedule.pipeline)[np.newaxis]
        searched = float(step_times(self.space.prepared, durations)[0])
        lower_bound = None if self.lower_bound is None else min(self.lower_bound, searched)
        gap = None if lower_bound is None or not searched else (searched - lower_bound) / searched
        order = own_order(self.space.prepared, costs)
        step_time = searched if order is self.space.prepared else float(step_times(order, durations)[0])
        return BalanceResult(
            status=status,
            plan=plan,
            step_time=step_time,
            lower_bound=lower_bound,
            gap=gap,
            objective=self.request.objective,
            objective_value=value,
            objective_bound=bound,
            solver=self._solver.name,
            seconds=self._elapsed(),
            notes=(
                *self._notes,
                *notes.on_plan(self.question, self.request, costs),
                *notes.on_order(searched, step_time, schedule.name, self.question.profile.time_unit),
            ),
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
        return None if value is None else self.unit.to_profile(value)

    def better(self, plan: Plan, value: float, bound: float | None) -> None:
        """Hand on a plan found on the way."""
        if self._improved is not None:
            self._improved(self.rated(Status.FEASIBLE, plan, value, bound))

    def tell_again(self) -> None:
        """Still at work, with no news."""
        last = self._trace[-1] if self._trace else Progress(0.0, None, None)
        self.tell(last.best, last.bound)

    def _checked(self, plan: Plan) -> ChunkCosts:
        """Costs of a plan that places every layer once, keeps the pins and every stage within its limit."""
        question = self.question
        try:
            costs = chunk_costs(question.profile, plan, question.schedule.pipeline)
        except PlanError as error:
            raise SolverError(*(f"solver: {problem}" for problem in error.problems)) from error
        for v, layers in question.pinned_layers.items():
            held = sum(placement.total(*question.schedule.pipeline.cells(v)[0]) for placement in plan.layers)
            if held != layers:
                raise SolverError(f"solver: virtual stage {v} holds {held} layers, but {layers} are pinned to it.")
        for stage, (used, limit) in enumerate(
            zip(stage_memory(costs, question.vectors), question.limits or (), strict=bool(question.limits))
        ):
            if used > limit + MEMORY_ROUNDING_MB:
                raise SolverError(f"solver: stage {stage} needs {used} MiB, more than its limit of {limit} MiB.")
        return costs

    def _elapsed(self) -> float:
        return time.monotonic() - self._begun
