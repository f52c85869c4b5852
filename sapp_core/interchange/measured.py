"""Files of measured op times, one or several (a profiler writes one a rank): CSV or Chrome traces, told by content."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sapp_core.documents.report import Report
from sapp_core.domain.measured import Sample
from sapp_core.domain.schedule import Schedule
from sapp_core.errors import FormatError
from sapp_core.interchange.measured_csv import read_csv
from sapp_core.interchange.measured_ops import KnownOps
from sapp_core.interchange.measured_trace import TraceTimes, read_trace
from sapp_core.interchange.trace_time import is_known_unit, microseconds_per_unit, unit_sentence

MAX_BYTES = 10 * 1024 * 1024
"""Of all files together."""

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Measurements:
    """What the files say.

    Attributes:
        samples: measured runs of ops, in the profile's time unit.
        notes: what a reader should know, a sentence each.
    """

    samples: tuple[Sample, ...]
    notes: tuple[str, ...] = ()


def read_measured(files: Sequence[tuple[str, bytes]], schedule: Schedule, time_unit: str) -> Measurements:
    """Measured runs of a schedule's ops.

    Args:
        files: name and content of each.
        schedule: whose ops were measured.
        time_unit: of the profile; CSV is in it, traces are converted to it.

    Raises:
        FormatError: the problems of all files.
    """
    size = sum(len(data) for _, data in files)
    if size > MAX_BYTES:
        names = ", ".join(name for name, _ in files)
        raise FormatError(
            f"{names}: must not be larger than 10 MB ({MAX_BYTES:,} bytes), found {size:,} bytes or more."
        )
    known, factor = KnownOps(schedule), microseconds_per_unit(time_unit)
    problems: list[str] = []
    tables: list[Sample] = []
    traces: list[TraceTimes] = []
    for name, data in files:
        report = Report(name, FormatError)
        try:
            text = _text(data, report)
            if text.lstrip().startswith(("{", "[")):
                traces.append(read_trace(text, report, known, factor))
                found = len(traces[-1].samples)
            else:
                table = read_csv(text, report, known)
                tables += table
                found = len(table)
            if not found and not report.problems:
                report.refuse("", _NOTHING)
            report.raise_problems()
        except FormatError as error:
            problems += error.problems
    if problems:
        raise FormatError(*problems)
    notes = tuple(note for trace in traces for note in trace.notes)
    if traces and not is_known_unit(time_unit):
        notes += (unit_sentence(time_unit),)
    return Measurements((*tables, *_on_one_clock(traces, factor)), notes)


_NOTHING = (
    "names no op. A trace needs events such as PP:2F0 or stage 2 F0.3, or args with stage, kind and micro_batch; a "
    "table needs lines after its first one."
)


def _text(data: bytes, report: Report) -> str:
    if data.startswith(_GZIP):
        report.stop("", "is compressed; unpack it first.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        report.stop("", f"must be text in UTF-8, found the byte 0x{data[error.start]:02x} at position {error.start:,}.")
    if not text.strip():
        report.stop("", "is empty; must hold a CSV table or a Chrome trace.")
    return text


def _on_one_clock(traces: list[TraceTimes], microseconds: float) -> list[Sample]:
    """Samples of all traces, starts in the profile's unit; the traces' time zeros may differ."""
    bases = [trace.base for trace in traces if trace.base is not None]
    known = len(bases) == len(traces)
    samples = []
    for trace in traces:
        late = (trace.base - min(bases)) / 1000 if known and trace.base is not None else 0.0
        samples += [
            replace(sample, start=(sample.start + late) / microseconds)
            for sample in trace.samples
            if sample.start is not None
        ]
    return samples
