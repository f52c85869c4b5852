"""Events of a trace → time of one layer, forward and backward, as robust medians with their spread.

An event that runs inside another match of the same pattern, on the same track, is not counted: its time is in the
outer one already. What is left is grouped by layer (the number `#` of the pattern; without it all events are one
group), and then

* a match is a *layer*: each event is one run of layer `i`, `T_i = median(durations of layer i)`;
* a match is a *part*: the runs of layer `i` consist of events of many names, `T_i = Σ_n k_n · median(durations of n)`
  where the name `n` occurs `c_n` times in the layer, `E` runs are in the trace, and `k_n = c_n / E`. `E` is given
  (steps × micro-batches of the trace), or else the `c_n` that names with most of the layer's time have.

The time of a layer is `median_i T_i`. Quartiles are made in the same way from those of the durations; for parts that
assumes that all parts are slow together, so the spread is an upper bound.
"""

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sapp_core.documents.trace_events import DEVICE_ANNOTATION
from sapp_core.profiles.trace import Trace
from sapp_core.profiles.trace_patterns import Pattern

Rows = NDArray[np.intp]
"""Positions of events in a trace, ascending."""

Layers = NDArray[np.int64]
"""`[name]`: number of the layer that events of a name belong to, −1 = of any, −2 = of none."""

