"""What it costs to keep a plan when a number of its profile was wrong: measured by the plan that is best then."""

from dataclasses import dataclass
from math import inf

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Plan
from sapp_core.domain.plan_difference import stage_changes
from sapp_core.domain.result import BalanceResult
from sapp_core.domain.sensitivity import ProfileNumber, Reaction, Sensitivity

_NOTHING = 1e-9
"""Relative; less is rounding."""


@dataclass(frozen=True, slots=True)
class Regret:
    """One number, changed one way, or none, and the plan balanced again.

    Attributes:
        number: the one that was changed, alone; None = the profile as it is.
        smaller: whether it was made smaller.
        kept: step time of the old plan with it; None = the plan does not fit then.
        best: step time of the best plan known with it, the old one included; None without any.
        moved: layers that the best plan has on another stage.
        recomputed: layers that it recomputes otherwise, on the stage where they were.
    """

    number: ProfileNumber | None
    smaller: bool
    kept: float | None
    best: float | None
    moved: int | None
    recomputed: int | None

    @property
    def share(self) -> float | None:
        """How much longer the old plan's step is, as a share of the best one; infinite where only others fit.

        None when nothing is known: no plan was found, which may be for lack of time.
        """
        if not self.best:
            return None
        return inf if self.kept is None else self.kept / self.best - 1


def regret(
    found: Sensitivity,
    reaction: Reaction | None,
    plan: Plan,
    pipeline: Pipeline,
    answer: BalanceResult | None,
    *,
    smaller: bool,
) -> Regret:
    """What balancing again, with a changed number or with none, says about keeping the plan.

    Args:
        found: reactions of the plan.
        reaction: to the number; None = the profile as it is.
        plan: the old one.
        pipeline: of both.
        answer: of balancing again; None when that ended without one.
        smaller: which way the number was changed.
    """
    number = None if reaction is None else reaction.number
    kept = found.kept(reaction, smaller=smaller)
    if answer is None or answer.plan is None or answer.step_time is None:
        return Regret(number, smaller, kept, None, None, None)
    # A classic objective, or an order planned anew, may answer with a slower plan than the one at hand.
    if kept is not None and answer.step_time >= (1 - _NOTHING) * kept:
        return Regret(number, smaller, kept, kept, 0, 0)
    changes = stage_changes(plan, answer.plan, pipeline)
    moved = sum(max(0, change.moved) for change in changes)
    # Of what a mode gained on a stage, the layers that came are no change of mode.
    gained = sum(max(0, after - before) for change in changes for _, before, after in change.modes)
    recomputed = gained - moved
    return Regret(number, smaller, kept, answer.step_time, moved, recomputed)
