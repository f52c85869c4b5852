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
SPLIT = ("seqpipe", "seqpipe-vpp")
KNOWN = ("1f1b", "vpp", LESS_MEMORY, "dualpipe-v", *SPLIT)
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
    splits = pipeline.num_sequence_splits
    most = pipeline.num_micro_batches * splits
    base = tuple(min(count, most) / splits for count in _in_flight(name, pipeline, stage))
    if name == "dualpipe-v" or name in SPLIT or pipeline.num_chunks == 1 or most == pipeline.num_stages:
        return (base,)
    later = tuple(a + b for a, b in zip(base, _overhead(name, pipeline, stage), strict=True))
    return base, later


def _in_flight(name: str, pipeline: Pipeline, stage: int) -> list[int]:
    """`[chunk]`, before the cap by the number of micro-batches; of SeqPipe in sequence splits."""
    S, V, K = pipeline.num_stages, pipeline.num_chunks, pipeline.num_sequence_splits
    if name in SPLIT:
        return [S - stage + K - 1] if V == 1 else _splits_in_flight(S, V, K)[stage]
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


def _splits_in_flight(S: int, V: int, K: int) -> list[list[int]]:
    """`[stage][chunk]` of interleaved SeqPipe: from the last stage to the first, two more splits each time.

    They go to the first chunk whose groups of S splits are not full on the stage before; when all are, a new round of
    groups begins with chunk 0.
    """
    counts = [[S] * (V - 1) + [K] for _ in range(S)]
    rounds = 1
    for stage in range(S - 2, -1, -1):
        before = counts[stage + 1]
        open_chunks = [c for c in range(V) if before[c] % S or before[c] < S * rounds]
        if not open_chunks:
            rounds += 1
        for earlier in range(stage + 1):
            counts[earlier][open_chunks[0] if open_chunks else 0] += 2
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
