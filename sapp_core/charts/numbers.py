"""How numbers are written, on charts and on pages alike."""

from math import ceil, log10

MB_PER_GB = 1024.0
_IN_GB_FROM = 4 * MB_PER_GB
_MOST_DECIMALS = 15


def memory_text(mb: float) -> str:
    """Memory with its unit: `512 MiB`, `51.8 GiB`."""
    if abs(mb) < _IN_GB_FROM:
        return f"{mb:,.0f} MiB"
    return f"{mb / MB_PER_GB:,.1f} GiB"


def memory_scale(largest_mb: float) -> tuple[float, str]:
    """Unit of a memory axis that has to reach a value: (MiB in one unit, its name)."""
    return (1.0, "MiB") if largest_mb < _IN_GB_FROM else (MB_PER_GB, "GiB")


def time_decimals(longest: float) -> int:
    """Decimals that keep six digits of the longest time shown: what can be told apart on a screen and no more."""
    return 3 if longest <= 0 else min(9, max(0, 6 - ceil(log10(longest))))


def time_text(time: float, unit: str, digits: int = 6) -> str:
    """A time with its unit, rounded to significant digits: `153,322 ms`, `12.5 ms`."""
    decimals = 0 if time == 0 else max(0, digits - ceil(log10(abs(time))))
    if decimals > _MOST_DECIMALS:
        return f"{time:.{digits}g} {unit}"
    text = f"{time:,.{decimals}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {unit}"


def percent_text(share: float, decimals: int = 1) -> str:
    """A share as a percentage: `12.3 %`."""
    return f"{100 * share:.{decimals}f} %"


def signed_percent_text(share: float) -> str:
    """A difference as a percentage with its sign: `+12.3 %`, `−4.0 %`, `0.0 %`."""
    text = f"{100 * abs(share):.1f} %"
    if text == "0.0 %":
        return text
    return f"{'−' if share < 0 else '+'}{text}"


def ordinal_text(place: int) -> str:
    """A place in a line: 1st, 2nd, 3rd, 11th."""
    ending = "th" if place % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


def count_text(count: float) -> str:
    """A number of micro-batches; only sequence splits and kept shares make fractions: `8`, `2.75`."""
    return f"{count:,.2f}".rstrip("0").rstrip(".")
