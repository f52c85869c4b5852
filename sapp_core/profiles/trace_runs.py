"""Durations of events → times of layers. An event is a whole run of a layer, or a part of one.

Whole: `T_i = median(durations of layer i)`, over all its events.

Part: the runs of layer `i` consist of events of many names. `E` is how often the layer ran: given (steps ×
micro-batches of the trace), or else the number of times that names with most of the layer's time occur. A name that
occurs `k · E` times occurs `k` times in each run; its first, second, … time in a run are parts of their own, so that
they may differ. Then `T_i = Σ_parts median(durations of the part)`. A name whose number of occurrences is no multiple
of `E` adds its mean, `Σ durations ÷ E`.

Quartiles are made in the same way from those of the durations; for parts that assumes that all parts of a run are slow
together, so the spread is an upper bound.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64] | NDArray[np.int32]
Real = NDArray[np.float64]

_ENOUGH_TO_COMPARE = 3
_QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True, slots=True, eq=False)
class RunTimes:
    """Times of the layers of a kind, µs.

    Attributes:
        layers: numbers, ascending.
        runs: `[layer]`, how often each ran.
        quartiles: lower, median, upper, each `[layer]`.
        first_share: duration of first runs by the median; None = too few to tell.
        uneven_names: names that add their mean.
    """

    layers: NDArray[np.int64]
    runs: NDArray[np.int64]
    quartiles: tuple[Real, ...]
    first_share: float | None
    uneven_names: int


def times_of_wholes(layer: Whole, name: Whole, track: Whole, duration: Real, skipped: int) -> RunTimes:
    """Times of layers whose events are whole runs.

    Args:
        layer: `[event]`, in order of track and start, like the others.
        name: `[event]`.
        track: `[event]`.
        duration: `[event]`, µs.
        skipped: first events of each name on each track that do not count, though never all.
    """
    order = np.lexsort((track, name))
    begins, counts = _groups(name[order], track[order])
    run, last = np.empty(len(name), np.int64), np.empty(len(name), np.int64)
    run[order] = np.arange(len(name)) - np.repeat(begins, counts)
    last[order] = np.repeat(counts - 1, counts)
    starts, quartiles = _quartiles(layer.astype(np.int64), duration, run >= np.minimum(skipped, last))
    ordered = np.sort(layer)
    counted = np.diff(starts, append=len(layer))
    return RunTimes(ordered[starts].astype(np.int64), counted, quartiles, _first_share(name, duration, run), 0)


def times_of_parts(
    layer: Whole, name: Whole, start: Real, duration: Real, given_runs: int | None, skipped: int
) -> RunTimes:
    """Times of layers whose events are parts of runs.

    Args:
        layer: `[event]`.
        name: `[event]`.
        start: `[event]`, µs.
        duration: `[event]`, µs.
        given_runs: how often each layer ran; None = as seen.
        skipped: first runs that do not count, though never all.
    """
    order = np.lexsort((start, name, layer))
    layer, name, duration = layer[order], name[order], duration[order]
    begins, counts = _groups(layer, name)
    group = np.repeat(np.arange(len(begins)), counts)
    numbers, of_layer = np.unique(layer[begins], return_inverse=True)
    weight = np.add.reduceat(duration, begins)
    runs = np.array(
        [
            given_runs or _usual(counts[begin:end], weight[begin:end])
            for begin, end in pairwise(np.searchsorted(of_layer, np.arange(len(numbers) + 1)))
        ],
        np.int64,
    )
    times, rest = np.divmod(counts, runs[of_layer])
    is_even = rest == 0
    occurrence = np.arange(len(name)) - begins[group]
    times = np.where(is_even, times, 1)
    run, place = np.divmod(occurrence, times[group])
    part = np.cumsum(np.append(0, times))[group] + place  # numbered through, in the order of groups
    usable = run >= np.minimum(skipped, runs[of_layer[group]] - 1)
    _, quartiles = _quartiles(part, duration, usable | ~is_even[group])
    owner = np.repeat(np.arange(len(begins)), times)
    mean = weight / runs[of_layer]
    sums = tuple(
        np.bincount(of_layer[owner], np.where(is_even[owner], quartile, mean[owner]), len(numbers)).astype(float)
        for quartile in quartiles
    )
    return RunTimes(
        numbers.astype(np.int64), runs, sums, _first_share(part, duration, run), int(np.count_nonzero(~is_even))
    )


def _groups(first: Whole, second: Whole) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where runs of equal pairs begin, and how long they are."""
    changes = (np.diff(first) != 0) | (np.diff(second) != 0)
    begins = np.append(0, np.flatnonzero(changes) + 1)
    return begins, np.diff(begins, append=len(first))


def _quartiles(
    group: NDArray[np.int64], duration: Real, usable: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], tuple[Real, ...]]:
    """Where each group begins among the sorted ones, and quartiles of its usable durations (at least one)."""
    order = np.lexsort((duration, ~usable, group))
    group, duration, usable = group[order], duration[order], usable[order]
    starts, _ = _groups(group, group)
    counts = np.add.reduceat(usable, starts, dtype=np.int64)
    return starts, tuple(_quantile(duration, starts, counts, share) for share in _QUARTILES)


def _quantile(ordered: Real, starts: NDArray[np.int64], counts: NDArray[np.int64], share: float) -> Real:
    """Quantile of every group of ascending values, between its neighbours."""
    place = share * (counts - 1)
    below, above = (starts + side(place).astype(np.int64) for side in (np.floor, np.ceil))
    part = place - np.floor(place)
    found: Real = ordered[below] * (1 - part) + ordered[above] * part
    return found


def _usual(counts: NDArray[np.int64], weight: Real) -> int:
    """The number of occurrences that names with most of the time have."""
    values, position = np.unique(counts, return_inverse=True)
    return int(values[np.argmax(np.bincount(position, weight))])


def _first_share(part: Whole, duration: Real, run: NDArray[np.int64]) -> float | None:
    """Durations in first runs by the medians, over what ran often enough."""
    numbers, part = np.unique(part, return_inverse=True)
    starts, (_, medians, _) = _quartiles(part, duration, np.ones(len(part), bool))
    often = np.diff(starts, append=len(part)) >= _ENOUGH_TO_COMPARE
    first = run == 0
    firsts = np.bincount(part[first], minlength=len(numbers))
    mean_first = np.bincount(part[first], duration[first], len(numbers)) / np.maximum(firsts, 1)
    total = float(medians[often].sum())
    return float(mean_first[often].sum()) / total if total else None
