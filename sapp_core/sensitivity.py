"""Which numbers of a profile matter: each is made a little smaller and larger, alone, under the same plan."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from sapp_core.domain.costs import ChunkCosts, chunk_costs
from sapp_core.domain.plan import Plan
from sapp_core.domain.profile import MODES, LayerProfile, ModelProfile
from sapp_core.domain.scenario import Scenario
from sapp_core.domain.sensitivity import Excess, ProfileNumber, Quantity, Reaction, Sensitivity
from sapp_core.domain.sequence_split import split_along_sequence
from sapp_core.domain.timeline import MEMORY_ROUNDING_MB, Evaluation
from sapp_core.schedules.zero_bubble import PLANNED
from sapp_core.simulator.engine import PreparedSchedule, durations_of, prepare, step_times
from sapp_core.simulator.memory import peaks

USUAL_SHARE = 0.1
SMALLEST_SHARE, LARGEST_SHARE = 0.01, 0.5
"""Between these a change is one that a measurement may be wrong by."""

_NOTHING = 1e-9
"""Relative; less is rounding."""


def profile_numbers(scenario: Scenario) -> tuple[ProfileNumber, ...]:
    """All numbers above 0 that a plan of a scenario may depend on, in the order of the profile."""
    return tuple(number for number in _numbers(scenario) if number.value > 0)


def changed(scenario: Scenario, number: ProfileNumber, factor: float) -> Scenario:
    """The scenario with one of its `profile_numbers` multiplied."""
    match number.quantity:
        case Quantity.TRANSFER:
            return replace(scenario, pipeline=replace(scenario.pipeline, p2p_time=number.value * factor))
        case Quantity.CONSTANT:
            return replace(scenario, profile=replace(scenario.profile, constant_mb=number.value * factor))
    layers = tuple(
        _changed_layer(layer, number, factor) if layer.name == number.layer else layer
        for layer in scenario.profile.layers
    )
    return replace(scenario, profile=replace(scenario.profile, layers=layers))


def sensitivity(
    scenario: Scenario, evaluation: Evaluation, share: float, prepared: PreparedSchedule | None = None
) -> Sensitivity:
    """How step time and highest peak of a plan react to each number of the profile.

    Plan and order of work stay, also where the order was planned for the times of the plan. All step times come from
    one pass over the schedule, with a batch axis; transfer times, which are not in it, from one each.

    Args:
        scenario: whose numbers change.
        evaluation: of the plan.
        share: by which a number becomes smaller and larger, between `SMALLEST_SHARE` and `LARGEST_SHARE`.
        prepared: the evaluation's schedule as arrays, where they are at hand; None = they are made.
    """
    order = prepared or prepare(evaluation.schedule)
    limits = scenario.request.limits(scenario.pipeline.num_stages) if scenario.profile.has_memory else None
    lacking = _excess(evaluation.peak_memory_mb, limits)
    # What does not fit as it is cannot be made not to fit.
    met_limits = None if lacking else limits
    numbers = profile_numbers(scenario)
    times = _time_reactions(scenario, evaluation, [n for n in numbers if n.quantity.is_time], share, order)
    memory = [
        _memory_reaction(scenario, evaluation.plan, number, share, order, met_limits)
        for number in numbers
        if not number.quantity.is_time
    ]
    peak_mb = max(evaluation.peak_memory_mb)
    moving_times, moving_memory = _ranked(times, evaluation.step_time), _ranked(memory, peak_mb)
    met = {reaction.number for reaction in (*moving_times, *moving_memory)}
    idle = tuple(number for number in numbers if number not in met)
    return Sensitivity(share, evaluation.step_time, peak_mb, moving_times, moving_memory, idle, lacking)


def most_regret(scenario: Scenario, found: Sensitivity, reaction: Reaction, lower_bound: float) -> float | None:
    """How much longer than the best plan's step that of this plan can be at most, whichever way a number is wrong.

    Known without balancing again. Larger numbers make no plan quicker and let none in, so the bound still holds.
    A smaller time shortens no step by more than its share of the whole, nor by more than all that the number takes in
    all micro-batches together. Nothing is known where smaller memory lets other plans in, where the plan may no longer
    fit, and for schedules whose order is planned for the times (the bound is about one order).

    Args:
        scenario: whose numbers change.
        found: reactions of its plan.
        reaction: one of those.
        lower_bound: proven for the step time of every plan with the profile as it is.

    Returns:
        A share of the best step time; None where nothing is known.
    """
    number = reaction.number
    if scenario.schedule_name in PLANNED or not number.quantity.is_time or lower_bound <= 0:
        return None
    shrunk = (1 - found.share) * lower_bound
    layers = next((layer.num_layers for layer in scenario.profile.layers if layer.name == number.layer), None)
    if layers is not None:
        taken = number.value * layers * scenario.pipeline.num_micro_batches
        shrunk = max(shrunk, lower_bound - found.share * taken)
    return max(0.0, reaction.higher / lower_bound - 1, reaction.lower / shrunk - 1)


def _ranked(reactions: list[Reaction], base: float) -> tuple[Reaction, ...]:
    """Those that change anything, largest swing first."""
    moving = (reaction for reaction in reactions if reaction.swing > _NOTHING * base or reaction.excess)
    return tuple(sorted(moving, key=lambda reaction: -reaction.swing))


def _numbers(scenario: Scenario) -> Iterator[ProfileNumber]:
    profile = scenario.profile
    for layer in profile.layers:
        yield ProfileNumber(Quantity.FORWARD, layer.name, None, layer.forward_time)
        yield ProfileNumber(Quantity.BACKWARD, layer.name, None, layer.backward_time[0])
        modes = profile.modes if layer in profile.body else MODES[:1]
        for mode in modes:
            r = MODES.index(mode)
            yield ProfileNumber(Quantity.RECOMPUTE, layer.name, mode, layer.backward_time[r] - layer.backward_time[0])
            yield ProfileNumber(Quantity.ACTIVATIONS, layer.name, mode, layer.activation_mb[r] or 0.0)
        yield ProfileNumber(Quantity.PARAMETERS, layer.name, None, layer.parameter_mb)
    yield ProfileNumber(Quantity.TRANSFER, "", None, scenario.pipeline.p2p_time)
    yield ProfileNumber(Quantity.CONSTANT, "", None, profile.constant_mb)


def _changed_layer(layer: LayerProfile, number: ProfileNumber, factor: float) -> LayerProfile:
    r = MODES.index(number.mode) if number.mode else 0
    added = number.value * (factor - 1)
    match number.quantity:
        case Quantity.FORWARD:
            return replace(layer, forward_time=number.value * factor)
        case Quantity.BACKWARD:
            return replace(layer, backward_time=tuple(time + added for time in layer.backward_time))
        case Quantity.RECOMPUTE:
            times = (*layer.backward_time[:r], layer.backward_time[r] + added, *layer.backward_time[r + 1 :])
            return replace(layer, backward_time=times)
        case Quantity.PARAMETERS:
            return replace(layer, parameter_mb=number.value * factor)
    kept = (*layer.activation_mb[:r], number.value * factor, *layer.activation_mb[r + 1 :])
    return replace(layer, activation_mb=kept)


def _costs(profile: ModelProfile, plan: Plan, order: PreparedSchedule) -> ChunkCosts:
    pipeline = order.schedule.pipeline
    return chunk_costs(split_along_sequence(profile, pipeline.num_sequence_splits), plan, pipeline)


def _time_reactions(
    scenario: Scenario, evaluation: Evaluation, numbers: list[ProfileNumber], share: float, order: PreparedSchedule
) -> list[Reaction]:
    factors = (1 - share, 1 + share)
    pipeline = scenario.pipeline
    of_layers = [number for number in numbers if number.quantity is not Quantity.TRANSFER]
    found: dict[ProfileNumber, tuple[float, float]] = {}
    if of_layers:
        durations = np.stack([
            durations_of(_costs(changed(scenario, number, factor).profile, evaluation.plan, order), pipeline)
            for number in of_layers
            for factor in factors
        ])  # fmt: skip
        lower, higher = step_times(order, durations).reshape(-1, 2).T.tolist()
        found |= dict(zip(of_layers, zip(lower, higher, strict=True), strict=True))
    own = durations_of(evaluation.costs, pipeline)[np.newaxis]
    for number in numbers:
        if number.quantity is Quantity.TRANSFER:
            at = [float(step_times(order, own, number.value * factor)[0]) for factor in factors]
            found[number] = at[0], at[1]
    return [Reaction(number, *found[number]) for number in numbers]


def _memory_reaction(
    scenario: Scenario,
    plan: Plan,
    number: ProfileNumber,
    share: float,
    order: PreparedSchedule,
    limits: tuple[float, ...] | None,
) -> Reaction:
    lower, higher = (
        [peak.total_mb for peak in peaks(order, _costs(changed(scenario, number, factor).profile, plan, order))]
        for factor in (1 - share, 1 + share)
    )
    return Reaction(number, max(lower), max(higher), _excess(higher, limits))


def _excess(peaks_mb: Sequence[float], limits: tuple[float, ...] | None) -> Excess | None:
    """Of the stage that lacks most; None when all fit."""
    if limits is None:
        return None
    lack = [peak - limit for peak, limit in zip(peaks_mb, limits, strict=True)]
    worst = max(range(len(lack)), key=lack.__getitem__)
    return Excess(worst, lack[worst]) if lack[worst] > MEMORY_ROUNDING_MB else None
