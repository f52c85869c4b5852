"""The surrogate objectives of the SAPP balancer, levels 0, 1 and 2: linear stand-ins for the step time.

Levels 0 and 1 even out the work of the stages; level 1 knows the special shape of M = S, where all forwards may run
before the first backward; level 2 adds what uneven chunks cost while the pipeline fills and drains.
"""

from collections.abc import Iterable

from pulp import LpAffineExpression, LpContinuous, LpInteger, LpVariable, lpSum

from sapp_core.balancer.ilp import PlacementProgram
from sapp_core.balancer.sapp_memory import LESS_MEMORY
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.result import Objective
from sapp_core.domain.schedule import Schedule

Cells = tuple[tuple[LpAffineExpression, ...], ...]
"""One expression a cell, `[chunk][stage]`."""


def surrogate(program: PlacementProgram, schedule: Schedule, level: Objective) -> LpAffineExpression:
    """Add the rows of a level; what has to be minimised, in the program's unit of time.

    Sequence splits are units of their own: K times as many, each 1/K of the time. Rows are in whole micro-batches.
    """
    return _minimised(program, schedule, level) * (1 / program.pipeline.num_sequence_splits)


def _units(pipeline: Pipeline) -> int:
    """Micro-batches, or their sequence splits: what goes through the pipeline one after the other."""
    return pipeline.num_micro_batches * pipeline.num_sequence_splits


def _minimised(program: PlacementProgram, schedule: Schedule, level: Objective) -> LpAffineExpression:
    problem, pipeline = program.problem, program.pipeline
    chunks, stages = range(pipeline.num_chunks), range(pipeline.num_stages)
    forward: Cells = tuple(tuple(program.cell(program.forward_time, c, s) for s in stages) for c in chunks)
    backward: Cells = tuple(tuple(program.cell(program.backward_time, c, s) for s in stages) for c in chunks)
    several_waves = pipeline.num_chunks == 1 or _units(pipeline) != pipeline.num_stages
    general = level is Objective.SAPP_0 or several_waves
    # Sums of whole times are whole: said to the solver, this proves optimality several times faster. Only level 2 of
    # M = S also measures `stage_max` by fractions of times.
    whole = program.unit.whole and (general or level is Objective.SAPP_1)
    stage_max = problem.add_variable("stage_max", 0, cat=LpInteger if whole else LpContinuous)
    last_max: LpVariable | None = None

    if general:
        for s in stages:
            for ahead in chunks:
                for back in chunks:
                    work = forward[ahead][s] + backward[back][s]
                    problem += work <= stage_max, f"work_s{s}_f{ahead}_b{back}"
    else:
        last_max = _one_wave_rows(program, schedule, backward, stage_max)

    if level is Objective.SAPP_2:
        if last_max is not None:
            problem += stage_max >= last_max, "last_max"
        return lpSum([_step_rows(program, forward, backward, stage_max)])
    if last_max is not None:
        problem += last_max >= stage_max, "last_max"
        return stage_max + last_max
    return lpSum([stage_max])


def _one_wave_rows(program: PlacementProgram, schedule: Schedule, backward: Cells, stage_max: LpVariable) -> LpVariable:
    """M = S with several chunks: backwards alone set the pace, but the last chunk also waits for its forwards."""
    problem, pipeline = program.problem, program.pipeline
    S, M, last = pipeline.num_stages, _units(pipeline), pipeline.num_chunks - 1
    for c in range(last):
        for s in range(S):
            problem += backward[c][s] <= stage_max, f"backward_s{s}_c{c}"
    last_max = problem.add_variable("last_max", 0)
    for s in range(S):
        early = s < S // 2
        waits = s if schedule.name == LESS_MEMORY else 0 if early else abs(S - 1 - 2 * s)
        tail_forward = program.ends(program.forward_time, last, s)
        held_up = (waits / M) * program.body(program.forward_time, last, s)
        problem += backward[last][s] + tail_forward + held_up <= last_max, f"last_chunk_s{s}"
    return last_max


def _step_rows(program: PlacementProgram, forward: Cells, backward: Cells, stage_max: LpVariable) -> LpVariable:
    """Level 2: all work of the body, the share of each chunk, and what uneven forwards cost at start and end."""
    problem, pipeline = program.problem, program.pipeline
    S, V, M = pipeline.num_stages, pipeline.num_chunks, _units(pipeline)
    body = (
        program.body(time, c, s)
        for time in (program.forward_time, program.backward_time)
        for c in range(V)
        for s in range(S)
    )
    parts: list[LpAffineExpression] = [lpSum(body)]
    for c in range(V - 1):
        parts.append(lpSum((*forward[c], *backward[c])) * ((V - c) / V / S))
        without_head = tuple(
            program.body(program.forward_time, c, s) if pipeline.virtual_stage(c, s) == 0 else forward[c][s]
            for s in range(S)
        )
        parts.append(M * _falling_behind(program, f"prev_c{c}", _along(program, without_head, c)))
    backwards = tuple(reversed(_along(program, forward[V - 1], V - 1)))
    parts.append(M * _falling_behind(program, "next", backwards))
    step = problem.add_variable("step", 0)
    problem += lpSum(parts) * (1 / max(1, V - 2)) + max(0, M - 2) * stage_max <= step, "step"
    return step


def _along(program: PlacementProgram, cells: Iterable[LpAffineExpression], chunk: int) -> list[LpAffineExpression]:
    """Cells of a chunk in the order in which its forwards pass through them."""
    numbered = enumerate(cells)
    return [cell for _, cell in sorted(numbered, key=lambda item: program.pipeline.virtual_stage(chunk, item[0]))]


def _falling_behind(program: PlacementProgram, name: str, cells: Iterable[LpAffineExpression]) -> LpAffineExpression:
    """Σ over the cells of what each is shorter than the longest one before it."""
    problem = program.problem
    shorter = []
    longest: LpVariable | None = None
    for i, cell in enumerate(cells):
        if longest is not None:
            short = problem.add_variable(f"{name}_short_{i}", 0)
            problem += short >= longest - cell, f"{name}_short_{i}"
            shorter.append(short)
        longer = problem.add_variable(f"{name}_longest_{i}", 0)
        problem += longer >= cell, f"{name}_longest_{i}"
        if longest is not None:
            problem += longer >= longest, f"{name}_longest_{i}_grows"
        longest = longer
    return lpSum(shorter)
