"""Measured op times from a CSV: one line a run of an op, columns by the names in its first line.

| column | meaning |
| --- | --- |
| `stage` | pipeline rank, from 0 |
| `kind` (or `op`) | `F`, `B`, `I` (input gradient), `W` (weight gradient), or the word: `forward`, `backward`, … |
| `chunk` | from 0; needed where a stage holds several and there are starts |
| `micro_batch` | from 0; needed where there are starts |
| `sequence_split` | from 0; needed where micro-batches are split and there are starts |
| `start` | when it began; may be left out, then there is no step to draw, only durations |
| `end` or `duration` | when it ended, or how long it took |

Times are in the profile's unit, on any clock that all stages share. Other columns are ignored.
"""

import csv
import io
from collections.abc import Iterator
from math import isfinite

from sapp_core.documents.report import Report, quoted
from sapp_core.domain.measured import Sample
from sapp_core.domain.schedule import Op, OpKind
from sapp_core.interchange.measured_ops import KINDS, KnownOps

MAX_ROWS = 100_000
"""A page draws no longer step; more lines than that take seconds to read."""
LONGEST_LINE = 10_000
"""Characters: a hundred times what the columns need."""
LARGEST_TIME = 1e15

_COLUMNS = ("stage", "kind", "chunk", "micro_batch", "sequence_split", "start", "end", "duration")
_LONGEST_NUMBER = 40


def read_csv(text: str, report: Report, known: KnownOps) -> list[Sample]:
    """Samples of a table; what breaks a rule goes to the report.

    Raises:
        FormatError: there are too many lines, or too many problems.
    """
    try:
        rows = csv.reader(_lines(text, report), strict=True)
        header = ["kind" if name == "op" else name for name in (cell.strip().lower() for cell in next(rows, []))]
        if not _check_header(header, report, known):
            return []
        places = {name: header.index(name) for name in _COLUMNS if name in header}
        samples = []
        for count, cells in enumerate(rows):
            if count >= MAX_ROWS:
                report.stop("", f"must not have more than {MAX_ROWS:,} lines.")
            if any(cell.strip() for cell in cells):
                row = _Row(cells, places, f"{report.source}, line {rows.line_num}", report)
                if (sample := row.sample(known)) is not None:
                    samples.append(sample)
    except csv.Error as error:
        report.stop("", f"line {rows.line_num} is not valid CSV: {error}.")
    return samples


def _lines(text: str, report: Report) -> Iterator[str]:
    for number, line in enumerate(io.StringIO(text, newline=""), 1):
        if len(line) > LONGEST_LINE:
            rule = f"must not be longer than {LONGEST_LINE:,} characters"
            report.stop(f"{report.source}, line {number}", f"{rule}, found {len(line):,}.")
        yield line


def _check_header(header: list[str], report: Report, known: KnownOps) -> bool:
    where = f"{report.source}, line 1"
    problems = [f"the column {name} is there twice." for name in _COLUMNS if header.count(name) > 1]
    needed = ["stage", "kind"]
    if "start" in header:
        needed.append("micro_batch")
        needed += ["chunk"] * (known.pipeline.num_chunks > 1)
        needed += ["sequence_split"] * (known.pipeline.num_sequence_splits > 1)
    elif "end" in header:
        needed.append("start")
    missing = [name for name in needed if name not in header]
    if missing:
        shown = ", ".join(quoted(name) for name in header[:12]) or "nothing"
        problems.append(f"columns are missing: {', '.join(missing)}; found {shown}; the separator is a comma.")
    if ("end" in header) == ("duration" in header):
        both = "both" if "end" in header else "neither"
        problems.append(f"there must be a column end or a column duration, found {both}.")
    for problem in problems:
        report.refuse(where, problem)
    return not problems


class _Row:
    """One line of the table; what cannot be read in it goes to the report."""

    def __init__(self, cells: list[str], places: dict[str, int], where: str, report: Report) -> None:
        self._values = {name: cells[place].strip() if place < len(cells) else "" for name, place in places.items()}
        self._where = where
        self._report = report

    def sample(self, known: KnownOps) -> Sample | None:
        before = len(self._report.problems)
        stage, kind = self._whole("stage"), self._kind()
        chunk, micro_batch, split = map(self._whole, ("chunk", "micro_batch", "sequence_split"))
        start, end, duration = map(self._time, ("start", "end", "duration"))
        if len(self._report.problems) > before or kind is None:
            return None
        if end is not None and start is not None:
            duration = end - start
        if duration is None or duration < 0:
            rule = "must not end before it starts." if end is not None else "duration must not be negative."
            self._report.refuse(self._where, rule)
            return None
        op = Op(kind, chunk, micro_batch, split) if "micro_batch" in self._values else None
        if problem := known.problem(stage, kind, op):
            self._report.refuse(self._where, problem)
            return None
        return Sample(stage, kind, duration, op, start)

    def _whole(self, name: str) -> int:
        """0 where there is no such column, or none that can be read."""
        text = self._values.get(name, "0")
        if text.isascii() and text.isdigit() and len(text) < 10:
            return int(text)
        self._refuse(name, "a whole number of at least 0")
        return 0

    def _kind(self) -> OpKind | None:
        kind = KINDS.get(self._values["kind"].lower())
        if kind is None:
            self._refuse("kind", "F, B, I or W")
        return kind

    def _time(self, name: str) -> float | None:
        text = self._values.get(name)
        if text is None:
            return None
        try:
            time = float(text) if len(text) <= _LONGEST_NUMBER else float("nan")
        except ValueError:
            time = float("nan")
        if isfinite(time) and abs(time) <= LARGEST_TIME:
            return time
        self._refuse(name, "a number with a point for the decimals, such as 12.5")
        return None

    def _refuse(self, name: str, rule: str) -> None:
        self._report.refuse(f"{self._where}, column {name}", f"must be {rule}, found {quoted(self._values[name])}.")
