"""What keeping a plan costs, from what balancing again answered."""

from dataclasses import replace
from math import inf

import pytest

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import even_split
from sapp_core.domain.profile import RecomputeMode
from sapp_core.domain.result import BalanceResult, Objective, Status
from sapp_core.domain.sensitivity import Excess, ProfileNumber, Quantity, Reaction, Sensitivity
from sapp_core.regret import regret
from tests.charts import scenes

PIPELINE = Pipeline(4, 8)
NUMBER = ProfileNumber(Quantity.BACKWARD, "Block", None, 20.0)
REACTION = Reaction(NUMBER, 900.0, 1100.0)
FOUND = Sensitivity(0.1, 1000.0, 2000.0, (REACTION,), (), ())
OLD = even_split(scenes.profile(), PIPELINE)


def answer(plan, step_time):
    return BalanceResult(
        Status.FEASIBLE, plan, step_time, None, None, Objective.EXACT, step_time, None, "highs", 1.0
    )  # fmt: skip


def with_cells(layer, cells):
    """The plan with other cells of stages 0 and 1 of one kind: `{(mode, stage): layers}`."""
    counts = [[list(row) for row in mode] for mode in layer.counts]
    for (mode, stage), count in cells.items():
        counts[list(RecomputeMode).index(mode)][0][stage] = count
    return replace(layer, counts=tuple(tuple(map(tuple, mode)) for mode in counts))


def test_a_better_plan_is_what_keeping_costs_with_what_moves_and_what_changes_mode():
    layer = OLD.layers[0]
    first, second = layer.counts[0][0][:2]
    none, full = RecomputeMode.NONE, RecomputeMode.FULL
    # One layer from stage 0 to stage 1, where one more is now recomputed.
    changed = with_cells(layer, {(none, 0): first - 1, (none, 1): second, (full, 1): 1})
    moved_only = replace(OLD, layers=(changed, *OLD.layers[1:]))
    found = regret(FOUND, REACTION, OLD, PIPELINE, answer(moved_only, 1000.0), smaller=False)
    assert found.share == pytest.approx(0.1)
    assert (found.kept, found.best, found.moved, found.recomputed) == (1100.0, 1000.0, 1, 0)
    changed = with_cells(layer, {(none, 0): first - 1, (full, 0): 1})
    mode_only = replace(OLD, layers=(changed, *OLD.layers[1:]))
    found = regret(FOUND, REACTION, OLD, PIPELINE, answer(mode_only, 890.0), smaller=True)
    assert (found.kept, found.best, found.moved, found.recomputed) == (900.0, 890.0, 0, 1)


def test_what_is_gained_with_the_profile_as_it_is_belongs_to_no_number():
    other = even_split(scenes.profile(), PIPELINE, RecomputeMode.FULL)
    found = regret(FOUND, None, OLD, PIPELINE, answer(other, 800.0), smaller=False)
    assert (found.number, found.kept, found.share) == (None, 1000.0, pytest.approx(0.25))
    over = replace(FOUND, excess=Excess(0, 5.0))
    assert regret(over, None, OLD, PIPELINE, answer(other, 800.0), smaller=False).share == inf


def test_a_slower_answer_is_no_reason_to_leave_the_plan():
    found = regret(FOUND, REACTION, OLD, PIPELINE, answer(OLD, 1200.0), smaller=False)
    assert (found.share, found.best, found.moved) == (0.0, 1100.0, 0)


def test_without_an_answer_nothing_is_known_and_a_plan_that_does_not_fit_costs_everything():
    assert regret(FOUND, REACTION, OLD, PIPELINE, None, smaller=False).share is None
    tight = Reaction(replace(NUMBER, quantity=Quantity.PARAMETERS), 1900.0, 2100.0, Excess(0, 5.0))
    larger, smaller = (
        regret(FOUND, tight, OLD, PIPELINE, answer(OLD, 1000.0), smaller=smaller) for smaller in (False, True)
    )
    assert larger.share == inf
    assert (smaller.kept, smaller.share) == (1000.0, 0.0)
