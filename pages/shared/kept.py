"""The list of scenarios kept for comparison, as a value: what can be done with it, without a session."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pages.shared.text import one_line
from sapp_core.domain.plan import Plan
from sapp_core.domain.result import BalanceResult
from sapp_core.domain.scenario import Scenario
from sapp_core.errors import SappError
from sapp_core.interchange.comparison import LONGEST_NAME

MOST_KEPT, MOST_SHOWN = 12, 6


@dataclass(frozen=True, slots=True)
class Kept:
    """A scenario kept for comparison.

    Attributes:
        number: that no other kept scenario of the session has; names change.
        name: that no other one has.
        scenario: all inputs.
        plan: for it.
        result: of the run that found the plan; None for a plan that was not balanced.
        is_shown: whether it takes part in the comparison.
    """

    number: int
    name: str
    scenario: Scenario
    plan: Plan
    result: BalanceResult | None = None
    is_shown: bool = True


Shelf = tuple[Kept, ...]
"""In the order of the page."""


def add(
    shelf: Shelf, scenario: Scenario, plan: Plan, result: BalanceResult | None, name: str = "", *, is_shown: bool = True
) -> Shelf:
    """One more at the end; shown as long as there is room. The same scenario with the same plan is kept once.

    Raises:
        SappError: there are too many.
    """
    if any((kept.scenario, kept.plan) == (scenario, plan) for kept in shelf):
        return shelf
    if len(shelf) >= MOST_KEPT:
        raise SappError(f"Up to {MOST_KEPT} scenarios can be kept; delete one on the Compare page first.")
    new = Kept(
        1 + max((kept.number for kept in shelf), default=0),
        unique_name(name if _clean(name) else default_name(scenario, shelf), [kept.name for kept in shelf]),
        scenario,
        plan,
        result,
        is_shown and num_shown(shelf) < MOST_SHOWN,
    )
    return (*shelf, new)


def num_shown(shelf: Shelf) -> int:
    """How many take part in the comparison."""
    return sum(kept.is_shown for kept in shelf)


def renamed(shelf: Shelf, number: int, name: str) -> Shelf:
    """With another name for one of them; an empty name changes nothing."""
    others = [kept.name for kept in shelf if kept.number != number]
    return tuple(
        replace(kept, name=unique_name(name, others)) if kept.number == number and _clean(name) else kept
        for kept in shelf
    )


def moved(shelf: Shelf, number: int, places: int) -> Shelf:
    """With one of them so many places further down (below 0: up), as far as the list reaches."""
    at = next((i for i, kept in enumerate(shelf) if kept.number == number), None)
    if at is None:
        return shelf
    rest = [kept for kept in shelf if kept.number != number]
    rest.insert(min(max(0, at + places), len(rest)), shelf[at])
    return tuple(rest)


def without(shelf: Shelf, number: int) -> Shelf:
    """Less one of them."""
    return tuple(kept for kept in shelf if kept.number != number)


def toggled(shelf: Shelf, number: int) -> Shelf:
    """With one of them shown or hidden; beyond the most that can be shown, nothing changes."""
    return tuple(
        replace(kept, is_shown=not kept.is_shown and num_shown(shelf) < MOST_SHOWN) if kept.number == number else kept
        for kept in shelf
    )


def default_name(scenario: Scenario, shelf: Shelf = ()) -> str:
    """What is special about a scenario: `vpp · 16×3 · 64 mb`, and what differs where that is taken."""
    pipeline = scenario.pipeline
    splits = f" · {pipeline.num_sequence_splits} splits" if pipeline.num_sequence_splits > 1 else ""
    sizes = f"{pipeline.num_stages}×{pipeline.num_chunks} · {pipeline.num_micro_batches} mb{splits}"
    name = f"{scenario.schedule_name} · {sizes}"
    namesake = next((kept for kept in shelf if kept.name == name), None)
    if namesake is None:
        return name
    facts, known = scenario.facts(), namesake.scenario.facts()
    special = next((f"{fact} {value}" for fact, value in facts.items() if value != known[fact]), "")
    return f"{name} · {special}" if special else name


def unique_name(name: str, taken: Sequence[str]) -> str:
    """The name, on one line, not too long, with a number behind it where it is taken."""
    wanted = _clean(name)
    if wanted not in taken:
        return wanted
    endings = (f" ({number})" for number in range(2, len(taken) + 3))
    return next(full for ending in endings if (full := f"{wanted[: LONGEST_NAME - len(ending)]}{ending}") not in taken)


def _clean(name: str) -> str:
    return one_line(name)[:LONGEST_NAME].strip()
