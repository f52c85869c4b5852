"""Why no plan exists, for the user: which stage is worst off, the smallest limit that would do, what could change."""

from dataclasses import replace
from math import ceil

from sapp_core.balancer.ilp import must_hold_body
from sapp_core.balancer.least_limit import Excess, Solve, least_excess, setting_stage
from sapp_core.balancer.pins import pin_words
from sapp_core.balancer.question import Question
from sapp_core.balancer.sapp_memory import LESS_MEMORY
from sapp_core.domain.pipeline import Pipeline, Placement
from sapp_core.domain.profile import MODES, ModelProfile
from sapp_core.domain.result import Infeasibility
from sapp_core.domain.timeline import MEMORY_ROUNDING_MB

LOWER_MEMORY = {"gpipe": "1f1b", "vpp": LESS_MEMORY}
"""Schedule → one that keeps fewer micro-batches in flight."""


def too_few_layers(profile: ModelProfile, pipeline: Pipeline) -> Infeasibility | None:
    """The reason when there are more cells to fill than body layers; None when there are enough."""
    needed, layers = len(must_hold_body(profile, pipeline)), profile.num_body_layers
    if needed <= layers:
        return None
    ends = " and ".join(text for text, there in (("head", profile.head), ("tail", profile.tail)) if there)
    fits = []
    if stages := _largest_that_fits(profile, pipeline, "num_stages"):
        fits.append(f"{stages} stages with {_count(pipeline.num_chunks, 'chunk')} each")
    if pipeline.placement is Placement.LOOP and (chunks := _largest_that_fits(profile, pipeline, "num_chunks")):
        fits.append(f"{_count(pipeline.num_stages, 'stage')} with {_count(chunks, 'chunk')} each")
    lack = (
        f"{_count(layers, 'body layer')} cannot fill {pipeline.num_virtual_stages} virtual stages "
        f"({_count(pipeline.num_stages, 'stage')} with {_count(pipeline.num_chunks, 'chunk')} each): "
        f"{needed} of them need at least one{f', all but those of {ends}' if ends else ''}."
    )
    legal = f"The largest that can be filled: {', or '.join(fits)}." if fits else "No smaller pipeline can be filled."
    return Infeasibility(stage=None, smallest_limit_mb=None, sentences=(lack, legal))


def out_of_memory(question: Question, solve: Solve) -> Infeasibility:
    """The reason when no plan keeps within the memory limits.

    The stage named sets the smallest limit: it needs all of it in every plan that meets it (see `setting_stage`).
    When stages have limits of their own, it is the stage that sets how much would have to be added to all of them.
    Every number is that of plans which keep the pins; what would be possible without them is said at the end.
    """
    limits = question.limits or ()
    nothing = (0.0,) * len(limits)
    uniform = len(set(limits)) == 1
    common = least_excess(question, nothing, solve)
    base = nothing if uniform else limits
    excess = common if uniform else least_excess(question, limits, solve)
    smallest = common.amount if common and common.proven else None
    keeping = f"Plans must keep what is pinned: {pin_words(question.pinned)}." if question.pinned else None
    if excess is None:
        short = "No plan keeps every stage within its limit; the time was too short to find the smallest limit."
        return Infeasibility(None, smallest, (short, keeping) if keeping else (short,))
    stage = setting_stage(question, base, excess, solve)
    need, limit = excess.memory[stage], limits[stage]
    worst = (
        f"Stage {stage} is worst off: even when all layers are placed and recomputed to need as little as possible, it "
        f"needs {_mb(need)}, {_mb(need - limit)} more than its limit of {_mb(limit)}."
    )
    sentences = [worst, f"Of these, {_parts(excess, stage)}."]
    if not uniform:
        sentences.append(
            f"{_mb(excess.amount)} more on every stage would do{'' if excess.proven else ', perhaps less'}."
        )
    if common:
        which = "The smallest limit" if common.proven else "A limit (perhaps not the smallest)"
        sentences.append(f"{which} that would do, the same on every stage: {_mb(common.amount)}.")
    if keeping:
        sentences += [keeping, _without_pins(question, base, limits, solve)]
    return Infeasibility(stage, smallest, (*sentences, *_what_could_change(question, excess, stage)))


