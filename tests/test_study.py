import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sapp_core.domain.pipeline import Pipeline, Remainder
from sapp_core.domain.plan import LayerPlacement, Plan, even_split
from sapp_core.domain.profile import MODES, ModelProfile, RecomputeMode
from sapp_core.domain.sequence_split import split_along_sequence
from sapp_core.errors import PlanError
from sapp_core.profiles.load import load_profile
from sapp_core.schedules.registry import SCHEDULES, make_schedule
from sapp_core.simulator.engine import prepare
from sapp_core.study import evaluate, fitting_mode
from tests.recorded import GOLDEN
from tests.strategies import profiles, schedules, studies

CASES = json.loads((GOLDEN / "balance_cases.json").read_text(encoding="utf-8"))["cases"]
RECORDED = [
    pytest.param(case, case[run], id=f"{case['id']}-{run}")
    for case in CASES
    for run in ("sapp_cbc_90s", "sapp_highs_90s")
    if "plan" in case.get(run, {})
]
SAMPLES = sorted(path for path in (Path(__file__).parents[1] / "sample_profiles").iterdir())


@cache
def recorded_profile(name: str) -> ModelProfile:
    return load_profile((GOLDEN / "profiles" / f"{name}.json").read_bytes(), name).profile


@pytest.mark.parametrize(("case", "run"), RECORDED)
def test_recorded_plans_take_the_recorded_time_and_keep_the_limit(case, run):
    """The recorded times come from another simulator."""
    pipeline = Pipeline(case["stages"], case["micro_batches"], case["chunks"], remainder=Remainder(case["remainder"]))
    name = "1f1b" if case["chunks"] == 1 else "vpp-less-memory" if case["less_memory"] else "vpp"
    profile = recorded_profile(case["profile"])
    nothing = [[0] * pipeline.num_stages] * pipeline.num_chunks
    plan = Plan(
        tuple(
            LayerPlacement(
                layer.name,
                tuple(tuple(map(tuple, run["plan"][layer.name].get(str(mode), nothing))) for mode in MODES),
            )
            for layer in profile.body
        )
    )
    found = evaluate(profile, make_schedule(name, pipeline), plan)
    assert found.step_time == pytest.approx(run["step_time"], abs=1e-6)
    assert max(found.peak_memory_mb) <= case["memory_limit_mb"]


def test_enough_plans_were_recorded():
    assert len(RECORDED) == 16


@given(studies())
def test_an_evaluation_is_complete_and_agrees_with_itself(study):
    profile, schedule, plan = study
    found = evaluate(profile, schedule, plan)
    assert found.step_time == found.timeline.step_time
    assert [len(starts) for starts in found.timeline.starts] == [len(slots) for slots in schedule.slots]
    for peak, held in zip(found.peaks, found.memory.activation_mb, strict=True):
        assert sum(peak.activation_mb) == max(held)


@given(studies())
def test_arrays_made_for_other_times_serve_as_well(study):
    schedule = study[1]
    untimed = prepare(replace(schedule, pipeline=schedule.pipeline.untimed))
    assert evaluate(*study, replace(untimed, schedule=schedule)) == evaluate(*study)


def test_a_plan_for_other_sizes_is_refused():
    profile = recorded_profile("small32")
    plan = even_split(profile, Pipeline(4, 8))
    with pytest.raises(PlanError, match="needs 8 stages, found 4"):
        evaluate(profile, make_schedule("1f1b", Pipeline(8, 8)), plan)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("family", SCHEDULES, ids=lambda family: family.name)
def test_every_sample_profile_is_simulated_under_every_schedule(path, family):
    profile = load_profile(path.read_bytes(), path.name).profile
    pipeline = Pipeline(4, 8, family.fixed_chunks or 2, placement=family.placement)
    found = evaluate(profile, make_schedule(family.name, pipeline), even_split(profile, pipeline))
    assert found.step_time > 0
    assert found.bubble.total >= 0


@given(profiles(), schedules(), st.floats(100, 60_000))
def test_the_fitting_mode_is_the_first_whose_even_split_stays_within_the_limit(profile, schedule, limit):
    limits = (limit,) * schedule.pipeline.num_stages
    # Splits of a micro-batch leave full recomputation out.
    assume(schedule.pipeline.num_sequence_splits == 1 or profile.modes != (RecomputeMode.FULL,))
    modes = split_along_sequence(profile, schedule.pipeline.num_sequence_splits).modes
    fitting = [
        mode
        for mode in modes
        if not evaluate(profile, schedule, even_split(profile, schedule.pipeline, mode)).stages_over(limits)
    ]
    assert fitting_mode(profile, schedule, limits) == (fitting[0] if fitting else None)
    assert fitting_mode(profile, schedule, None) == modes[0]
