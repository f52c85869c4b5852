"""Taking back recomputation that buys nothing.

The surrogate objectives look at the slowest stages only: on all others a solver recomputes as it happens to come. With
the layers left where they are and the objective kept, each stage may store as much as its memory allows.
"""

from pulp import lpSum

from sapp_core.balancer.ilp import PlacementProgram
from sapp_core.balancer.question import Question
from sapp_core.balancer.sapp_objective import surrogate
from sapp_core.balancer.time_unit import TimeUnit
from sapp_core.domain.plan import Plan
from sapp_core.domain.result import Objective

SLACK = 1e-9
"""Relative, for the objective to be kept: its value is a sum of rounded numbers."""


def least_recompute(question: Question, level: Objective, plan: Plan, value: float, unit: TimeUnit) -> PlacementProgram:
    """The program that leaves every layer in its cell and minimises the time of all backwards.

    Args:
        question: what has to be placed.
        level: of the surrogate objective.
        plan: where the layers are.
        value: of the surrogate, which must not grow, in `unit`.
        unit: of time in the program.
    """
    program = question.program(unit)
    problem, pipeline = program.problem, program.pipeline
    problem += surrogate(program, question.schedule, level) <= value * (1 + SLACK), "objective"
    for kind, (placement, rows) in enumerate(zip(plan.layers, program.counts, strict=True)):
        for v in range(pipeline.num_virtual_stages):
            here = placement.total(*pipeline.cells(v)[0])
            problem += lpSum(row[v] for row in rows) == here, f"stays_k{kind}_v{v}"
    cells = ((chunk, stage) for chunk in range(pipeline.num_chunks) for stage in range(pipeline.num_stages))
    problem += lpSum(program.body(program.backward_time, *cell) for cell in cells)
    return program
