"""What changed, in words."""

from dataclasses import replace

import pytest
from hypothesis import given

from sapp_core.comparison.candidate import Candidate
from sapp_core.comparison.words import what_changed
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import even_split
from sapp_core.domain.profile import RecomputeMode
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.scenario import Scenario
from sapp_core.study import evaluate
from tests.charts import scenes
from tests.comparison.candidates import candidate, without_memory
from tests.strategies import studies

FULL = RecomputeMode.FULL


def said(base: Candidate, other: Candidate) -> str:
    return " ".join(what_changed(base, other))


def test_nothing_changed():
    assert what_changed(candidate(), candidate("b")) == (
        "The step takes as long, up to rounding (2,136 ms).",
        "Every stage needs as much memory as before.",
        "The plan is the same.",
        "The settings are the same.",
    )


def test_recomputation_is_named_as_the_cause_and_memory_as_the_gain():
    words = what_changed(candidate(), candidate("b", mode=FULL))
    assert words[0].startswith("The step is ")
    assert "longer" in words[0]
    assert "mostly because recomputation rose by" in words[0]
    assert words[1:3] == (
        "The highest peak falls from 1,420 MiB (stage 0) to 748 MiB (stage 0).",
        "Stage 0 needs 672 MiB less; other stages change less.",
    )
    assert "Layers: 0 → 24 recomputed fully." in words
    back = said(candidate("b", mode=FULL), candidate())
    assert "shorter" in back
    assert "recomputation fell by" in back
    assert "Layers: 24 → 0 recomputed fully." in back


def test_more_stages_are_less_work_against_a_larger_bubble():
    words = said(candidate(), candidate("b", pipeline=Pipeline(8, 8)))
    assert "mostly because a stage has 50.0 % less of the model's own work in a step, although the bubble" in words
    assert "rose by 50.0 points" in words
    assert "Settings changed: stages 4 → 8." in words
    assert "sit in another" not in words


def test_other_counts_of_micro_batches_are_also_compared_one_by_one():
    words = said(candidate(), candidate("b", pipeline=Pipeline(4, 16)))
    assert "8 → 16 micro-batches. For each micro-batch it is" in words
    assert "shorter (267 ms → " in words


def test_limits_that_are_broken_or_kept_again_are_said():
    tight, loose = candidate("tight", limit=1000.0), candidate("loose", limit=2000.0)
    assert "It does not fit: stage 0 is over the limit." in said(loose, tight)
    assert "It fits its limit; tight does not." in said(tight, loose)
    assert "It does not fit: 4 stages" not in said(loose, candidate("b", limit=1.0))
    assert "stages 0, 1, 2 and 3 are over the limit" in said(loose, candidate("b", limit=1.0))


@pytest.mark.parametrize("profile", [replace(scenes.profile(), name="x"), replace(scenes.profile(), time_unit="s")])
def test_what_cannot_be_compared_is_said_and_not_subtracted(profile):
    words = said(candidate(), candidate("b", profile=profile))
    assert "Different" in words
    assert "The step" not in words


def test_without_memory_nothing_is_said_of_memory_but_why():
    words = said(candidate(), candidate("b", profile=without_memory(scenes.profile())))
    assert "The profile of b gives no memory" in words
    assert "MiB" not in words


@given(studies())
def test_any_two_plans_can_be_told_apart_in_words(study):
    profile, schedule, plan = study
    scenario = Scenario(profile, schedule.name, schedule.pipeline, BalanceRequest(None))
    found = evaluate(profile, schedule, plan)
    base = Candidate("even", scenario, evaluate(profile, schedule, even_split(found.profile, schedule.pipeline)))
    words = what_changed(base, Candidate("given", scenario, found))
    assert all((sentence[0].isupper() or sentence[0].isdigit()) and sentence.endswith(".") for sentence in words)
    assert "nan" not in " ".join(words)
    assert ("The plan is the same." in words) == (base.plan == plan)
