"""The unit of time inside the integer program.

Solvers work to absolute tolerances. Times counted in microseconds or in hours would be judged too strictly or not at
all, so the program counts in a unit of its own. When all times are whole multiples of one number, as measured times
that were rounded are, that number is the unit: whole coefficients let a solver round its bounds.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, isclose, lcm

from sapp_core.domain.profile import MODES, ModelProfile

FINEST = 10**6
"""Largest denominator of a time that counts as rounded."""
MOST = 10**4
"""Largest number of units in one layer's time; above, whole coefficients cost more accuracy than they bring."""


@dataclass(frozen=True, slots=True)
class TimeUnit:
    """A unit of time: `numerator / denominator` of the profile's time unit.

    Attributes:
        numerator: a whole number when all times are.
        denominator: apart from the numerator, so that whole numbers of units come back as people write them.
        whole: whether every time of the profile that can occur is a whole number of units.
    """

    numerator: float
    denominator: int
    whole: bool

    def of(self, time: float) -> float:
        """A time of the profile in this unit."""
        exact = time * self.denominator / self.numerator
        return float(round(exact)) if self.whole else exact

    def to_profile(self, time: float) -> float:
        """A time in this unit in the profile's own."""
        return time * self.numerator / self.denominator


PROFILE_UNIT = TimeUnit(1.0, 1, whole=False)
"""The profile's own."""


def time_unit(profile: ModelProfile) -> TimeUnit:
    """The unit that suits a profile: the largest common divisor of the times that can occur, or the longest one."""
    considered = [MODES.index(mode) for mode in profile.modes]
    times = {layer.forward_time for layer in profile.layers}
    times |= {layer.backward_time[r] for layer in profile.body for r in considered}
    times |= {layer.backward_time[0] for layer in (*profile.head, *profile.tail)}
    times.discard(0.0)
    if not times:
        return PROFILE_UNIT
    divisor = _common_divisor(times)
    longest = max(times)
    if divisor is None or longest / divisor > MOST:
        return TimeUnit(longest, 1, whole=False)
    return TimeUnit(float(divisor.numerator), divisor.denominator, whole=True)


def _common_divisor(times: Iterable[float]) -> Fraction | None:
    """The largest number that divides all times; None when they are not rounded to a common fraction."""
    fractions = []
    for time in times:
        fraction = Fraction(time).limit_denominator(FINEST)
        if not isclose(fraction, time, rel_tol=1e-12):
            return None
        fractions.append(fraction)
    denominator = lcm(*(fraction.denominator for fraction in fractions))
    return Fraction(gcd(*(int(fraction * denominator) for fraction in fractions)), denominator)
