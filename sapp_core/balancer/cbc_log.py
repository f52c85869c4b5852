"""What CBC prints while it works: the only place where it tells its bound."""

import re

_BEST = re.compile(r"Integer solution of (\S+) found|(\S+) best solution, best possible|Objective value:\s+(\S+)")
_BOUND = re.compile(r"best possible (\d\S*?)[ )]|Lower bound:\s+(\S+)|Continuous objective value is (\S+)")
NOTHING = 1e49
"""1e+50 is CBC's word for "none yet"."""


def best_and_bound(log: str) -> tuple[float | None, float | None]:
    """Best value and proven lower bound as last printed; None where nothing was."""
    best, bound = _last(_BEST, log), _last(_BOUND, log)
    return None if best is None else float(best), None if bound is None else _rounded_down(bound)


def _last(pattern: re.Pattern[str], text: str) -> str | None:
    found = [value for match in pattern.findall(text) for value in match if value and float(value) < NOTHING]
    return found[-1] if found else None


def _rounded_down(printed: str) -> float:
    """A printed number less one unit of its last digit: it was rounded, and a bound must not be too high."""
    digits, _, exponent = printed.partition("e")
    decimals = len(digits.partition(".")[2])
    return float(printed) - 10.0 ** (int(exponent or 0) - decimals)
