"""Job lists for frameworks that run a pipeline from them, in the words of Paddle's `pipeline_scheduler_VPP` pass.

A job is a type with its chunk in its name (`forward0`, `backward_w1`) and a micro-batch. The lists follow interleaved
1F1B, except that with as many micro-batches as stages all forwards come first.
"""

from collections.abc import Iterator
from enum import StrEnum

from sapp_core.domain.schedule import Op, OpKind, Schedule
from sapp_core.errors import FormatError

Job = tuple[str, int]
"""(job type, micro-batch)."""

SCHEDULE = "vpp"
OPTIMIZER = "optimizer"


class PaddleMode(StrEnum):
    """Which jobs a list holds.

    `PLAIN`: forwards and backwards. `TRANSFERS`: receives and sends as jobs of their own. `SPLIT`: backwards split into
    input and weight gradients, which Paddle does only with as many micro-batches as stages.
    """

    PLAIN = "paddle"
    TRANSFERS = "paddle-transfers"
    SPLIT = "paddle-split"


def job_lists(schedule: Schedule, mode: PaddleMode, *, overlap_reduction: bool = False) -> tuple[tuple[Job, ...], ...]:
    """`[stage][job]` in the order a stage runs them, the optimizer last.

    Args:
        schedule: interleaved 1F1B.
        mode: which jobs.
        overlap_reduction: with `SPLIT`, the last micro-batch's weight gradient also reduces gradients.

    Raises:
        FormatError: the schedule is not `vpp`, M < S, or `SPLIT` with M ≠ S.
    """
    _check(schedule, mode)
    lists = []
    for slots in schedule.slots:
        ops = [op for slot in slots for op in slot.ops]
        forwards = [op for op in ops if op.kind is OpKind.F]
        backwards = [op for op in ops if op.kind is OpKind.B]
        leading = ops.index(backwards[0])
        if schedule.pipeline.num_micro_batches == schedule.pipeline.num_stages:
            leading = len(forwards)
        if mode is PaddleMode.TRANSFERS:
            jobs = _with_transfers(forwards, backwards, leading)
        elif mode is PaddleMode.SPLIT:
            jobs = _split(forwards, backwards, schedule, overlap_reduction=overlap_reduction)
        else:
            jobs = _plain(forwards, backwards, leading)
        lists.append((*jobs, (OPTIMIZER, 0)))
    return tuple(lists)


def job_types(num_chunks: int, mode: PaddleMode, *, overlap_reduction: bool = False) -> tuple[str, ...]:
    """All job types in program order: forwards by chunk, backwards by chunk descending, the optimizer."""
    ascending, descending = range(num_chunks), range(num_chunks - 1, -1, -1)
    if mode is PaddleMode.TRANSFERS:
        forward = [kind for c in ascending for kind in (f"recv_forward{c}", f"forward{c}")]
        backward = [kind for c in descending for kind in (f"backward{c}", f"send_backward{c}")]
    else:
        forward = [f"forward{c}" for c in ascending]
        backward = [f"backward{c}" for c in descending]
    if mode is PaddleMode.SPLIT:
        endings = ("", "_reduce") if overlap_reduction else ("",)
        backward = [f"backward_b{c}" for c in descending]
        backward += [f"backward_w{c}{ending}" for c in descending for ending in endings]
    return (*forward, *backward, OPTIMIZER)


def job_object(schedule: Schedule, mode: PaddleMode, *, overlap_reduction: bool = False) -> dict[str, object]:
    """`{"mode", "job_types", "jobs": [stage][[type, micro-batch]]}`.

    Raises:
        FormatError: as `job_lists`.
    """
    jobs = job_lists(schedule, mode, overlap_reduction=overlap_reduction)
    types = job_types(schedule.pipeline.num_chunks, mode, overlap_reduction=overlap_reduction)
    return {
        "mode": str(mode),
        "job_types": list(types),
        "jobs": [[list(job) for job in stage] for stage in jobs],
    }


def _check(schedule: Schedule, mode: PaddleMode) -> None:
    stages, count = schedule.pipeline.num_stages, schedule.pipeline.num_micro_batches
    if schedule.name != SCHEDULE:
        raise FormatError(f"schedule: Paddle job lists follow {SCHEDULE}, found {schedule.name}.")
    if count < stages:
        raise FormatError(
            f"num_micro_batches: Paddle job lists need at least one a stage, found {count} for {stages} stages; "
            f"take {stages}."
        )
    if mode is PaddleMode.SPLIT and count != stages:
        raise FormatError(
            f"num_micro_batches: {mode} needs as many as stages, found {count} for {stages} stages; take {stages}, "
            f"or choose {PaddleMode.PLAIN} or {PaddleMode.TRANSFERS}."
        )


def _job(kind: str, op: Op) -> Job:
    return f"{kind}{op.chunk}", op.micro_batch


def _plain(forwards: list[Op], backwards: list[Op], leading: int) -> Iterator[Job]:
    yield from (_job("forward", op) for op in forwards[:leading])
    rest = forwards[leading:]
    for backward, forward in zip(backwards, rest, strict=False):
        yield _job("backward", backward)
        yield _job("forward", forward)
    yield from (_job("backward", op) for op in backwards[len(rest) :])


def _with_transfers(forwards: list[Op], backwards: list[Op], leading: int) -> Iterator[Job]:
    for op in forwards[:leading]:
        yield _job("recv_forward", op)
        yield _job("forward", op)
    rest = forwards[leading:]
    for backward, forward in zip(backwards, rest, strict=False):
        yield _job("backward", backward)
        yield _job("recv_forward", forward)
        yield _job("send_backward", backward)
        yield _job("forward", forward)
    for op in backwards[len(rest) :]:
        yield _job("backward", op)
        yield _job("send_backward", op)


def _split(forwards: list[Op], backwards: list[Op], schedule: Schedule, *, overlap_reduction: bool) -> Iterator[Job]:
    yield from (_job("forward", op) for op in forwards)
    yield from (_job("backward_b", op) for op in backwards)
    last = schedule.pipeline.num_micro_batches - 1
    for op in sorted(backwards, key=lambda op: (-op.chunk, op.micro_batch)):
        kind, micro_batch = _job("backward_w", op)
        yield kind + ("_reduce" if overlap_reduction and micro_batch == last else ""), micro_batch
