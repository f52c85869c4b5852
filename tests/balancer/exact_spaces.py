"""Plan spaces of recorded cases and of tiny models, as the exact search makes them."""

from dataclasses import replace

import numpy as np

from sapp_core.balancer.plan_space import PlanSpace, plan_space
from sapp_core.balancer.question import question_of
from sapp_core.balancer.time_unit import TimeUnit, time_unit
from sapp_core.domain.result import MemoryModel
from tests.balancer.recorded_cases import recorded_case
from tests.balancer.tiny import TinyModel


def space_of_case(name: str) -> PlanSpace:
    """A recorded case."""
    profile, schedule, request = recorded_case(name)
    return plan_space(question_of(profile, schedule, replace(request, memory_model=MemoryModel.EXACT)))


def space_of_model(tiny: TinyModel) -> PlanSpace:
    """A tiny model."""
    return plan_space(question_of(tiny.profile, tiny.schedule, tiny.request))


def unit_of(space: PlanSpace) -> TimeUnit:
    """The unit of time of its programs."""
    return time_unit(space.question.profile)


def allowed_plans(tiny: TinyModel, space: PlanSpace) -> tuple[np.ndarray, np.ndarray]:
    """`[plan][j]` all plans of a tiny model within its limits, and `[plan]` their step times."""
    plans = tiny.plans.counts[tiny.fits].reshape(int(tiny.fits.sum()), space.size).astype(float)
    return plans, space.step_times(plans) if len(plans) else np.zeros(0)
