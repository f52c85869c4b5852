"""Everything one balancing run depends on, as one value: what pages show, files save and reports repeat."""

from dataclasses import dataclass
from hashlib import blake2b

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.request import BalanceRequest, Pin


def digest(*parts: object) -> str:
    """Short name of the content of frozen values; their `repr` says all that is in them."""
    return blake2b(repr(parts).encode(), digest_size=12).hexdigest()


@dataclass(frozen=True, slots=True)
class Scenario:
    """All inputs of one balancing run.

    Attributes:
        profile: what is placed, the chosen constant memory included.
        schedule_name: of the schedule family.
        pipeline: sizes and knobs.
        request: limit, objective, solver.
    """

    profile: ModelProfile
    schedule_name: str
    pipeline: Pipeline
    request: BalanceRequest

    @property
    def key(self) -> str:
        """Short name of the content: equal scenarios have equal keys, in every process."""
        return digest(self)

    def changes(self, newer: "Scenario") -> tuple[str, ...]:
        """What differs in a newer scenario, as `stages 8 → 16`."""
        before, after = self.facts(), newer.facts()
        changed = [f"{name} {before[name]} → {after[name]}" for name in before if before[name] != after[name]]
        if not changed and self.profile != newer.profile:
            changed = ["the profile's content"]
        return tuple(changed)

    def facts(self) -> dict[str, str]:
        """What a reader calls the inputs, and their values in words, with units."""
        pipeline, request = self.pipeline, self.request
        return {
            "profile": self.profile.name,
            "schedule": self.schedule_name,
            "stages": str(pipeline.num_stages),
            "interleave": str(pipeline.num_chunks),
            "micro-batches": str(pipeline.num_micro_batches),
            "sequence splits": str(pipeline.num_sequence_splits),
            "group size": "one per stage" if pipeline.group_size is None else str(pipeline.group_size),
            "group with the remainder": str(pipeline.remainder),
            "transfer time": f"{pipeline.p2p_time:g} {self.profile.time_unit}",
            "overlap efficiency": f"{pipeline.overlap_efficiency:g}",
            "input-gradient share": f"{pipeline.input_gradient_share:g}",
            "memory kept for weight gradients": f"{pipeline.weight_gradient_memory_share:g}",
            "memory limit": _limit_words(request.memory_limit_mb),
            "constant memory": f"{self.profile.constant_mb:,.0f} MiB",
            "objective": str(request.objective),
            "memory model": str(request.memory_model),
            "solver": request.solver,
            "time limit": f"{request.time_limit:g} s",
            "seed": str(request.seed),
            "threads": str(request.threads),
            "pinned cells": _pin_words(request.pinned),
            "search starts from": "a first guess" if request.start is None else "a given plan",
        }


def _limit_words(limit: float | tuple[float, ...] | None) -> str:
    if limit is None:
        return "none"
    if isinstance(limit, tuple):
        return f"one for each stage, {min(limit):,.0f} to {max(limit):,.0f} MiB"
    return f"{limit:,.0f} MiB"


def _pin_words(pinned: tuple[Pin, ...]) -> str:
    return "; ".join(f"chunk {pin.chunk}, stage {pin.stage}: {pin.layers} layers" for pin in pinned) or "none"
