"""Traces of PyTorch's profiler or MindSpore → when each named piece of work ran.

Kept are complete events (`"ph": "X"`) and pairs of begin and end (`"B"`, `"E"`): name, category, track, start and
duration, 24 bytes each; arguments are not kept.
"""

from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO

import numpy as np

from sapp_core.documents.report import Report
from sapp_core.documents.text_stream import size_of, text_pieces
from sapp_core.documents.trace_events import Ending, TraceEvents, microseconds
from sapp_core.errors import ProfileError
from sapp_core.profiles.trace import Name, Trace

MAX_FILE_BYTES = 200 * 2**20
MAX_EVENTS = 4_000_000
MAX_TRACKS = 10_000
MAX_NAMES = 200_000
MAX_NAME_CHARACTERS = 32 * 2**20
"""Of all different names together."""


def read_trace(files: Sequence[tuple[str, BinaryIO]], told: Callable[[float], None] | None = None) -> Trace:
    """Traces of one run, such as one file a rank, read as streams.

    Args:
        files: name and content of each; a content can be rewound.
        told: takes the share that has been read, from 0 to 1, now and then.

    Raises:
        ProfileError: with the problems of all files: too large, empty, no trace, broken, no timed events.
    """
    columns, done = _Columns(), 0
    problems: list[str] = []
    sizes = [size_of(stream) for _, stream in files]
    total = max(sum(sizes), 1)
    for (source, stream), size in zip(files, sizes, strict=True):
        report = Report(source, ProfileError)

        def tell(position: int, done: int = done) -> None:
            if told:
                told((done + position) / total)

        try:
            if size > MAX_FILE_BYTES:
                report.stop("", f"must not be larger than {MAX_FILE_BYTES // 2**20} MB, found {size / 2**20:,.0f} MB.")
            columns.read(TraceEvents(text_pieces(stream, report, tell), report), report, several=len(files) > 1)
        except ProfileError as error:
            problems += error.problems
        done += size
        tell(0, done)
    if problems:
        raise ProfileError(*problems)
    return columns.trace()


