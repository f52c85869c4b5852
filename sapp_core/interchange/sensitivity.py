"""What every number of a profile does to a plan, as text for a terminal and as JSON."""

from collections.abc import Sequence

from sapp_core.domain.sensitivity import Excess, ProfileNumber, Reaction, Sensitivity
from sapp_core.interchange.result import Json
from sapp_core.interchange.text import aligned, labelled, number


def sensitivity_text(found: Sensitivity, time_unit: str, said: Sequence[tuple[str, str]]) -> str:
    """Advice, then one line for each number that moves the step time, and one for each that moves the highest peak.

    Args:
        found: reactions.
        time_unit: of the profile.
        said: (what about, sentence).
    """
    share = f"{100 * found.share:g} %"
    lines = labelled([(head.lower(), sentence) for head, sentence in said])
    parts = ((found.times, "step time", time_unit, found.step_time), (found.memory, "peak", "MiB", found.peak_mb))
    for reactions, moved, unit, base in parts:
        if reactions:
            header = (
                f"{moved}: {number(base)} {unit}", f"value {unit}", f"-{share}", f"+{share}", "smaller %", "larger %",
                *(("beyond limit MiB",) if unit == "MiB" else ()),
            )  # fmt: skip
            lines += ["", *aligned(header, [_cells(reaction, base, unit) for reaction in reactions])]
    if found.idle:
        lines += ["", f"moved by none of: {', '.join(idle.sentence for idle in found.idle)}"]
    return "\n".join(lines) + "\n"


def sensitivity_object(found: Sensitivity, time_unit: str, said: Sequence[tuple[str, str]]) -> Json:
    """The same as JSON; times in the profile's unit, memory in MiB."""
    return {
        "share": found.share,
        "time_unit": time_unit,
        "step_time": found.step_time,
        "highest_peak_mb": found.peak_mb,
        "excess": _excess_object(found.excess),
        "advice": [{"about": head, "sentence": sentence} for head, sentence in said],
        "step_time_reactions": [_reaction_object(reaction) for reaction in found.times],
        "highest_peak_reactions": [_reaction_object(reaction) for reaction in found.memory],
        "idle": [_number_object(idle) for idle in found.idle],
    }


def _cells(reaction: Reaction, base: float, unit: str) -> tuple[str, ...]:
    cells = (
        reaction.number.sentence,
        number(reaction.number.value),
        number(reaction.lower),
        number(reaction.higher),
        f"{100 * (reaction.lower / base - 1):+.2f}",
        f"{100 * (reaction.higher / base - 1):+.2f}",
    )
    if unit != "MiB":
        return cells
    return (*cells, f"{number(reaction.excess.mb)} (stage {reaction.excess.stage})" if reaction.excess else "-")


def _reaction_object(reaction: Reaction) -> Json:
    return _number_object(reaction.number) | {
        "if_smaller": reaction.lower,
        "if_larger": reaction.higher,
        "excess_if_larger": _excess_object(reaction.excess),
    }


def _number_object(number: ProfileNumber) -> Json:
    return {
        "layer": number.layer or None,
        "quantity": str(number.quantity),
        "mode": None if number.mode is None else str(number.mode),
        "value": number.value,
    }


def _excess_object(excess: Excess | None) -> Json | None:
    return None if excess is None else {"stage": excess.stage, "mb": excess.mb}
