"""What reactions say in sentences: which measurement is worth repeating, and which is not. Plain text."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isinf

from sapp_core.charts.numbers import memory_text, percent_text, signed_percent_text
from sapp_core.domain.sensitivity import Excess, ProfileNumber, Sensitivity
from sapp_core.regret import Regret

SMALL = 0.005
"""A step time that moves by less than this share is not worth another measurement."""

NOTHING_LOST = 0.001
"""A plan that is slower than the best one by less than this share may as well be kept."""

_NAMED = 3


@dataclass(frozen=True, slots=True)
class Advice:
    """One piece of advice.

    Attributes:
        head: what it is about: `Measure first`.
        sentence: with names as the profile has them.
    """

    head: str
    sentence: str


def advice(found: Sensitivity, regrets: Sequence[Regret] = ()) -> tuple[Advice, ...]:
    """What to measure again, what not, and what the memory limit is close to; never empty.

    What keeping the plan costs decides where it is known: a number may move the step and leave the best plan as it is.
    It says nothing about numbers where the plan costs as much with the profile as it is.

    Args:
        found: reactions of the plan.
        regrets: of keeping it, as far as known; also with the profile as it is, where the plan is not proven best.
    """
    own = [one for one in regrets if one.number is None]
    # A plan that others beat, or that does not fit, with the profile as it is: no measurement is to blame for that.
    unclear = found.excess is not None or any(one.share is None or one.share >= NOTHING_LOST for one in own)
    by_regret = [] if unclear else _by_regret(found, regrets)
    said = (*_balance_first(found, own), *(by_regret or _by_swing(found)), *_memory(found))
    return said or (Advice("Nothing to measure", "no number of the profile changes anything."),)


def _balance_first(found: Sensitivity, own: Sequence[Regret]) -> list[Advice]:
    """That the plan itself can be better; what lies over its limit is told as such."""
    lost = max((_share(one) for one in own), default=0.0)
    if found.excess or lost < NOTHING_LOST:
        return []
    return [Advice(
        "Balance first",
        f"with the profile as it is, keeping this plan already costs {percent_text(lost)} of the step. What it costs "
        "with changed numbers is not the measurements' doing.",
    )]  # fmt: skip


def _by_regret(found: Sensitivity, regrets: Sequence[Regret]) -> list[Advice]:
    """What the plan loses when numbers are wrong; empty where nothing is known."""
    share = found.share
    shares: dict[ProfileNumber, list[float]] = {}
    worst: dict[ProfileNumber, Regret] = {}
    for one in regrets:
        if one.number is not None and one.share is not None:
            shares.setdefault(one.number, []).append(one.share)
            if one.share == max(shares[one.number]):
                worst[one.number] = one
    ranked = sorted(worst.items(), key=lambda pair: _share(pair[1]), reverse=True)
    costly = [(number, one) for number, one in ranked if _share(one) >= NOTHING_LOST]
    # Only what was tried both ways can be left alone.
    cheap = [number for number, one in ranked if _share(one) < NOTHING_LOST and len(shares[number]) > 1]
    said = []
    if costly:
        said.append(Advice("Worth repeating most", f"{_price(*costly[0], share)}."))
    if costly[1:]:
        said.append(Advice("Next", f"{'; '.join(_price(*pair, share) for pair in costly[1 : 1 + _NAMED])}."))
    if cheap:
        said.append(Advice(
            "Not worth repeating for the sake of the plan",
            f"{listed(cheap)}: wrong by {percent_text(share, 0)} either way, keeping this plan costs less than "
            f"{percent_text(NOTHING_LOST)} of the step.",
        ))  # fmt: skip
    return [*said, _largest("Moves the predicted step most", found)] if said and found.times else said


def _share(found: Regret) -> float:
    return found.share or 0.0


def _price(number: ProfileNumber, found: Regret, share: float) -> str:
    way = f"{percent_text(share, 0)} {'smaller' if found.smaller else 'larger'}"
    if isinf(_share(found)):
        return f"{number.sentence} ({way}: this plan does not fit)"
    return f"{number.sentence} ({way}: keeping this plan costs {percent_text(_share(found))} of the step)"


def lacks(excess: Excess) -> str:
    """`stage 3 lacks 120 MiB`."""
    return f"stage {excess.stage} lacks {memory_text(excess.mb)}"


def listed(numbers: Sequence[ProfileNumber]) -> str:
    """Some by name, the others counted: `forward time of A, backward time of A and 2 more`."""
    names = [number.sentence for number in numbers[:_NAMED]]
    left = len(numbers) - len(names)
    if left:
        return f"{', '.join(names)} and {left} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _by_swing(found: Sensitivity) -> list[Advice]:
    said = [_largest("Measure first", found)] if found.times else []
    small = [reaction.number for reaction in found.times if reaction.swing < SMALL * found.step_time]
    small += [number for number in found.idle if number.quantity.is_time]
    if small:
        sentence = f"{listed(small)}: each moves the step by less than {percent_text(SMALL)}, smaller to larger."
        said.append(Advice("Not worth another measurement", sentence))
    return said


def _largest(head: str, found: Sensitivity) -> Advice:
    first, share = found.times[0], percent_text(found.share, 0)
    less, more = (signed_percent_text(value / found.step_time - 1) for value in (first.lower, first.higher))
    return Advice(head, f"{first.number.sentence}. {share} less or more moves the step by {less} or {more}.")


def _memory(found: Sensitivity) -> list[Advice]:
    if found.excess:
        return [Advice("Over the limit", f"the plan does not fit as it is: {lacks(found.excess)}.")]
    tight = [(reaction.number, reaction.excess) for reaction in found.memory if reaction.excess]
    if not tight:
        return []
    number, excess = max(tight, key=lambda pair: pair[1].mb)
    share = percent_text(found.share, 0)
    return [
        Advice("Close to the limit", f"with {share} more {number.sentence} the plan no longer fits: {lacks(excess)}.")
    ]
