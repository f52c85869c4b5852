"""Time of a profile in a Chrome trace, where it is always microseconds."""

from collections.abc import Mapping
from types import MappingProxyType

_MICROSECONDS: Mapping[str, float] = MappingProxyType(
    {
        **dict.fromkeys(("s", "sec", "second", "seconds"), 1e6),
        **dict.fromkeys(("ms", "millisecond", "milliseconds"), 1e3),
        **dict.fromkeys(("us", "µs", "μs", "microsecond", "microseconds"), 1.0),
        **dict.fromkeys(("ns", "nanosecond", "nanoseconds"), 1e-3),
    }
)
_UNKNOWN_AS = "ms"


def is_known_unit(unit: str) -> bool:
    """Whether a profile's time unit is a unit of real time."""
    return unit.strip().lower() in _MICROSECONDS


def microseconds_per_unit(unit: str) -> float:
    """Microseconds in one unit of a profile's time; a unit that nobody knows counts as a millisecond."""
    return _MICROSECONDS.get(unit.strip().lower(), _MICROSECONDS[_UNKNOWN_AS])


def unit_sentence(unit: str) -> str:
    """How times of a profile and of a trace go together."""
    factor = f"{microseconds_per_unit(unit):g} µs"
    if is_known_unit(unit):
        return f"1 {unit} of the profile is {factor} of the trace."
    return f"The profile's time unit {unit!r} is no known unit of time; 1 {unit} is taken as {factor} of the trace."
