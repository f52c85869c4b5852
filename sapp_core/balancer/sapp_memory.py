"""Memory as the SAPP balancer estimates it: closed forms of how many micro-batches are in flight.

They come in the shape of `schedules.in_flight.peak_vectors`, so that both memory models share the rows of the program.
The closed forms know groups of S micro-batches only, and they are estimates: where they differ from the schedule's own
counts, the plan's simulated peak tells.
"""

from sapp_core.balancer.ilp import Vectors
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.schedule import Schedule
from sapp_core.errors import PipelineError

LESS_MEMORY = "vpp-less-memory"
KNOWN = ("1f1b", "vpp", LESS_MEMORY, "dualpipe-v")
"""Schedules that have a closed form."""


def estimated_vectors(schedule: Schedule) -> Vectors:
    """`[stage][i][chunk]`: the closed form, and a second vector where the overhead term can add to it.

    Raises:
        PipelineError: there is no closed form for this schedule or its group size.
    """
    pipeline = schedule.pipeline
    if schedule.name not in KNOWN:
        raise PipelineError(
            f"memory_model: sapp has no closed form for the schedule {schedule.name}, only for {', '.join(KNOWN)}; "
            "use exact."
        )
    if pipeline.group_size not in {None, pipeline.num_stages}:
        raise PipelineError(
            f"memory_model: sapp knows groups of {pipeline.num_stages} micro-batches (one a stage) only, found "
            f"group_size {pipeline.group_size}; use exact."
        )
    return tuple(_stage_vectors(schedule.name, pipeline, stage) for stage in range(pipeline.num_stages))


def _stage_vectors(name: str, pipeline: Pipeline, stage: int) -> tuple[tuple[float, ...], ...]:
    most = pipeline.num_micro_batches
    base = tuple(float(min(count, most)) for count in _in_flight(name, pipeline, stage))
    if name == "dualpipe-v" or pipeline.num_chunks == 1 or most == pipeline.num_stages:
        return (base,)
    later = tuple(a + b for a, b in zip(base, _overhead(name, pipeline, stage), strict=True))
    return base, later


def _in_flight(name: str, pipeline: Pipeline, stage: int) -> list[int]:
    """`[chunk]`, before the cap by the number of micro-batches."""
    S, V = pipeline.num_stages, pipeline.num_chunks
    if name == "1f1b":
        return [S - stage]
    if name == "dualpipe-v":
        return [2 * S - stage, stage + 1]
    counts = [S] * V
    if name == LESS_MEMORY:
        counts[-1] -= stage
    else:
        lead = S - 2 * stage - 1
        counts[0] += max(0, lead)
        counts[-1] += min(0, lead)
    return counts


def _overhead(name: str, pipeline: Pipeline, stage: int) -> list[int]:
    """`[chunk]`, change of the counts from the moment of the closed form to a later one that may need more.

    V−1 steps, in turn one of the forward chunk (starting at the last, cyclic) and one of the backward chunk (from the
    last down): micro-batches of the chunk computed forward come alive, those of the chunk computed backward leave.
    """
    S, V = pipeline.num_stages, pipeline.num_chunks
    less_memory = name == LESS_MEMORY
    lead = S - 2 * stage - 1
    change = [0] * V

    def move(count: int, to: int, out_of: int) -> None:
        change[to] += count
        change[out_of] -= count

    ahead = back = V - 1
    for step in range(V - 1):
        if step % 2 == 0:
            ahead = (ahead + 1) % V
            move(S - stage if less_memory else S - abs(lead), ahead, back)
        else:
            back -= 1
            if less_memory:
                move(stage, ahead, back)
            else:
                move(max(lead, 0), ahead + 1, back + 1)
                move(max(-lead, 0), ahead, back)
    return change
