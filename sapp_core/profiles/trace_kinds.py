"""The layer kinds a user names by patterns, measured in a trace, with everything that makes the numbers doubtful."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sapp_core.documents.report import quoted
from sapp_core.domain.profile import LayerKind
from sapp_core.errors import ProfileError
from sapp_core.profiles.schema import MAX_LAYERS
from sapp_core.profiles.trace import Name, Trace
from sapp_core.profiles.trace_patterns import NUMBER, Pattern, read_pattern
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

LARGE_SPREAD = 0.2
FEW_RUNS = 5
FORWARD, BACKWARD = "forward", "backward"


@dataclass(frozen=True, slots=True)
class KindPatterns:
    """A layer kind and how its events are called.

    Attributes:
        name: of the kind.
        kind: head, body or tail.
        forward: pattern of its forward, see `trace_patterns`; empty = not in the trace.
        backward: of its backward; empty = not in the trace.
        match: what one event is.
        num_layers: of the model; None = as many as the trace has.
    """

    name: str
    kind: LayerKind
    forward: str
    backward: str = ""
    match: Match = Match.LAYER
    num_layers: int | None = None

    @property
    def directions(self) -> tuple[tuple[str, str], ...]:
        """Direction and pattern."""
        return (FORWARD, self.forward), (BACKWARD, self.backward)


@dataclass(frozen=True, slots=True, eq=False)
class KindTimes:
    """What the trace says about a kind.

    Attributes:
        patterns: of the kind.
        forward: None = nothing.
        backward: None = nothing.
    """

    patterns: KindPatterns
    forward: LayerTimes | None
    backward: LayerTimes | None

    @property
    def num_layers(self) -> int:
        """Of the model: as given, or as many as the trace has."""
        return self.patterns.num_layers or (len(self.forward.layers) if self.forward else 1)

    @property
    def directions(self) -> tuple[tuple[str, str, LayerTimes | None], ...]:
        """Direction, pattern, times."""
        return (
            (FORWARD, self.patterns.forward, self.forward),
            (BACKWARD, self.patterns.backward, self.backward),
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
        warnings += (f"{where}: {remark}" for remark in _remarks(kind, found, trace, reading))
    measured = [KindTimes(kind, times.get((i, FORWARD)), times.get((i, BACKWARD))) for i, kind in enumerate(kinds)]
    for kind_times in measured:
        warnings += _remarks_on_layers(kind_times)
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


def _remarks(kind: KindPatterns, times: LayerTimes, trace: Trace, reading: Reading) -> Iterator[str]:
    """What makes a time doubtful."""
    if times.on_host:
        yield (
            "these are times of the host, which issues the work of the device before it runs; take names that the "
            "device has as well, such as labels of record_function (category gpu_user_annotation)."
        )
    if times.spread > LARGE_SPREAD:
        yield f"the middle half of the times spreads over {100 * times.spread:.0f} % of the median."
    if min(times.runs) < FEW_RUNS:
        yield f"runs of a layer that the median rests on: {min(times.runs):g}; {FEW_RUNS} and more tell outliers apart."
    if times.first_share is not None and abs(times.first_share - 1) > LARGE_SPREAD:
        yield (
            f"first runs take {100 * times.first_share:.0f} % of the median; leave them out as warm-up if they are few."
        )
    apart = _far_apart(times)
    if apart:
        yield apart
    if kind.match is Match.PART:
        yield from _remarks_on_parts(times, reading)
    else:
        texts = {trace.names[i].text for i in np.unique(trace.name[times.rows])}
        if len(texts) > len(times.layers):
            yield (
                f"events of {len(texts):,} names count each as a whole layer; if they are parts of one, choose that a "
                f"match is a part."
            )


def _remarks_on_parts(times: LayerTimes, reading: Reading) -> Iterator[str]:
    if times.uneven_names:
        yield (
            f"of {times.num_names:,} names, {times.uneven_names:,} do not occur equally often in each run, and add "
            f"their mean; check the runs of a layer."
        )
    if reading.runs is None and times.num_names == len(times.layers) and times.layers[0] >= 0:
        yield (
            "all parts of a layer have one name, so the trace does not say how often a layer ran, and each part counts "
            "as a run; type the runs of a layer (steps × micro-batches)."
        )
    if times.num_tracks > 1:
        yield (
            f"the parts are on {times.num_tracks:,} threads or streams; their times are added up, though they may "
            f"overlap."
        )


def _far_apart(times: LayerTimes) -> str:
    """A sentence when a layer takes far longer or shorter than the others."""
    if len(times.layers) < 2 or not times.time:
        return ""
    shares = [median / times.time - 1 for median in times.medians]
    i = max(range(len(shares)), key=lambda i: abs(shares[i]))
    if abs(shares[i]) <= LARGE_SPREAD:
        return ""
    return f"layer {times.layers[i]} takes {100 * (1 + shares[i]):.0f} % of the median layer; it may be another kind."


def _remarks_on_layers(kind: KindTimes) -> Iterator[str]:
    """How the layers of the trace go with those of the model."""
    times, given = kind.forward, kind.patterns.num_layers
    if times and times.layers[0] < 0 and given is None and kind.patterns.kind is LayerKind.BODY:
        yield f"{kind.patterns.name}: the pattern does not number the layers, so they count as 1; type their number."
    elif times and given is not None and times.layers[0] >= 0 and len(times.layers) != given:
        yield (
            f"{kind.patterns.name}: layers of this kind: {len(times.layers):,} in the trace, {given:,} in the model; "
            f"each counts as one of the trace."
        )
    elif times and given is None and times.layers[0] >= 0 and kind.patterns.kind is LayerKind.BODY:
        yield (
            f"{kind.patterns.name}: the layers of the trace, {len(times.layers):,}, count as all of the model; a trace "
            f"of one stage has only some, so type the number where it is larger."
        )
