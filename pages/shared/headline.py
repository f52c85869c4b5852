"""The numbers a reader wants first, and how far to trust them."""

from collections.abc import Sequence
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.shared.cached import EvenSplit, Simulated
from pages.shared.text import bullets, literal
from sapp_core.charts.numbers import memory_text, percent_text, signed_percent_text, time_text
from sapp_core.domain.profile import RecomputeMode
from sapp_core.domain.result import BalanceResult, Objective, Progress, Status
from sapp_core.domain.scenario import Scenario
from sapp_core.schedules.registry import family

_SOLVERS = {"highs": "HiGHS", "cbc": "CBC"}


def even_split_words(even: EvenSplit) -> str:
    """Which even split it is: `even split with full recomputation`."""
    words = "even split" if even.mode is RecomputeMode.NONE else f"even split with {even.mode} recomputation"
    return words if even.fits else f"{words} (which does not fit)"


def metrics(scenario: Scenario, simulated: Simulated, even: EvenSplit, result: BalanceResult | None) -> None:
    """Step time, bubble, peak memory and certified gap of a plan.

    Args:
        scenario: whose plan it is.
        simulated: the plan.
        even: what the plan is compared with.
        result: of the run that found it; None for the even split itself.
    """
    evaluation, other = simulated.evaluation, even.simulated.evaluation
    step, bubble, peak, gap = st.columns(4)
    compared = result is not None
    change = evaluation.step_time / other.step_time - 1 if other.step_time else 0.0
    step.metric(
        "Step time",
        time_text(evaluation.step_time, literal(evaluation.profile.time_unit)),
        delta=_signed(change) if compared else None,
        delta_color=_colour(change, even),
        delta_arrow="off" if _same(change) else "auto",
        delta_description="vs even split" if compared else None,
        help="Simulated time of one training step, from the first forward to the end of the last backward, and its "
        f"difference from the {even_split_words(even)}.",
        border=True,
    )
    points = evaluation.bubble.total - other.bubble.total
    bubble.metric(
        "Bubble",
        percent_text(evaluation.bubble.total),
        delta=f"{_signed(points)} points" if compared else None,
        delta_color=_colour(points, even),
        delta_arrow="off" if _same(points) else "auto",
        delta_description="vs even split" if compared else None,
        help="Time of a stage beyond its share of the model's own work, in percent of that work: waiting, "
        "recomputation and transfers.",
        border=True,
    )
    _peak_metric(peak, scenario, simulated)
    proven = None if result is None else result.lower_bound
    gap.metric(
        "Certified gap",
        "–" if result is None or result.gap is None else percent_text(result.gap, 2),
        delta=None if proven is None else f"≥ {time_text(proven, literal(evaluation.profile.time_unit))}",
        delta_color="off",
        delta_arrow="off",
        delta_description=None if proven is None else "for any plan",
        help="How far this step time can be from the best possible one under the same schedule and limit: the "
        "simulated step time against a proven lower bound. It does not depend on the objective.",
        border=True,
    )


def comparison(scenario: Scenario, even: EvenSplit) -> str:
    """What the plan is compared with, as a sentence."""
    unit = literal(scenario.profile.time_unit)
    return f"The {even_split_words(even)} takes {time_text(even.simulated.evaluation.step_time, unit)}."


