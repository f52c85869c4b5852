"""The entry: profile, schedule and request to a plan that is simulated, checked and rated."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from pulp import lpSum

from sapp_core.balancer.exact_run import run_exact
from sapp_core.balancer.ilp import PlacementProgram
from sapp_core.balancer.infeasible import too_few_layers
from sapp_core.balancer.path_bound import STEP, PlanModel, relaxation, step_program
from sapp_core.balancer.path_rows import PathRows
from sapp_core.balancer.plan_space import plan_space
from sapp_core.balancer.question import Question, question_of
from sapp_core.balancer.run import Run
from sapp_core.balancer.sapp_objective import surrogate
from sapp_core.balancer.surrogate_run import run_surrogate
from sapp_core.balancer.time_unit import PROFILE_UNIT
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import BalanceResult, Objective, Progress, Status
from sapp_core.domain.schedule import Schedule

__all__ = ["BalanceRequest", "balance", "lp_text"]


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
    run = Run(profile, schedule, request, progress, improved)
    if reason := too_few_layers(profile, schedule.pipeline):
        return run.without_plan(Status.INFEASIBLE, reason)
    return run_exact(run) if request.objective is Objective.EXACT else run_surrogate(run)


def lp_text(profile: ModelProfile, schedule: Schedule, request: BalanceRequest) -> str:
    """The integer program of a request in CPLEX LP format, times in the profile's own unit.

    Raises:
        PipelineError: the request does not fit the schedule.
    """
    question = question_of(profile, schedule, request)
    if request.objective is Objective.EXACT:
        problem = _bounded_program(question, request.seed).problem
    else:
        program = question.program(PROFILE_UNIT)
        problem = program.problem
        problem += surrogate(program, schedule, request.objective)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "balance.lp"
        problem.writeLP(str(file))
        return file.read_text(encoding="utf-8")


def _bounded_program(question: Question, seed: int) -> PlacementProgram:
    """The step time of every plan, bounded by the paths that decide over fractional ones."""
    space = plan_space(question)
    rows = PathRows(space)
    for _ in relaxation(PlanModel(space, PROFILE_UNIT, seed, relax=True), rows):
        pass
    program = step_program(question.program(PROFILE_UNIT))
    problem = program.problem
    step = problem.variablesDict()[STEP]
    counts = [variable for kind in program.counts for mode in kind for variable in mode]
    for number, (constant, weights) in enumerate(zip(rows.constants.tolist(), rows.weights.tolist(), strict=True)):
        length = lpSum(weight * count for weight, count in zip(weights, counts, strict=True) if weight)
        problem += length + constant <= step, f"path_{number}"
    return program
