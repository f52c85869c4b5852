"""Events of a trace → time of one layer, forward and backward, as robust medians with their spread.

An event that runs inside another match of the same pattern, on the same track, is not counted: its time is in the
outer one already. What is left becomes the times of layers, see `trace_runs`; the time of a kind is the median over
its layers, and so are its quartiles.
"""

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sapp_core.documents.trace_events import DEVICE_ANNOTATION
from sapp_core.profiles.trace import Trace
from sapp_core.profiles.trace_patterns import Pattern
from sapp_core.profiles.trace_runs import times_of_parts, times_of_wholes

Rows = NDArray[np.intp]
"""Positions of events in a trace, ascending."""

Layers = NDArray[np.int64]
"""`[event]`: number of the layer that an event belongs to, −1 = of any, −2 = of none."""

NO_MATCH = -2
_ON_HOST = frozenset({"cpu_op", "user_annotation", "python_function", "cuda_runtime", "cuda_driver"})
_ON_DEVICE = frozenset({"kernel", "gpu_memcpy", "gpu_memset", DEVICE_ANNOTATION})


class Match(StrEnum):
    """What one matching event is."""

    LAYER = "a layer"
    PART = "a part"


@dataclass(frozen=True, slots=True, eq=False)
class LayerTimes:
    """What a pattern says about a layer kind. Times are µs of one layer and one micro-batch.

    Attributes:
        rows: events that count.
        num_names: different names among them.
        num_nested: matching events left out because they run inside others.
        layers: numbers of the layers, ascending; −1 = the pattern has no number.
        runs: `[layer]`, how often each layer ran.
        medians: `[layer]`, `T_i`.
        time: median over the layers.
        low: lower quartile.
        high: upper quartile.
        first_share: duration of first runs by the median; None = too few to tell.
        uneven_names: of parts: names that do not occur a whole number of times in each run.
        on_host: whether these are times of a host that only issues the work of a device in the trace.
        num_tracks: threads and streams the events are on.
    """

    rows: Rows
    num_names: int
    num_nested: int
    layers: tuple[int, ...]
    runs: tuple[float, ...]
    medians: tuple[float, ...]
    time: float
    low: float
    high: float
    first_share: float | None
    uneven_names: int
    on_host: bool
    num_tracks: int

    @property
    def spread(self) -> float:
        """Distance of the quartiles by the median."""
        return (self.high - self.low) / self.time if self.time else 0.0


@dataclass(frozen=True, slots=True)
class Reading:
    """How events are counted.

    Attributes:
        runs: how often each layer runs in the trace, steps × micro-batches; None = from the trace. Only of parts.
        skipped: first runs of each layer whose durations do not count (warm-up), though never all of them.
        tracks: that count; empty = all.
    """

    runs: int | None = None
    skipped: int = 0
    tracks: tuple[int, ...] = ()


def layers_of_events(trace: Trace, pattern: Pattern) -> Layers:
    """The layer of every event that a pattern matches."""
    found = np.full(trace.num_events, NO_MATCH, np.int64)
    for alternative in pattern.alternatives:
        numbers = (alternative.names.layer_of(name.text) for name in trace.names)
        of_name = np.array([NO_MATCH if number is None else number for number in numbers], np.int64)
        events = of_name[trace.name]
        if alternative.during is not None:
            outer = np.array([alternative.during.layer_of(name.text) is not None for name in trace.names])
            events[~_during(trace, outer[trace.name])] = NO_MATCH
        found = np.where(found == NO_MATCH, events, found)
    return found


def _during(trace: Trace, outer: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """`[event]`: whether the middle of an event is in an outer one of its process."""
    found = np.zeros(trace.num_events, bool)
    process = trace.process[trace.track]
    middles, ends = trace.start + trace.duration / 2, trace.start + trace.duration
    for number in np.unique(process[outer]):
        around = np.flatnonzero(outer & (process == number))
        around = around[np.argsort(trace.start[around], kind="stable")]
        latest = np.maximum.accumulate(ends[around])
        rows = np.flatnonzero(process == number)
        before = np.searchsorted(trace.start[around], middles[rows], "right") - 1
        found[rows] = (before >= 0) & (middles[rows] < latest[np.maximum(before, 0)])
    return found


def one_clock(trace: Trace, layers: Layers) -> Layers:
    """Of names that are there for host and device only the device's, if all have them, else only the host's."""
    chosen = np.unique(trace.name[layers != NO_MATCH])
    on_device = {i for i in chosen if trace.names[i].category == DEVICE_ANNOTATION}
    if not on_device:
        return layers
    is_complete = {trace.names[i].text for i in on_device} == {trace.names[i].text for i in chosen}
    dropped = [i for i in chosen if (i in on_device) != is_complete]
    return np.where(np.isin(trace.name, dropped), NO_MATCH, layers)


def layer_times(trace: Trace, layers: Layers, match: Match, reading: Reading) -> LayerTimes | None:
    """Times of a layer kind in one direction; None = no event counts.

    Args:
        trace: timed events.
        layers: of the events.
        match: what one event is.
        reading: how events are counted.
    """
    counted = layers != NO_MATCH
    if reading.tracks:
        counted &= np.isin(trace.track, reading.tracks)
    rows = np.flatnonzero(counted)
    outer = rows[~inside(trace, rows, np.ones(len(rows), bool))]
    if not len(outer):
        return None
    name, duration = trace.name[outer], trace.duration[outer]
    if match is Match.PART:
        found = times_of_parts(layers[outer], name, trace.start[outer], duration, reading.runs, reading.skipped)
    else:
        found = times_of_wholes(layers[outer], name, trace.track[outer], duration, reading.skipped)
    low, middle, high = found.quartiles
    categories = {trace.names[i].category for i in np.unique(name)}
    return LayerTimes(
        rows=outer,
        num_names=len(np.unique(name)),
        num_nested=len(rows) - len(outer),
        layers=tuple(map(int, found.layers)),
        runs=tuple(map(float, found.runs)),
        medians=tuple(map(float, middle)),
        time=float(np.median(middle)),
        low=float(np.median(low)),
        high=float(np.median(high)),
        first_share=found.first_share,
        uneven_names=found.uneven_names,
        on_host=categories <= _ON_HOST and any(name.category in _ON_DEVICE for name in trace.names),
        num_tracks=len(np.unique(trace.track[outer])),
    )


def inside(trace: Trace, rows: Rows, outer: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """`[row]`: whether an event runs inside an earlier one of the rows, on its track.

    That its middle does is enough: starts and ends are rounded.

    Args:
        trace: timed events.
        rows: events to look at, ascending.
        outer: `[row]`, those that others can run inside.
    """
    found = np.zeros(len(rows), bool)
    ends = np.where(outer, trace.start[rows] + trace.duration[rows], -np.inf)
    middles = trace.start[rows] + trace.duration[rows] / 2
    bounds = np.flatnonzero(np.diff(trace.track[rows], prepend=-1, append=-1))
    for begin, end in pairwise(bounds):
        latest = np.maximum.accumulate(ends[begin : end - 1])
        found[begin + 1 : end] = middles[begin + 1 : end] < latest
    return found
