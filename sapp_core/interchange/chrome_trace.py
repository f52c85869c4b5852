"""A simulated step as Chrome trace events, for Perfetto and `chrome://tracing`.

The format: "Trace Event Format", Google, https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
Complete events of one thread must lie side by side or wholly inside each other. So what runs at the same time gets
threads of its own: overlapped ops have a second compute thread, transfers as many threads as are under way at once.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, nextafter
from operator import itemgetter

from sapp_core.domain.graph import source_of
from sapp_core.domain.schedule import Op, OpKind, phase_of
from sapp_core.domain.timeline import Evaluation
from sapp_core.errors import FormatError
from sapp_core.interchange.trace_time import microseconds_per_unit, unit_sentence

Event = dict[str, object]

_COMPUTE = ("compute", "compute, overlapped")
"""Threads of the first and second op of a slot."""
_TITLES = {OpKind.F: "forward", OpKind.B: "backward", OpKind.I: "input gradient", OpKind.W: "weight gradient"}


@dataclass(frozen=True, slots=True)
class _Piece:
    """Something that takes time on a stage, on the trace's grid of nanoseconds.

    A viewer rounds starts and durations to nanoseconds one by one; on the grid, neighbours still touch after that.
    """

    stage: int
    thread: str
    start: int
    end: int
    name: str
    category: str
    facts: Event


def evaluation_to_chrome_trace(evaluation: Evaluation) -> str:
    """JSON text: a process for each stage with its ops, transfers (if they take time), and memory in MiB.

    Times are microseconds, whole nanoseconds; `otherData` says how the profile's unit was converted.

    Raises:
        FormatError: a time is too long for the format.
    """
    factor = 1000 * microseconds_per_unit(evaluation.profile.time_unit)
    if not evaluation.step_time * factor < 2**63:
        raise FormatError("chrome-trace: the step is too long; a trace counts nanoseconds up to 9.2e18.")
    pieces = [*_ops(evaluation, factor), *_transfers(evaluation, factor)]
    threads = _thread_numbers(pieces)
    timed = [(piece.start, _complete(piece, threads[piece.stage, piece.thread])) for piece in pieces]
    if evaluation.profile.has_memory:
        timed += _counters(evaluation, factor)
    # Stable: of ops that start together all but the last take no time, and they come in the order of the work.
    timed.sort(key=itemgetter(0))
    events = [*_names(evaluation, threads), *(event for _, event in timed)]
    lines = (json.dumps(event, allow_nan=False, separators=(",", ":")) for event in events)
    about = json.dumps(_about(evaluation), allow_nan=False)
    return '{"traceEvents": [\n' + ",\n".join(lines) + f'\n],\n"displayTimeUnit": "ms",\n"otherData": {about}}}\n'


def _about(evaluation: Evaluation) -> Event:
    unit = evaluation.profile.time_unit
    return {
        "model": evaluation.profile.name,
        "schedule": evaluation.schedule.name,
        **evaluation.schedule.pipeline.as_dict(),
        "step_time": evaluation.step_time,
        "time_unit": unit,
        "microseconds_per_time_unit": microseconds_per_unit(unit),
        "time": unit_sentence(unit),
    }


def _ops(evaluation: Evaluation, factor: float) -> Iterator[_Piece]:
    schedule, timeline = evaluation.schedule, evaluation.timeline
    phases, tokens = schedule.phases(), schedule.tokens()
    for stage, slots in enumerate(schedule.slots):
        for index, slot in enumerate(slots):
            start, end = (round(times[stage][index] * factor) for times in (timeline.starts, timeline.ends))
            for op, name, thread in zip(slot.ops, tokens[stage][index].split("+"), _COMPUTE, strict=False):
                facts = {"stage": stage, **_facts(op), "phase": str(phase_of(index, phases[stage]))}
                yield _Piece(stage, thread, start, end, name, _TITLES[op.kind], facts)


def _facts(op: Op) -> Event:
    return {
        "kind": str(op.kind),
        "chunk": op.chunk,
        "micro_batch": op.micro_batch,
        "sequence_split": op.sequence_split,
    }


def _transfers(evaluation: Evaluation, factor: float) -> Iterator[_Piece]:
    """On the sender's stage, from its end until the data arrives; each on the first thread that is free."""
    schedule, delay = evaluation.schedule, evaluation.schedule.pipeline.p2p_time
    if not delay:
        return
    ends = {
        (op.kind is OpKind.F, op.chunk, stage, op.micro_batch, op.sequence_split): end
        for stage, slots in enumerate(schedule.slots)
        for slot, end in zip(slots, evaluation.timeline.ends[stage], strict=True)
        for op in slot.ops
        if op.kind is not OpKind.W
    }
    sent = []
    for stage, slots in enumerate(schedule.slots):
        for op in (op for slot in slots for op in slot.ops):
            source = source_of(op, stage, schedule.pipeline)
            if source is not None and source[2] != stage:
                sent.append((ends[(*source, op.micro_batch, op.sequence_split)], source, stage, op))
    free_from: dict[int, list[int]] = {}
    for begun, (is_forward, chunk, sender, *_), receiver, op in sorted(sent, key=lambda entry: entry[0]):
        start, end = round(begun * factor), round((begun + delay) * factor)
        lanes = free_from.setdefault(sender, [])
        lane = next((number for number, free in enumerate(lanes) if free <= start), len(lanes))
        lanes[lane : lane + 1] = [end]
        what = "activations" if is_forward else "gradients"
        yield _Piece(
            sender, _transfer_thread(lane), start, end, f"{what} {chunk}.{op.micro_batch} → stage {receiver}",
            "transfer", {"from_stage": sender, "to_stage": receiver, "needed_by": _facts(op)},
        )  # fmt: skip