class _Columns:
    """Grows with every event; made for one reading."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], int] = {}
        self._tracks: dict[tuple[str, object, object], int] = {}
        self._said: dict[tuple[str, object, object], str] = {}
        self._characters = 0
        self._name, self._track = array("i"), array("i")
        self._start, self._duration = array("d"), array("d")
        self._notes: list[str] = []

    def read(self, events: TraceEvents, report: Report, *, several: bool) -> None:
        """All events of a file.

        Args:
            events: of the file.
            report: of the file; its problems refuse the file.
            several: whether tracks have to say which file they are of.
        """
        source = report.source if several else ""
        marks = _Marks()
        before = len(self._name)
        entries = unread = 0
        for event in events:
            entries += 1
            if type(event) is not dict or not self._take(event, source, marks, report):
                unread += 1
            if len(self._name) + len(marks) > MAX_EVENTS:
                report.stop("", f"a trace may hold {MAX_EVENTS:,} timed events, found more; trace fewer steps.")
        for track, start, duration, name in marks.pairs():
            self._keep(name, track, start, duration)
        kept = len(self._name) - before
        if not kept:
            report.stop("", _nothing(entries, events.ending))
        self._note(report.source, events.ending, kept, unread, marks.alone)

    def _take(self, event: dict[str, object], source: str, marks: "_Marks", report: Report) -> bool:
        """Keep an event; False = it is none, or has no legal time."""
        phase = event.get("ph")
        if phase == "X":
            start, duration = microseconds(event.get("ts")), microseconds(event.get("dur"))
            if start is None or duration is None or duration < 0:
                return False
            self._keep(self._name_of(event, report), self._track_of(event, source, report), start, duration)
        elif phase in ("B", "E"):
            start = microseconds(event.get("ts"))
            if start is None:
                return False
            name = self._name_of(event, report) if phase == "B" else _END
            marks.add(self._track_of(event, source, report), start, name)
        elif phase == "M":
            self._hear(event, source)
        return phase is not None

    def trace(self) -> Trace:
        """Everything that was read."""
        start, duration = (np.frombuffer(column, np.float64) for column in (self._start, self._duration))
        name, track = (np.frombuffer(column, np.int32) for column in (self._name, self._track))
        order = np.lexsort((-duration, start, track))
        name, track, start, duration = name[order], track[order], start[order], duration[order]
        for column in (name, track, start, duration):
            column.setflags(write=False)
        names = tuple(Name(text, category) for category, text in self._names)
        processes: dict[tuple[str, object], int] = {}
        process = [processes.setdefault(key[:2], len(processes)) for key in self._tracks]
        return Trace(
            names,
            tuple(map(self._title, self._tracks)),
            np.array(process, np.int32),
            name,
            track,
            start,
            duration,
            tuple(self._notes),
        )

    def _keep(self, name: int, track: int, start: float, duration: float) -> None:
        self._name.append(name)
        self._track.append(track)
        self._start.append(start)
        self._duration.append(duration)

    def _name_of(self, event: dict[str, object], report: Report) -> int:
        text, category = event.get("name"), event.get("cat")
        key = (category if type(category) is str else "", text if type(text) is str else str(text))
        found = self._names.get(key)
        if found is None:
            found = self._names[key] = len(self._names)
            self._characters += len(key[0]) + len(key[1])
            if found >= MAX_NAMES or self._characters > MAX_NAME_CHARACTERS:
                report.stop(
                    "",
                    f"a trace may hold {MAX_NAMES:,} different names of together {MAX_NAME_CHARACTERS:,} characters, "
                    f"found more; trace without Python's call stack.",
                )
        return found

    def _track_of(self, event: dict[str, object], source: str, report: Report) -> int:
        process, thread = event.get("pid"), event.get("tid")
        if type(process) is not int or type(thread) is not int:
            process, thread = _identity(process), _identity(thread)
        key = (source, process, thread)
        found = self._tracks.get(key)
        if found is None:
            found = self._tracks[key] = len(self._tracks)
            if found >= MAX_TRACKS:
                report.stop("", f"a trace may hold {MAX_TRACKS:,} threads and streams, found more.")
        return found

    def _hear(self, event: dict[str, object], source: str) -> None:
        """What a process or thread is called."""
        args = event.get("args")
        said = args.get("name") if isinstance(args, dict) else None
        if not isinstance(said, str) or len(self._said) >= 2 * MAX_TRACKS:
            return
        process, thread = _identity(event.get("pid")), _identity(event.get("tid"))
        if event.get("name") == "process_name":
            self._said[source, process, None] = said[:100]
        elif event.get("name") == "thread_name":
            self._said[source, process, (thread,)] = said[:100]

    def _title(self, key: tuple[str, object, object]) -> str:
        source, process, thread = key
        parts = [
            source,
            self._said.get((source, process, None), f"process {process}"),
            self._said.get((source, process, (thread,)), f"thread {thread}"),
        ]
        return " · ".join(part for part in parts if part)

    def _note(self, source: str, ending: Ending, kept: int, unread: int, alone: int) -> None:
        """What is odd about a file that can be used."""
        if ending is Ending.CUT:
            self._notes.append(
                f"{source}: ends inside an event, so its writing was cut off; the timed events before it are used: "
                f"{kept:,}."
            )
        elif ending is Ending.OPEN:
            self._notes.append(
                f"{source}: its list of events has no closing bracket, so its end may be missing; the timed events "
                f"that are there are used: {kept:,}."
            )
        if unread:
            self._notes.append(f"{source}: entries that are no event or have no legal time were left out: {unread:,}.")
        if alone:
            self._notes.append(f"{source}: begin and end events without a partner were left out: {alone:,}.")


_END = -1


class _Marks:
    """Begin and end events; those of one moment stay in the file's order."""

    def __init__(self) -> None:
        self.alone = 0
        self._track, self._name, self._time = array("i"), array("i"), array("d")

    def __len__(self) -> int:
        return len(self._time)

    def add(self, track: int, time: float, name: int) -> None:
        """An event; the name `_END` ends what began last on its track."""
        self._track.append(track)
        self._name.append(name)
        self._time.append(time)

    def pairs(self) -> Iterator[tuple[int, float, float, int]]:
        """Track, start, duration and name of every pair; the others are counted."""
        opened: list[tuple[float, int]] = []
        before = None
        for i in np.lexsort((np.frombuffer(self._time, np.float64), np.frombuffer(self._track, np.int32))):
            track, time, name = self._track[i], self._time[i], self._name[i]
            if track != before:
                self.alone += len(opened)
                opened, before = [], track
            if name != _END:
                opened.append((time, name))
            elif opened:
                start, begun = opened.pop()
                yield track, start, time - start, begun
            else:
                self.alone += 1
        self.alone += len(opened)


def _identity(value: object) -> object:
    """A process or thread number, or its name; numbers and texts are kept apart by their type already."""
    return value if isinstance(value, str | int) else str(value)


def _nothing(entries: int, ending: Ending) -> str:
    if ending is Ending.CUT and not entries:
        return "ends inside its first event, so there is nothing to use; export the trace again."
    if not entries:
        return "is a trace without any event; trace at least one training step."
    return (
        f"is no trace with times: none of its entries ({entries:,}) is a complete event (ph X with ts and dur) or one "
        f"of a pair of begin and end (ph B and E)."
    )