def _without_pins(question: Question, base: tuple[float, ...], limits: tuple[float, ...], solve: Solve) -> str:
    """What would do if no cell were pinned.

    Args:
        question: with the pins.
        base: `[stage]`, MiB that is stretched: nothing, or the limits when stages have their own.
        limits: `[stage]`, MiB.
        solve: what is left of the run's time.
    """
    free = least_excess(replace(question, pinned=()), base, solve)
    if free is None:
        return "Whether a plan without the pins would do, the time was too short to find out."
    if all(used <= limit + MEMORY_ROUNDING_MB for used, limit in zip(free.memory, limits, strict=True)):
        return "Without the pins there is a plan within the limits."
    if not free.proven:
        return "Without the pins no plan within the limits was found in the time left."
    if base is limits:
        return f"Without the pins there is none either: {_mb(free.amount)} more on every stage would do then."
    return f"Without the pins there is none either: the smallest limit would be {_mb(free.amount)} then."


def _parts(excess: Excess, stage: int) -> str:
    costs = excess.costs
    static = costs.parameter_mb[stage]
    alive = excess.memory[stage] - static - costs.constant_mb
    return f"parameters take {_mb(static)}, activations {_mb(alive)} and the constant {_mb(costs.constant_mb)}"


def _what_could_change(question: Question, excess: Excess, stage: int) -> list[str]:
    """What makes this stage smaller, as far as it is known to have a say."""
    profile, pipeline = question.profile, question.schedule.pipeline
    changes = []
    alive = excess.memory[stage] - excess.costs.parameter_mb[stage] - excess.costs.constant_mb
    if alive > 0:
        missing = [str(mode) for mode in MODES[MODES.index(profile.modes[-1]) + 1 :]]
        if missing:
            changes.append(f"give the memory of more recompute modes in the profile ({', '.join(missing)})")
        in_flight = max(max(vector) for vector in question.vectors[stage])
        if in_flight > 1:
            changes.append(f"fewer than {ceil(in_flight)} micro-batches (so many are in flight on stage {stage})")
        if question.schedule.name in LOWER_MEMORY:
            changes.append(f"the schedule {LOWER_MEMORY[question.schedule.name]}")
    held = sum(layer.total(chunk, stage) for layer in excess.plan.layers for chunk in range(pipeline.num_chunks))
    least = dict.fromkeys(must_hold_body(profile, pipeline), 1)
    pinned = question.pinned_layers
    here = [v for v in range(pipeline.num_virtual_stages) for cell in pipeline.cells(v) if cell[1] == stage]
    if any(pinned.get(v, 0) > least.get(v, 0) for v in here):
        changes.append(f"fewer layers pinned to stage {stage}")
    if held > sum((least | pinned).get(v, 0) for v in here):
        changes.append(f"more stages than {pipeline.num_stages}")
    return [f"What could help: {'; '.join(changes)}."] if changes else []


def _largest_that_fits(profile: ModelProfile, pipeline: Pipeline, field: str) -> int | None:
    """The largest smaller value of one size with which all cells can be filled."""
    for value in range(getattr(pipeline, field) - 1, 0, -1):
        smaller = replace(pipeline, num_stages=value) if field == "num_stages" else replace(pipeline, num_chunks=value)
        if len(must_hold_body(profile, smaller)) <= profile.num_body_layers:
            return value
    return None


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _mb(value: float) -> str:
    """Rounded up: a limit that a user types from here must be enough."""
    return f"{ceil(round(value * 10, 5)) / 10:,.1f} MiB"