def _transfer_thread(lane: int) -> str:
    return "transfers" if lane == 0 else f"transfers {lane + 1}"


def _thread_numbers(pieces: list[_Piece]) -> dict[tuple[int, str], int]:
    """(stage, thread) → a number that is unique in the whole trace and not 0, which viewers take for an idle CPU."""
    order = {name: place for place, name in enumerate((*_COMPUTE, *dict.fromkeys(p.thread for p in pieces)))}
    used = sorted({(piece.stage, piece.thread) for piece in pieces}, key=lambda key: (key[0], order[key[1]]))
    return {key: number for number, key in enumerate(used, 1)}


def _names(evaluation: Evaluation, threads: dict[tuple[int, str], int]) -> Iterator[Event]:
    for stage in range(evaluation.schedule.pipeline.num_stages):
        yield _metadata("process_name", stage, 0, {"name": f"stage {stage}"})
        yield _metadata("process_sort_index", stage, 0, {"sort_index": stage})
    seen: Counter[int] = Counter()
    for (stage, name), number in threads.items():
        yield _metadata("thread_name", stage, number, {"name": name})
        yield _metadata("thread_sort_index", stage, number, {"sort_index": seen[stage]})
        seen[stage] += 1


def _metadata(name: str, stage: int, thread: int, facts: Event) -> Event:
    return {"ph": "M", "name": name, "pid": _process(stage), "tid": thread, "args": facts}


def _complete(piece: _Piece, thread: int) -> Event:
    return {
        "ph": "X",
        "name": piece.name,
        "cat": piece.category,
        "ts": _microseconds(piece.start),
        "dur": _microseconds(piece.end - piece.start),
        "pid": _process(piece.stage),
        "tid": thread,
        "args": piece.facts,
    }


def _counters(evaluation: Evaluation, factor: float) -> Iterator[tuple[int, Event]]:
    """Memory of each stage whenever it changes, and when, in nanoseconds; of changes at one moment the last one."""
    for stage, (peak, times) in enumerate(zip(evaluation.peaks, evaluation.memory.times, strict=True)):
        held = {
            round(time * factor): activation
            for time, activation in zip(times, evaluation.memory.activation_mb[stage], strict=True)
        }
        for time, activation in held.items():
            parts = {"parameters": peak.parameter_mb, "constant": peak.constant_mb, "activations": activation}
            counter: Event = {
                "ph": "C",
                "name": "memory (MiB)",
                "ts": _microseconds(time),
                "pid": _process(stage),
                "args": parts,
            }
            yield time, counter


def _process(stage: int) -> int:
    """Process 0 is the idle one of an operating system, so stages count from 1."""
    return stage + 1


def _microseconds(nanoseconds: int) -> float:
    """Microseconds that give the same nanoseconds again, whether a viewer rounds them or cuts them off."""
    micros = nanoseconds / 1000
    return micros if micros * 1000 >= nanoseconds else nextafter(micros, inf)