def verdict(result: BalanceResult, *, stopped_early: bool = False) -> str:
    """How the run ended and how good the plan is, in one or two sentences of Markdown."""
    solver = _SOLVERS.get(result.solver, result.solver)
    when = f"in {result.seconds:.1f} s with {solver}"
    if result.status is Status.NO_SOLUTION_IN_TIME:
        return f"**No plan was found in time** ({when})."
    if result.status is Status.INFEASIBLE:
        return f"**No plan fits** ({when})."
    early = "**Stopped early.** " if stopped_early else ""
    if result.objective is Objective.EXACT:
        if result.status is Status.OPTIMAL:
            return f"**Proven optimal**: no plan within the limit has a shorter step ({when})."
        return f"{early}**Best found**{_above_best(result, ', ')} ({when})."
    value = "" if result.objective_value is None else f" (value {result.objective_value:,.6g})"
    classic = f"for the *{result.objective}* objective{value} {when}"
    rated = f"Its step time is{_above_best(result, ' ')}." if result.above_best is not None else ""
    if result.status is Status.OPTIMAL:
        return f"**Proven optimal** {classic}. {rated}"
    bound = "" if result.objective_bound is None else f", proven to be at least {result.objective_bound:,.6g}"
    return f"{early}**Best found** {classic}{bound}. {rated}"


def search_words(trace: Sequence[Progress], scenario: Scenario) -> str:
    """Where a running search stands: best value, and how far above the proven bound."""
    found = trace[-1] if trace else Progress(0.0, None, None)
    if found.best is None:
        return "no plan yet"
    exact = scenario.request.objective is Objective.EXACT
    value = time_text(found.best, literal(scenario.profile.time_unit)) if exact else f"{found.best:,.6g}"
    words = f"best {'step time' if exact else 'objective'} so far {value}"
    if not found.bound:
        return words
    return f"{words}, at most {percent_text(found.best / found.bound - 1, 2)} above the best possible"


def knob_words(scenario: Scenario) -> str:
    """The shares this schedule's times rest on, as a sentence; empty where it has none."""
    chosen, pipeline = family(scenario.schedule_name), scenario.pipeline
    said = []
    if chosen.overlaps:
        said.append(f"overlap efficiency η = {pipeline.overlap_efficiency:g}")
    if chosen.splits_backward:
        said.append(f"input-gradient share β = {pipeline.input_gradient_share:g}")
    return f"Simulated with {' and '.join(said)}." if said else ""


def over_limit_warning(scenario: Scenario, simulated: Simulated) -> None:
    """Say which stages need more than they may."""
    limits = scenario.request.limits(scenario.pipeline.num_stages)
    over = simulated.evaluation.stages_over(limits)
    if limits and over:
        peaks = simulated.evaluation.peak_memory_mb
        st.error(
            bullets([f"Stage {s} needs {memory_text(peaks[s])}, the limit is {memory_text(limits[s])}." for s in over]),
            icon=":material/memory_alt:",
        )


def _peak_metric(place: DeltaGenerator, scenario: Scenario, simulated: Simulated) -> None:
    peaks = simulated.evaluation.peak_memory_mb
    limits = scenario.request.limits(len(peaks))
    fullest = max(range(len(peaks)), key=lambda s: peaks[s] / limits[s] if limits else peaks[s])
    over = bool(simulated.evaluation.stages_over(limits))
    place.metric(
        "Peak memory",
        memory_text(peaks[fullest]) if scenario.profile.has_memory else "–",
        delta=f"{percent_text(peaks[fullest] / limits[fullest], 0)} of limit" if limits else "no limit",
        delta_color="red" if over else "off",
        delta_arrow="up" if over else "off",
        delta_description=f"stage {fullest}",
        help="Highest memory of the stage that is closest to its limit: parameters, constant, and the activations "
        "alive at that moment.",
        border=True,
    )


def _above_best(result: BalanceResult, joint: str) -> str:
    if result.above_best is None:
        return ""
    return f"{joint}at most {percent_text(result.above_best, 2)} above the best possible"


def _signed(share: float) -> str:
    # Streamlit reads the sign, and only an ASCII hyphen is one.
    return signed_percent_text(share).replace("−", "-")


def _same(share: float) -> bool:
    return signed_percent_text(share) == signed_percent_text(0.0)


def _colour(share: float, even: EvenSplit) -> Literal["inverse", "off"]:
    """Green for less, red for more; neither where nothing changed or the even split cannot run at all."""
    return "inverse" if even.fits and not _same(share) else "off"
