"""What patterns match in a trace, as rows for people: the same on the page and in the terminal. Times are ms."""

from collections.abc import Iterable, Sequence

from sapp_core.profiles.trace_measure import Measurement, NamedTime, named_times
from sapp_core.profiles.trace_profile import MICROSECONDS

Row = dict[str, object]

MEDIAN, LOWER, UPPER, SPREAD = "Median ms", "Lower quartile ms", "Upper quartile ms", "Spread %"
NESTED, TOTAL = "Inside others", "Total ms"
MOST_NAMES = 500
"""In a table: more is nothing to read."""


def match_rows(measured: Measurement) -> list[Row]:
    """A row for each layer kind and direction with a pattern."""
    return [
        {
            "Layer kind": kind.patterns.name,
            "Direction": direction,
            "Events": len(times.rows) if times else 0,
            "Names": times.num_names if times else 0,
            "Layers": _numbers(times.layers) if times else "",
            "Runs of a layer": _range(times.runs) if times else "",
            MEDIAN: times.time / MICROSECONDS if times else None,
            LOWER: times.low / MICROSECONDS if times else None,
            UPPER: times.high / MICROSECONDS if times else None,
            SPREAD: 100 * times.spread if times else None,
            NESTED: times.num_nested if times else 0,
        }
        for kind in measured.kinds
        for direction, pattern, times in kind.directions
        if pattern.strip()
    ]


def matched_rows(measured: Measurement) -> list[Row]:
    """Names of the events that count, by layer kind and direction."""
    rows = [
        {"Layer kind": kind.patterns.name, "Direction": direction, **row}
        for kind in measured.kinds
        for direction, _, times in kind.directions
        if times
        for row in name_rows(named_times(measured.trace, times.rows))
    ]
    return rows[:MOST_NAMES]


def name_rows(names: Iterable[NamedTime]) -> list[Row]:
    """Names with their events."""
    return [
        {
            "Name": named.name.text,
            "Category": named.name.category,
            "Events": named.count,
            TOTAL: named.total / MICROSECONDS,
        }
        for named, _ in zip(names, range(MOST_NAMES), strict=False)
    ]


def _numbers(layers: Sequence[int]) -> str:
    """Numbers of layers: `0–31`, or the first and last and how many there are."""
    if layers[0] < 0:
        return "not numbered"
    if len(layers) == 1:
        return str(layers[0])
    if layers[-1] - layers[0] == len(layers) - 1:
        return f"{layers[0]}–{layers[-1]}"
    return f"{len(layers)} from {layers[0]} to {layers[-1]}"


def _range(values: Sequence[float]) -> str:
    least, most = min(values), max(values)
    return f"{least:g}" if least == most else f"{least:g}–{most:g}"
