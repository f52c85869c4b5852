"""Sentences on a plan that pages and reports share; light Markdown, without any text from files."""

from sapp_core.charts.numbers import percent_text
from sapp_core.domain.result import BalanceResult, Objective, Status
from sapp_core.domain.scenario import Scenario
from sapp_core.schedules.registry import family

_SOLVERS = {"highs": "HiGHS", "cbc": "CBC"}


def verdict(result: BalanceResult, *, stopped_early: bool = False) -> str:
    """How the run ended and how good the plan is, in one or two sentences of Markdown."""
    solver = _SOLVERS.get(result.solver, "another solver")
    when = f"in {result.seconds:.1f} s with {solver}"
    if result.status is Status.NO_SOLUTION_IN_TIME:
        return f"**No plan was found in time** ({when})."
    if result.status is Status.INFEASIBLE:
        return f"**No plan fits** ({when})."
    early = "**Stopped early.** " if stopped_early else ""
    if result.objective is Objective.EXACT:
        if result.status is Status.OPTIMAL:
            return f"**Proven optimal**: no plan within the limit has a shorter step ({when})."
        return f"{early}**Best found**{_above_best(result, ', ')} ({when})."
    value = "" if result.objective_value is None else f" (value {result.objective_value:,.6g})"
    classic = f"for the *{result.objective}* objective{value} {when}"
    rated = f"Its step time is{_above_best(result, ' ')}." if result.above_best is not None else ""
    if result.status is Status.OPTIMAL:
        return f"**Proven optimal** {classic}. {rated}"
    bound = "" if result.objective_bound is None else f", proven to be at least {result.objective_bound:,.6g}"
    return f"{early}**Best found** {classic}{bound}. {rated}"


def knob_words(scenario: Scenario) -> str:
    """The shares this schedule's times rest on, as a sentence; empty where it has none."""
    chosen, pipeline = family(scenario.schedule_name), scenario.pipeline
    said = []
    if chosen.overlaps:
        said.append(f"overlap efficiency η = {pipeline.overlap_efficiency:g}")
    if chosen.splits_backward:
        said.append(f"input-gradient share β = {pipeline.input_gradient_share:g}")
    return f"Simulated with {' and '.join(said)}." if said else ""


def _above_best(result: BalanceResult, joint: str) -> str:
    if result.above_best is None:
        return ""
    return f"{joint}at most {percent_text(result.above_best, 2)} above the best possible"
