"""One scenario: profile, schedule and plan to everything a page draws."""

from collections.abc import Iterator
from dataclasses import dataclass

from sapp_core.balancer.own_order import own_order
from sapp_core.balancer.question import stage_memory
from sapp_core.domain.costs import chunk_costs
from sapp_core.domain.plan import Plan, even_split
from sapp_core.domain.profile import ModelProfile, RecomputeMode
from sapp_core.domain.result import BalanceResult
from sapp_core.domain.scenario import Scenario
from sapp_core.domain.schedule import Schedule
from sapp_core.domain.sequence_split import split_along_sequence
from sapp_core.domain.timeline import Evaluation, over_limit
from sapp_core.schedules.in_flight import peak_vectors
from sapp_core.simulator.bubble import bubble_parts
from sapp_core.simulator.engine import PreparedSchedule, prepare, simulate
from sapp_core.simulator.memory import memory_timeline, peaks


def evaluate(
    profile: ModelProfile, schedule: Schedule, plan: Plan, prepared: PreparedSchedule | None = None
) -> Evaluation:
    """Simulate a plan.

    Where the schedule is one that is planned for the times of its ops (zero bubble), the order is the better one of
    the schedule's own and one planned for this plan (`own_order`); the evaluation carries it.

    Args:
        profile: what is placed.
        schedule: order of work.
        plan: where the layers are.
        prepared: the schedule as arrays, where they are at hand; None = they are made.

    Raises:
        PlanError: the plan does not fit profile and pipeline.
        PipelineError: sequence splits, but the profile lacks the sizes they need.
    """
    profile = split_along_sequence(profile, schedule.pipeline.num_sequence_splits)
    costs = chunk_costs(profile, plan, schedule.pipeline)
    ordered = own_order(prepared or prepare(schedule), costs)
    timeline = simulate(ordered, costs)
    return Evaluation(
        profile=profile,
        schedule=ordered.schedule,
        plan=plan,
        costs=costs,
        timeline=timeline,
        memory=memory_timeline(ordered, costs, timeline),
        peaks=peaks(ordered, costs),
        bubble=bubble_parts(ordered, costs, timeline.step_time),
    )


def fitting_mode(
    profile: ModelProfile, schedule: Schedule, limits_mb: tuple[float, ...] | None
) -> RecomputeMode | None:
    """The least recomputation with which the even split stays within the limits; None when it never does.

    What a framework's user would do without a balancer: recompute everywhere until the model fits.

    Args:
        profile: what is placed.
        schedule: order of work; memory depends on nothing else.
        limits_mb: `[stage]`, MiB; None = no limit.
    """
    for mode, peak_mb in _even_split_memory(profile, schedule):
        if not over_limit(peak_mb, limits_mb):
            return mode
    return None


def lightest_mode(profile: ModelProfile, schedule: Schedule) -> RecomputeMode:
    """The recomputation with which the fullest stage of the even split needs least memory; the least of equal ones."""
    highest = {mode: max(peak_mb) for mode, peak_mb in _even_split_memory(profile, schedule)}
    return min(highest, key=lambda mode: highest[mode])


@dataclass(frozen=True, slots=True)
class Reference:
    """What a plan is measured against: the even split that a framework's user would run.

    Attributes:
        mode: how much every layer recomputes.
        fits: whether all stages stay within the limit.
        evaluation: of the even split.
    """

    mode: RecomputeMode
    fits: bool
    evaluation: Evaluation

    @property
    def words(self) -> str:
        """Which even split it is: `even split with full recomputation`."""
        return even_split_words(self.mode, fits=self.fits)


@dataclass(frozen=True, slots=True)
class Study:
    """A scenario and its plan with all that reports, pictures and exports say about them.

    Attributes:
        scenario: all inputs.
        evaluation: of the plan.
        reference: what the plan is measured against.
        result: of the run that found the plan; None for a plan that was not balanced.
    """

    scenario: Scenario
    evaluation: Evaluation
    reference: Reference
    result: BalanceResult | None = None

    @property
    def limits(self) -> tuple[float, ...] | None:
        """`[stage]`, MiB; None when memory is not limited."""
        return self.scenario.request.limits(self.scenario.pipeline.num_stages)


def reference_mode(
    profile: ModelProfile, schedule: Schedule, limits_mb: tuple[float, ...] | None
) -> tuple[RecomputeMode, bool]:
    """The least recomputation whose even split fits the limits, or the least of all if none fits; whether it fits."""
    fitting = fitting_mode(profile, schedule, limits_mb)
    least = split_along_sequence(profile, schedule.pipeline.num_sequence_splits).modes[0]
    return fitting or least, fitting is not None


def reference_for(profile: ModelProfile, schedule: Schedule, limits_mb: tuple[float, ...] | None) -> Reference:
    """The even split with the recomputation of `reference_mode`."""
    mode, fits = reference_mode(profile, schedule, limits_mb)
    return Reference(mode, fits, evaluate(profile, schedule, even_split(profile, schedule.pipeline, mode)))


def even_split_words(mode: RecomputeMode, *, fits: bool) -> str:
    """Which even split it is: `even split with full recomputation`."""
    words = "even split" if mode is RecomputeMode.NONE else f"even split with {mode} recomputation"
    return words if fits else f"{words} (which does not fit)"


def _even_split_memory(profile: ModelProfile, schedule: Schedule) -> Iterator[tuple[RecomputeMode, tuple[float, ...]]]:
    """Each mode with the peak of every stage, MiB; least recomputation first."""
    profile = split_along_sequence(profile, schedule.pipeline.num_sequence_splits)
    # The order of work is walked once, not once a mode.
    vectors = peak_vectors(schedule)
    for mode in profile.modes:
        costs = chunk_costs(profile, even_split(profile, schedule.pipeline, mode), schedule.pipeline)
        yield mode, stage_memory(costs, vectors)
