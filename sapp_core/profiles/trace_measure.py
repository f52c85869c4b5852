"""All layer kinds in a trace: which events are whose, their times, and what is missed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sapp_core.documents.report import quoted
from sapp_core.domain.profile import MAX_LAYERS, LayerKind
from sapp_core.errors import ProfileError
from sapp_core.profiles.trace import Name, Trace
from sapp_core.profiles.trace_kinds import BACKWARD, FORWARD, KindPatterns, KindTimes
from sapp_core.profiles.trace_patterns import NUMBER, Pattern, read_pattern
from sapp_core.profiles.trace_remarks import remarks, remarks_on_layers
from sapp_core.profiles.trace_times import (
    NO_MATCH,
    LayerTimes,
    Match,
    Reading,
    inside,
    layer_times,
    layers_of_events,
    one_clock,
)


@dataclass(frozen=True, slots=True)
class NamedTime:
    """All events of a name.

    Attributes:
        name: of the events.
        count: of events.
        total: µs.
    """

    name: Name
    count: int
    total: float


@dataclass(frozen=True, slots=True, eq=False)
class Measurement:
    """All kinds in a trace.

    Attributes:
        trace: the events.
        kinds: in the order of the patterns.
        taken: `[event]`, whether a pattern matches it.
        problems: why there is no profile, a sentence each.
        warnings: what makes it doubtful.
    """

    trace: Trace
    kinds: tuple[KindTimes, ...]
    taken: np.ndarray[tuple[int], np.dtype[np.bool_]]
    problems: tuple[str, ...]
    warnings: tuple[str, ...]

    def left(self) -> tuple[NamedTime, ...]:
        """Names that no pattern matches, longest total first; events inside counted ones are not missed."""
        outer = np.zeros(self.trace.num_events, bool)
        for _, _, times in (direction for kind in self.kinds for direction in kind.directions):
            if times:
                outer[times.rows] = True
        missed = ~self.taken & ~inside(self.trace, np.arange(self.trace.num_events), outer)
        return named_times(self.trace, np.flatnonzero(missed))


def named_times(trace: Trace, rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> tuple[NamedTime, ...]:
    """Events by name, longest total first."""
    counts = np.bincount(trace.name[rows], minlength=len(trace.names))
    totals = np.bincount(trace.name[rows], trace.duration[rows], len(trace.names))
    order = [i for i in np.argsort(-totals, kind="stable") if counts[i]]
    return tuple(NamedTime(trace.names[i], int(counts[i]), float(totals[i])) for i in order)


def measure(trace: Trace, kinds: Sequence[KindPatterns], reading: Reading = Reading()) -> Measurement:  # noqa: B008  # frozen
    """Times of all kinds.

    An event belongs to the first pattern that matches it: those with ` > ` before the others, which say less, then in
    the order of the kinds, forward before backward.
    """
    problems, warnings = list(_wrong(kinds)), []
    patterns: dict[tuple[int, str], Pattern] = {}
    for i, kind in enumerate(kinds):
        for direction, text in kind.directions:
            if text.strip():
                try:
                    patterns[i, direction] = read_pattern(text)
                except ProfileError as error:
                    problems += [f"{kind.name}, {direction}: the pattern {problem}" for problem in error.problems]
    taken = np.zeros(trace.num_events, bool)
    times: dict[tuple[int, str], LayerTimes | None] = {}
    for (i, direction), pattern in sorted(patterns.items(), key=lambda item: not item[1].is_limited):
        kind, where = kinds[i], f"{kinds[i].name}, {direction}"
        layers = layers_of_events(trace, pattern)
        twice = taken & (layers != NO_MATCH)
        layers[twice] = NO_MATCH
        # What patterns with > leave to those without is meant for them.
        if twice.any() and pattern.is_limited == any(other.is_limited for other in patterns.values()):
            warnings.append(_said_twice(where, trace, np.unique(trace.name[twice]).tolist()))
        taken |= layers != NO_MATCH
        found = times[i, direction] = layer_times(trace, one_clock(trace, layers), kind.match, reading)
        if kind.match is Match.PART and kind.kind is LayerKind.BODY and not pattern.has_number:
            problems.append(
                f"{where}: the pattern must have {NUMBER} for the layer's number where a match is a part, so that "
                f"parts of one layer can be told from those of another; or choose that a match is a layer."
            )
        if found is None:
            text = dict(kind.directions)[direction]
            problems.append(f"{where}: no event matches {quoted(text)}; correct the pattern or empty it.")
            continue
        has_one_name = found.num_names == len(found.layers) and pattern.has_number
        if kind.match is Match.PART and has_one_name and reading.runs is None:
            problems.append(
                f"{where}: all parts of a layer have one name, so the trace does not say how often a layer ran; type "
                f"the runs of a layer (steps × micro-batches), or choose that a match is a layer."
            )
        warnings += (f"{where}: {remark}" for remark in remarks(kind, found, trace))
    measured = [KindTimes(kind, times.get((i, FORWARD)), times.get((i, BACKWARD))) for i, kind in enumerate(kinds)]
    for kind_times in measured:
        warnings += remarks_on_layers(kind_times)
    return Measurement(trace, tuple(measured), taken, tuple(problems), tuple(warnings))


def _wrong(kinds: Sequence[KindPatterns]) -> Iterator[str]:
    names = [kind.name for kind in kinds]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        yield f"layer kinds must have different names, found twice: {', '.join(map(quoted, twice))}."
    bodies = [kind for kind in kinds if kind.kind is LayerKind.BODY]
    if not bodies:
        yield "at least one layer kind must be a BODY; add a row for the layers that repeat."
    for kind in kinds:
        if not kind.name.strip():
            yield "every layer kind must have a name."
        if kind.kind is LayerKind.BODY and not kind.forward.strip():
            yield f"{kind.name}: a BODY kind must have a forward pattern; type one, or remove the row."
        if kind.num_layers is not None and not 1 <= kind.num_layers <= MAX_LAYERS:
            yield f"{kind.name}: layers must be a number from 1 to {MAX_LAYERS:,}, found {kind.num_layers:,}."


def _said_twice(where: str, trace: Trace, names: Sequence[int]) -> str:
    count = f"{len(names):,} names" if len(names) > 1 else "a name"
    example = quoted(trace.names[names[0]].text)
    return f"{where}: matches {count} that an earlier pattern has, such as {example}; each counts once, there."
