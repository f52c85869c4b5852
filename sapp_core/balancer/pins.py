"""Pinned cells: what they ask of a profile and a pipeline, and how they are called in sentences."""

from collections.abc import Iterator, Mapping

from sapp_core.balancer.ilp import must_hold_body
from sapp_core.balancer.request import Pin
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.profile import ModelProfile

NAMED = 8
"""Pins that a sentence lists."""


def pinned_layers(pinned: tuple[Pin, ...], pipeline: Pipeline) -> dict[int, int]:
    """Virtual stage → layers it must hold, for pins that fit the pipeline."""
    return {pipeline.virtual_stage(pin.chunk, pin.stage): pin.layers for pin in pinned}


def pin_words(pinned: tuple[Pin, ...]) -> str:
    """The pins in one phrase; of many, the first ones and how many more there are."""
    named = [f"{layers(pin.layers)} in chunk {pin.chunk} of stage {pin.stage}" for pin in pinned[:NAMED]]
    more = [f"{len(pinned) - NAMED} more"] if len(pinned) > NAMED else []
    return "; ".join(named + more)


def layers(count: int) -> str:
    """A number of layers in words."""
    return f"{count} layer{'' if count == 1 else 's'}"


def pin_problems(pinned: tuple[Pin, ...], profile: ModelProfile, pipeline: Pipeline) -> list[str]:
    """Why no plan of this profile on this pipeline keeps the pins, memory aside; empty when one does."""
    problems = [problem for pin in pinned for problem in _outside(pin, pipeline)]
    if problems:
        return problems
    problems = [*_copy_problems(pinned, pipeline), *_empty_problems(pinned, profile, pipeline)]
    return problems or _total_problems(pinned_layers(pinned, pipeline), profile, pipeline)


def _outside(pin: Pin, pipeline: Pipeline) -> Iterator[str]:
    for what, number, count in (("chunk", pin.chunk, pipeline.num_chunks), ("stage", pin.stage, pipeline.num_stages)):
        if number >= count:
            legal = f"{what}s are 0 to {count - 1}" if count > 1 else f"there is only {what} 0"
            yield f"pinned: chunk {pin.chunk}, stage {pin.stage} is outside the pipeline; {legal}."


def _copy_problems(pinned: tuple[Pin, ...], pipeline: Pipeline) -> Iterator[str]:
    """Of bidirectional pipelines: two cells hold the same virtual stage."""
    known: dict[int, Pin] = {}
    for pin in pinned:
        twin = known.setdefault(pipeline.virtual_stage(pin.chunk, pin.stage), pin)
        if twin.layers != pin.layers:
            yield (
                f"pinned: chunk {twin.chunk}, stage {twin.stage} and chunk {pin.chunk}, stage {pin.stage} are copies "
                f"of one virtual stage and must hold equally many layers, found {twin.layers} and {pin.layers}."
            )


def _empty_problems(pinned: tuple[Pin, ...], profile: ModelProfile, pipeline: Pipeline) -> Iterator[str]:
    filled = must_hold_body(profile, pipeline)
    ends = [text for text, there in (("head", profile.head), ("tail", profile.tail)) if there]
    exempt = f"only the virtual stage{'s' if len(ends) > 1 else ''} of {' and '.join(ends)} may have no body layer"
    for pin in pinned:
        if pin.layers == 0 and pipeline.virtual_stage(pin.chunk, pin.stage) in filled:
            yield (
                f"pinned: chunk {pin.chunk}, stage {pin.stage} must hold at least 1 layer, found 0; "
                f"{exempt if ends else 'no cell may be empty'}."
            )


def _total_problems(held: Mapping[int, int], profile: ModelProfile, pipeline: Pipeline) -> list[str]:
    """Whether the layers go up: no more in the pinned cells than the others can spare, no layer left without a cell."""
    filled = must_hold_body(profile, pipeline)
    total, pinned = profile.num_body_layers, sum(held.values())
    if len(filled) > total:
        return []  # No plan exists with or without pins, which is not for them to say.
    others = sum(v not in held for v in filled)
    if pinned > total - others:
        rest = f" and {others} other virtual stage{'' if others == 1 else 's'} must hold at least 1" if others else ""
        most = f"pinned: the pinned cells may hold at most {layers(total - others)} together, found {pinned}"
        return [f"{most}; the profile has {total} body layers{rest}."]
    if len(held) == pipeline.num_virtual_stages and pinned < total:
        return [f"pinned: every cell is pinned, so they must hold all {total} body layers together, found {pinned}."]
    return []
