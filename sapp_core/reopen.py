"""A scenario file opened again: what it claims is simulated, and what cannot be true is not repeated."""

from dataclasses import replace
from math import isclose

from sapp_core.balancer.path_bound import PROVEN
from sapp_core.balancer.solvers import SOLVERS
from sapp_core.charts.numbers import time_text
from sapp_core.domain.result import BalanceResult, Objective, Status
from sapp_core.domain.scenario import Scenario
from sapp_core.domain.timeline import Evaluation
from sapp_core.errors import PipelineError, SappError
from sapp_core.schedules.registry import family

_SAME = 1e-9
"""Relative; two simulations of one plan agree this well."""


def check_settings(scenario: Scenario) -> None:
    """Accept settings that this release can balance with; `make_schedule` checks schedule and pipeline.

    Raises:
        PipelineError: the solver is not known, or the limits are not those of the stages.
    """
    problems: list[str] = []
    solvers = [solver.name for solver in SOLVERS]
    if scenario.request.solver not in solvers:
        problems.append(f"solver: must be one of {', '.join(solvers)}, found {scenario.request.solver!r}.")
    try:
        scenario.request.limits(scenario.pipeline.num_stages)
    except SappError as error:
        problems += error.problems
    if problems:
        raise PipelineError(*problems)


def as_simulated(result: BalanceResult, evaluation: Evaluation, scenario: Scenario, source: str) -> BalanceResult:
    """What a file says about its plan, as far as the simulation agrees.

    The bound itself is the file's word: proving it again would be balancing again.

    Args:
        result: the file's, with a plan.
        evaluation: of its plan, simulated now.
        scenario: the file's.
        source: name of the file, for the sentences.
    """
    step, bound, said, unit = evaluation.step_time, result.lower_bound, result.step_time, scenario.profile.time_unit
    notes = []
    if said is not None and isclose(step, said, rel_tol=_SAME):
        step = said  # sums in another order end in another last digit; what comes back is what was saved
    elif said is not None:
        notes.append(
            f"{source} says a step time of {time_text(said, unit)}; simulated here it is {time_text(step, unit)}, "
            "which is shown."
        )
    refuted = None
    if evaluation.stages_over(scenario.request.limits(scenario.pipeline.num_stages)):
        refuted = f"The plan of {source} breaks its own memory limit, so nothing it says is proven."
    elif family(scenario.schedule_name).splits_backward and step == said:
        return result  # its bound and gap are about the order that was searched, not about the plan's own order
    elif bound is not None and bound > step * (1 + PROVEN):
        refuted = (
            f"{source} says that no plan is faster than {time_text(bound, unit)}, but its own plan is; the bound is "
            "left out."
        )
    if refuted:
        notes.append(refuted)
        bound = None
    bound = None if bound is None else min(bound, step)
    proven = bound is not None and isclose(bound, step, rel_tol=2 * PROVEN)
    claimed = result.status is Status.OPTIMAL and not refuted and (proven or result.objective is not Objective.EXACT)
    return replace(
        result,
        status=Status.OPTIMAL if claimed else Status.FEASIBLE,
        step_time=step,
        lower_bound=bound,
        gap=None if bound is None or not step else (step - bound) / step,
        notes=(*result.notes, *notes),
    )


def simulated_result(evaluation: Evaluation, scenario: Scenario) -> BalanceResult:
    """A plan that was never balanced as a result: nothing was searched, nothing is proven, no solver is named."""
    return BalanceResult(
        status=Status.FEASIBLE,
        plan=evaluation.plan,
        step_time=evaluation.step_time,
        lower_bound=None,
        gap=None,
        objective=scenario.request.objective,
        objective_value=None,
        objective_bound=None,
        solver="",
        seconds=0.0,
    )
