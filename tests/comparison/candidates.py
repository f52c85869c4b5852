"""Candidates to compare."""

from dataclasses import replace

from sapp_core.comparison.candidate import Candidate
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Plan, even_split
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.scenario import Scenario
from sapp_core.schedules.registry import make_schedule
from sapp_core.study import evaluate
from tests.charts import scenes


def candidate(
    name="base",
    schedule="1f1b",
    pipeline=None,
    *,
    profile: ModelProfile | None = None,
    plan: Plan | None = None,
    mode=None,
    limit=None,
) -> Candidate:
    pipeline, profile = pipeline or Pipeline(4, 8), profile or scenes.profile()
    plan = plan or even_split(profile, pipeline, mode)
    scenario = Scenario(profile, schedule, pipeline, BalanceRequest(limit))
    return Candidate(name, scenario, evaluate(profile, make_schedule(schedule, pipeline), plan))


def without_memory(profile: ModelProfile) -> ModelProfile:
    layers = tuple(
        replace(layer, parameter_mb=0.0, activation_mb=tuple(None if v is None else 0.0 for v in layer.activation_mb))
        for layer in profile.layers
    )
    return replace(profile, layers=layers)
