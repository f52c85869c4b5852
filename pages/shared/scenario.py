"""What a page is asked to show: one value that says it all."""

from dataclasses import dataclass, replace
from hashlib import blake2b

from pages.shared.pins import pins_text
from sapp_core.balancer.request import BalanceRequest
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Plan
from sapp_core.domain.profile import ModelProfile


def digest(*parts: object) -> str:
    """Short name of the content of frozen values; their `repr` says all that is in them."""
    return blake2b(repr(parts).encode(), digest_size=12).hexdigest()


@dataclass(frozen=True, slots=True)
class Scenario:
    """All inputs of one balancing run.

    Attributes:
        profile: what is placed, the page's constant memory included.
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

    def starting_from(self, plan: Plan | None) -> "Scenario":
        """The same scenario with another start of the search; None = the one that a link holds, without any."""
        return replace(self, request=replace(self.request, start=plan))

    def changes(self, newer: "Scenario") -> tuple[str, ...]:
        """What differs in a newer scenario, as `stages 8 → 16`."""
        before, after = _facts(self), _facts(newer)
        changed = [f"{name} {before[name]} → {after[name]}" for name in before if before[name] != after[name]]
        if not changed and self.profile != newer.profile:
            changed = ["the profile's content"]
        return tuple(changed)


def _facts(scenario: Scenario) -> dict[str, str]:
    """What a reader calls the inputs, and their values in words."""
    pipeline, request = scenario.pipeline, scenario.request
    limit = request.memory_limit_mb
    return {
        "profile": scenario.profile.name,
        "schedule": scenario.schedule_name,
        "stages": str(pipeline.num_stages),
        "interleave": str(pipeline.num_chunks),
        "micro-batches": str(pipeline.num_micro_batches),
        "sequence splits": str(pipeline.num_sequence_splits),
        "group size": "one per stage" if pipeline.group_size is None else str(pipeline.group_size),
        "group with the remainder": str(pipeline.remainder),
        "transfer time": f"{pipeline.p2p_time:g}",
        "overlap efficiency": f"{pipeline.overlap_efficiency:g}",
        "input-gradient share": f"{pipeline.input_gradient_share:g}",
        "memory kept for weight gradients": f"{pipeline.weight_gradient_memory_share:g}",
        "memory limit": f"{limit:,.0f} MiB" if isinstance(limit, float) else "none",
        "constant memory": f"{scenario.profile.constant_mb:,.0f} MiB",
        "pinned layers": pins_text(request.pinned) or "none",
        "objective": str(request.objective),
        "memory model": str(request.memory_model),
        "solver": request.solver,
        "time limit": f"{request.time_limit:g} s",
    }
