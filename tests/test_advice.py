"""Sentences on which measurement is worth repeating."""

from math import inf

from sapp_core.advice import advice, listed
from sapp_core.domain.profile import RecomputeMode
from sapp_core.domain.sensitivity import Excess, ProfileNumber, Quantity, Reaction, Sensitivity
from sapp_core.regret import Regret

BACKWARD = ProfileNumber(Quantity.BACKWARD, "Block", None, 20.0)
FORWARD = ProfileNumber(Quantity.FORWARD, "Head", None, 10.0)
KEPT = ProfileNumber(Quantity.ACTIVATIONS, "Block", RecomputeMode.FULL, 30.0)
UNUSED = ProfileNumber(Quantity.RECOMPUTE, "Block", RecomputeMode.SELECT, 5.0)


def found(memory=None, excess=None):
    times = (Reaction(BACKWARD, 940.0, 1060.0), Reaction(FORWARD, 999.0, 1001.0))
    return Sensitivity(0.1, 1000.0, 2000.0, times, (memory,) if memory else (), (UNUSED,), excess)


def said(pieces):
    return {piece.head: piece.sentence for piece in pieces}


def test_the_largest_is_measured_first_and_the_small_ones_not_again():
    words = said(advice(found()))
    assert words["Measure first"].startswith(
        "backward time of Block. 10 % less or more moves the step by −6.0 % or +6.0"
    )
    assert words["Not worth another measurement"].startswith(
        "forward time of Head and recompute time (select) of Block:"
    )
    assert set(words) == {"Measure first", "Not worth another measurement"}
    assert said(advice(Sensitivity(0.1, 1.0, 1.0, (), (), ()))).keys() == {"Nothing to measure"}


def test_memory_near_its_limit_or_beyond_is_said():
    tight = Reaction(KEPT, 1900.0, 2100.0, Excess(3, 120.0))
    words = said(advice(found(tight)))
    assert words["Close to the limit"] == (
        "with 10 % more activation memory (full) of Block the plan no longer fits: stage 3 lacks 120 MiB."
    )
    over = said(advice(found(tight, Excess(2, 7.0))))
    assert "Close to the limit" not in over
    assert over["Over the limit"].endswith("stage 2 lacks 7 MiB.")


def test_regret_ranks_and_only_what_was_tried_both_ways_is_left_alone():
    lossy = [Regret(BACKWARD, True, 1000.0, 1000.0, 0, 0), Regret(BACKWARD, False, 1030.0, 1000.0, 4, 0)]
    lossless = [Regret(FORWARD, smaller, 1000.0, 1000.0, 0, 0) for smaller in (True, False)]
    tight = [Regret(KEPT, False, None, 1100.0, 2, 3)]
    words = said(advice(found(), [*lossy, *lossless, *tight]))
    assert words["Worth repeating most"] == "activation memory (full) of Block (10 % larger: this plan does not fit)."
    assert words["Next"] == "backward time of Block (10 % larger: keeping this plan costs 3.0 % of the step)."
    assert words["Not worth repeating for the sake of the plan"].startswith("forward time of Head:")
    assert words["Moves the predicted step most"].startswith("backward time of Block.")
    assert advice(found(), lossless[:1]) == advice(found())
    assert advice(found(), [Regret(KEPT, False, None, None, None, None)]) == advice(found())
    assert tight[0].share == inf


def test_no_measurement_is_to_blame_for_a_plan_that_others_beat_as_it_is():
    lossy = [Regret(BACKWARD, smaller, 1030.0, 1000.0, 4, 0) for smaller in (True, False)]
    beaten = said(advice(found(), [Regret(None, False, 1020.0, 1000.0, 3, 0), *lossy]))
    assert beaten["Balance first"].startswith("with the profile as it is, keeping this plan already costs 2.0 %")
    assert beaten.keys() == {"Balance first", *said(advice(found()))}
    best = said(advice(found(), [Regret(None, False, 1000.0, 1000.0, 0, 0), *lossy]))
    assert best == said(advice(found(), lossy))
    assert "Worth repeating most" in best
    # Without knowing what the plan lacks by itself, nothing can be blamed; nor where it does not fit as it is.
    assert advice(found(), [Regret(None, False, 1000.0, None, None, None), *lossy]) == advice(found())
    over = found(excess=Excess(2, 7.0))
    assert advice(over, [Regret(BACKWARD, True, None, 900.0, 1, 0)]) == advice(over)


def test_a_long_list_is_counted():
    assert listed([FORWARD]) == "forward time of Head"
    assert listed([BACKWARD, FORWARD, KEPT, UNUSED]).endswith("activation memory (full) of Block and 1 more")
