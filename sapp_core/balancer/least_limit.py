"""The smallest memory limit that some plan meets, and the stage that sets it: the same rows with an elastic limit."""

from collections.abc import Callable
from dataclasses import dataclass

from pulp import LpProblem

from sapp_core.balancer.question import Question, stage_memory
from sapp_core.balancer.solvers import Answer
from sapp_core.balancer.time_unit import PROFILE_UNIT
from sapp_core.domain.costs import ChunkCosts, chunk_costs
from sapp_core.domain.plan import Plan
from sapp_core.domain.result import Status
from sapp_core.domain.timeline import MEMORY_ROUNDING_MB

Solve = Callable[[LpProblem], Answer]
"""Solves a program within what is left of the run's time."""


@dataclass(frozen=True, slots=True)
class Excess:
    """The smallest amount that makes a plan possible when it is added to the allowance of every stage.

    Attributes:
        amount: that the plan below needs, MiB.
        proven: whether no plan needs less.
        plan: that needs it.
        costs: of the plan.
        memory: `[stage]`, of the plan, MiB.
    """

    amount: float
    proven: bool
    plan: Plan
    costs: ChunkCosts
    memory: tuple[float, ...]


def least_excess(question: Question, allowances: tuple[float, ...], solve: Solve) -> Excess | None:
    """Stretch all allowances (`[stage]`, MiB) by the same least amount; None when the time was too short for a plan."""
    program = question.placement(PROFILE_UNIT)
    problem = program.problem
    excess = problem.add_variable("excess", 0)
    problem += excess
    program.limit_memory(question.vectors, [allowance + excess for allowance in allowances])
    answer = solve(problem)
    if not answer.values:
        return None
    plan = program.plan(answer.values)
    costs, memory = _spent(question, plan)
    # Counted from the plan itself, the amount is one that this plan really meets.
    amount = max(used - allowance for used, allowance in zip(memory, allowances, strict=True))
    return Excess(amount, answer.status is Status.OPTIMAL, plan, costs, memory)


def setting_stage(question: Question, allowances: tuple[float, ...], excess: Excess, solve: Solve) -> int:
    """The stage that sets the least excess: it uses all of its stretched allowance in every plan that meets them.

    Where stages can take turns there is none; then it is the first that does so in the plan found.
    """
    limits = [allowance + excess.amount + MEMORY_ROUNDING_MB / 2 for allowance in allowances]
    candidates = _at_limit(excess.memory, limits)
    first = candidates[0]
    while candidates:
        stage = candidates.pop(0)
        program = question.placement(PROFILE_UNIT)
        problem = program.problem
        used = problem.add_variable("used", 0)
        problem += used
        program.limit_memory(question.vectors, [used if s == stage else limit for s, limit in enumerate(limits)])
        answer = solve(problem)
        if not answer.values:
            return first
        _, memory = _spent(question, program.plan(answer.values))
        full = _at_limit(memory, limits)
        if stage in full:
            return stage if answer.status is Status.OPTIMAL else first
        candidates = [other for other in candidates if other in full]
    return first


def _spent(question: Question, plan: Plan) -> tuple[ChunkCosts, tuple[float, ...]]:
    costs = chunk_costs(question.profile, plan, question.schedule.pipeline)
    return costs, stage_memory(costs, question.vectors)


def _at_limit(memory: tuple[float, ...], limits: list[float]) -> list[int]:
    return [
        stage
        for stage, (used, limit) in enumerate(zip(memory, limits, strict=True))
        if used >= limit - 2 * MEMORY_ROUNDING_MB
    ]