NO_MATCH = -2
_ENOUGH_TO_COMPARE = 3
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
        first_share: duration of first occurrences of names by their medians; None = too few to tell.
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
        runs: how often each layer runs in the trace, steps × micro-batches; None = from the trace.
        skipped: first occurrences of each name on each track whose durations do not count (warm-up), though never
            all of them.
        tracks: that count; empty = all.
    """

    runs: int | None = None
    skipped: int = 0
    tracks: tuple[int, ...] = ()


def layers_of_names(trace: Trace, pattern: Pattern) -> Layers:
    """The layer of every name that a pattern matches."""
    found = (pattern.layer_of(name.text) for name in trace.names)
    return np.array([NO_MATCH if layer is None else layer for layer in found], np.int64)


def one_clock(trace: Trace, layers: Layers) -> Layers:
    """Of names that are there for host and device only the device's, if all have them, else only the host's."""
    chosen = np.flatnonzero(layers != NO_MATCH)
    on_device = {i for i in chosen if trace.names[i].category == DEVICE_ANNOTATION}
    if not on_device:
        return layers
    is_complete = {trace.names[i].text for i in on_device} == {trace.names[i].text for i in chosen}
    left = layers.copy()
    left[[i for i in chosen if (i in on_device) != is_complete]] = NO_MATCH
    return left


def layer_times(trace: Trace, layers: Layers, match: Match, reading: Reading) -> LayerTimes | None:
    """Times of a layer kind in one direction; None = no event counts.

    Args:
        trace: timed events.
        layers: of the names.
        match: what one event is.
        reading: how events are counted.
    """
    counted = layers[trace.name] != NO_MATCH
    if reading.tracks:
        counted &= np.isin(trace.track, reading.tracks)
    rows = np.flatnonzero(counted)
    outer = rows[~inside(trace, rows, np.ones(len(rows), bool))]
    if not len(outer):
        return None
    name, layer, duration = trace.name[outer], layers[trace.name[outer]], trace.duration[outer]
    occurrence, last = _occurrences(name, trace.track[outer])
    usable = occurrence >= np.minimum(reading.skipped, last)
    groups = name.astype(np.int64) if match is Match.PART else np.zeros(len(name), np.int64)
    found = _by_layer(layer, groups, duration, usable)
    runs, quartiles, uneven = found.counts.astype(float), found.quartiles, 0
    if match is Match.PART:
        runs, quartiles, uneven = _sums(found, reading.runs)
    low, middle, high = quartiles
    categories = {trace.names[i].category for i in np.unique(name)}
    return LayerTimes(
        rows=outer,
        num_names=len(np.unique(name)),
        num_nested=len(rows) - len(outer),
        layers=tuple(map(int, np.unique(found.layer))),
        runs=tuple(map(float, runs)),
        medians=tuple(map(float, middle)),
        time=float(np.median(middle)),
        low=float(np.median(low)),
        high=float(np.median(high)),
        first_share=_first_share(name, duration, occurrence),
        uneven_names=uneven,
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


@dataclass(frozen=True, slots=True, eq=False)
class _Groups:
    """Events of a layer, or of a layer and a name, together; all in the order of layers.

    Attributes:
        layer: `[group]`.
        counts: `[group]`, events.
        weight: `[group]`, µs of all events.
        quartiles: lower, median, upper, each `[group]`, µs.
    """

    layer: NDArray[np.int64]
    counts: NDArray[np.int64]
    weight: NDArray[np.float64]
    quartiles: tuple[NDArray[np.float64], ...]


def _by_layer(
    layer: NDArray[np.int64], group: NDArray[np.int64], duration: NDArray[np.float64], usable: NDArray[np.bool_]
) -> _Groups:
    order = np.lexsort((duration, ~usable, group, layer))
    layer, group, duration, usable = layer[order], group[order], duration[order], usable[order]
    starts = np.flatnonzero(np.diff(layer, prepend=NO_MATCH) | np.diff(group, prepend=-1))
    good = np.add.reduceat(usable, starts, dtype=np.int64)
    return _Groups(
        layer[starts],
        np.diff(starts, append=len(layer)),
        np.add.reduceat(duration, starts),
        tuple(_quantile(duration, starts, good, share) for share in (0.25, 0.5, 0.75)),
    )


def _sums(groups: _Groups, given_runs: int | None) -> tuple[NDArray[np.float64], tuple[NDArray[np.float64], ...], int]:
    """Runs and quartiles of whole layers from those of their parts; parts that occur unevenly."""
    numbers, position = np.unique(groups.layer, return_inverse=True)
    bounds = np.searchsorted(position, np.arange(len(numbers) + 1))
    runs = np.array(
        [given_runs or _usual(groups.counts[begin:end], groups.weight[begin:end]) for begin, end in pairwise(bounds)],
        float,
    )
    share = groups.counts / runs[position]
    sums = tuple(np.bincount(position, share * quartile, len(numbers)).astype(float) for quartile in groups.quartiles)
    return runs, sums, int(np.count_nonzero(share % 1))


def _usual(counts: NDArray[np.int64], weight: NDArray[np.float64]) -> int:
    """The number of occurrences that names with most of the time have."""
    values, position = np.unique(counts, return_inverse=True)
    return int(values[np.argmax(np.bincount(position, weight))])


def _quantile(
    ordered: NDArray[np.float64], starts: NDArray[np.int64], counts: NDArray[np.int64], share: float
) -> NDArray[np.float64]:
    """Quantile of every group of ascending values, between its neighbours; 0 for an empty group."""
    place = share * np.maximum(counts - 1, 0)
    below = starts + np.floor(place).astype(np.int64)
    above = starts + np.ceil(place).astype(np.int64)
    part = place - np.floor(place)
    return np.where(counts > 0, ordered[below] * (1 - part) + ordered[above] * part, 0.0)


def _occurrences(name: NDArray[np.int32], track: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How often each event's name was on its track before, and how often before its last time there.

    Events are in order of track and start.
    """
    order = np.lexsort((track, name))
    starts = np.flatnonzero(np.diff(name[order], prepend=-1) | np.diff(track[order], prepend=-1))
    counts = np.diff(starts, append=len(name))
    before, last = np.empty(len(name), np.int64), np.empty(len(name), np.int64)
    before[order] = np.arange(len(name)) - np.repeat(starts, counts)
    last[order] = np.repeat(counts - 1, counts)
    return before, last


def _first_share(name: NDArray[np.int32], duration: NDArray[np.float64], occurrence: NDArray[np.int64]) -> float | None:
    """First occurrences of names by their medians, over names that occur often enough."""
    order = np.lexsort((duration, name))
    starts = np.flatnonzero(np.diff(name[order], prepend=-1))
    counts = np.diff(starts, append=len(name))
    medians = _quantile(duration[order], starts, counts, 0.5)
    often = counts >= _ENOUGH_TO_COMPARE
    first = occurrence == 0
    mean_first = np.bincount(name[first], duration[first]) / np.maximum(np.bincount(name[first]), 1)
    of_name = name[order][starts]
    total = float(medians[often].sum())
    return float(mean_first[of_name[often]].sum()) / total if total else None
