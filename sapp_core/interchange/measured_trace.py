"""Measured op times from a Chrome trace: complete events (`"ph": "X"`) that say which op they are.

An event is an op when

* its `args` have `stage`, `kind` and `micro_batch` (and `chunk`, `sequence_split` where they are not 0), as the
  traces of `chrome_trace.py` do, or
* its name is `PP:` with virtual stage, kind and micro-batch, such as `PP:2F0` or `PP:(0F1;1B0)OVERLAP_F_B`, as
  `torch.distributed.pipelining` labels its actions for the profiler, or
* its name is `stage 2 F0.3` (or `stage 2 F0.3.1`): kind, chunk, micro-batch (and split).

All other events are ignored. A profiler on a GPU writes a label twice, when the host issued the work and when the
device did it (category `gpu_user_annotation`); the device's times are taken if every label has them.
"""

import json
import re
from dataclasses import dataclass
from typing import NoReturn

from sapp_core.documents.report import Report, found
from sapp_core.documents.trace_events import DEVICE_ANNOTATION, microseconds
from sapp_core.domain.measured import Sample
from sapp_core.domain.schedule import Op, OpKind
from sapp_core.errors import FormatError
from sapp_core.interchange.measured_ops import KINDS, KnownOps

MAX_EVENTS, MAX_NAMED = 500_000, 100_000
"""Of a trace, and of those that name ops."""
MAX_BRACKETS = 2_000_000
"""Opening ones, of which an event has one to three; memory and time are lost before anybody counts events."""
LARGEST_BASE = 2**63
"""Nanoseconds, as profilers count them."""

_ACTION = r"(\d{1,9})([FBIW])(\d{1,9})"
_TORCH = re.compile(rf"PP:(?:{_ACTION}|\({_ACTION};{_ACTION}\)OVERLAP_F_B)")
_NAMED = re.compile(r"stage (\d{1,9}) ([FBIW])(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?")
_FIELDS = ("stage", "chunk", "micro_batch", "sequence_split")
_HOST_TIMES = (
    "{source}: its times are those of the host, which issues the work of a GPU before it runs; the device's own times "
    "are not there for every op."
)


@dataclass(frozen=True, slots=True)
class TraceTimes:
    """What a trace says.

    Attributes:
        samples: durations in the profile's unit, starts in the trace's microseconds.
        base: nanoseconds that stand for time 0 of this trace; None = not said.
        notes: what a reader should know.
    """

    samples: tuple[Sample, ...]
    base: int | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Named:
    """An event that names ops."""

    name: str
    on_device: bool
    start: float
    duration: float
    ops: tuple[tuple[int, Op], ...]


def read_trace(text: str, report: Report, known: KnownOps, microseconds: float) -> TraceTimes:
    """Samples of a trace; what breaks a rule goes to the report.

    Args:
        text: JSON, an array of events or an object with `traceEvents`.
        report: takes the problems.
        known: ops that may be named.
        microseconds: of one unit of the profile's time.

    Raises:
        FormatError: it is no trace, has too many events, or too many problems.
    """
    document = _parse(text, report)
    events = document.get("traceEvents") if isinstance(document, dict) else document
    if not isinstance(events, list):
        report.stop("", f"must be a Chrome trace with a list traceEvents, found {found(events)}.")
    if len(events) > MAX_EVENTS:
        report.stop("", f"must not have more than {MAX_EVENTS:,} events, found {len(events):,}.")
    named = []
    for index, event in enumerate(events):
        if not isinstance(event, dict) or event.get("ph") != "X":
            continue
        if read := _named(event, f"{report.source}, event {index}", report, known):
            named.append(read)
            if len(named) > MAX_NAMED:
                report.stop("", f"must not name the ops of more than {MAX_NAMED:,} events.")
    device = [event for event in named if event.on_device]
    notes: tuple[str, ...] = ()
    if device:
        if {event.name for event in named} == {event.name for event in device}:
            named = device
        else:
            named = [event for event in named if not event.on_device]
            notes = (_HOST_TIMES.format(source=report.source),)
    samples = tuple(
        Sample(stage, op.kind, event.duration / microseconds, op, event.start)
        for event in named
        for stage, op in event.ops
    )
    return TraceTimes(samples, _base(document, report), notes)


def _base(document: object, report: Report) -> int | None:
    base = document.get("baseTimeNanoseconds") if isinstance(document, dict) else None
    if isinstance(base, int) and abs(base) > LARGEST_BASE:
        report.refuse(f"{report.source}, baseTimeNanoseconds", f"must be a 64-bit number, found {found(base)}.")
    return base if isinstance(base, int) else None


def _parse(text: str, report: Report) -> object:
    def refuse(word: str) -> NoReturn:
        report.stop("", f"is not valid JSON: {word} is no number of JSON.")

    if text.count("{") + text.count("[") > MAX_BRACKETS:
        report.stop("", f"must not hold more than {MAX_BRACKETS:,} mappings and lists.")
    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        report.stop("", f"line {error.lineno}, column {error.colno} is not valid JSON: {error.msg}.")
    except RecursionError:
        report.stop("", "nests mappings and lists too deep for a trace.")
    except FormatError:
        raise
    except ValueError:  # Python's own limit, which keeps such numbers from taking minutes
        report.stop("", "holds a number with thousands of digits, which no trace needs.")


def _named(event: dict[str, object], where: str, report: Report, known: KnownOps) -> _Named | None:
    """The event, if it names ops that the schedule has and its times can be read."""
    before = len(report.problems)
    ops = _ops(event, where, report, known)
    if not ops:
        return None
    start, duration = (_time(event, key, where, report) for key in ("ts", "dur"))
    if duration < 0:
        report.refuse(where, "dur must not be negative.")
    for stage, op in ops:
        if problem := known.problem(stage, op.kind, op):
            report.refuse(where, problem)
    if len(report.problems) > before:
        return None
    return _Named(str(event.get("name")), event.get("cat") == DEVICE_ANNOTATION, start, duration, ops)


def _ops(event: dict[str, object], where: str, report: Report, known: KnownOps) -> tuple[tuple[int, Op], ...]:
    facts, name = event.get("args"), event.get("name")
    if isinstance(facts, dict) and {"stage", "kind", "micro_batch"} <= facts.keys():
        return _from_args(facts, where, report)
    if not isinstance(name, str):
        return ()
    if match := _NAMED.fullmatch(name):
        stage, kind, *units = match.groups()
        return ((int(stage), Op(OpKind(kind), *(int(unit or 0) for unit in units))),)
    if match := _TORCH.fullmatch(name):
        parts = [part for part in match.groups() if part is not None]
        cells = [known.cell(int(virtual_stage)) for virtual_stage in parts[::3]]
        if problem := next((cell for cell in cells if isinstance(cell, str)), None):
            report.refuse(where, problem)
            return ()
        return tuple(
            (cell[1], Op(OpKind(kind), cell[0], int(micro_batch)))
            for cell, kind, micro_batch in zip(cells, parts[1::3], parts[2::3], strict=True)
            if not isinstance(cell, str)
        )
    return ()


def _from_args(facts: dict[str, object], where: str, report: Report) -> tuple[tuple[int, Op], ...]:
    before = len(report.problems)
    kind = KINDS.get(str(facts["kind"]).lower())
    if kind is None:
        report.refuse(where, f"args.kind must be F, B, I or W, found {found(facts['kind'])}.")
    numbers = []
    for name in _FIELDS:
        value = facts.get(name, 0)
        if not isinstance(value, int) or isinstance(value, bool):
            report.refuse(where, f"args.{name} must be a whole number, found {found(value)}.")
            value = 0
        numbers.append(value)
    if kind is None or len(report.problems) > before:
        return ()
    stage, *units = numbers
    return ((stage, Op(kind, *units)),)


def _time(event: dict[str, object], key: str, where: str, report: Report) -> float:
    time = microseconds(event.get(key))
    if time is None:
        report.refuse(where, f"{key} must be a number of microseconds, found {found(event.get(key))}.")
    return time or 0.0
