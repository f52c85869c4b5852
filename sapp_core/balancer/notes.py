"""What the user should know beside the plan."""

from sapp_core.balancer.question import Question, stage_memory
from sapp_core.domain.costs import ChunkCosts
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import MemoryModel
from sapp_core.domain.timeline import MEMORY_ROUNDING_MB
from sapp_core.schedules.in_flight import peak_vectors


def before_solving(profile: ModelProfile, request: BalanceRequest) -> tuple[str, ...]:
    """What the program leaves out."""
    notes = []
    if not profile.has_memory:
        notes.append("The profile gives no memory: only time was balanced.")
    elif request.memory_limit_mb is None:
        notes.append("Memory was not limited: only time was balanced.")
    if len(profile.body) > 1 and len(profile.modes) > 2:
        notes.append(
            "MindFormers wants recomputed layers first inside a cell. With three or more recompute modes this is not "
            "enforced: check cells that hold several kinds of layers."
        )
    return tuple(notes)


def on_plan(question: Question, request: BalanceRequest, costs: ChunkCosts) -> tuple[str, ...]:
    """Where the closed forms accepted more than the schedule itself allows."""
    if request.memory_model is MemoryModel.EXACT or question.limits is None:
        return ()
    used = stage_memory(costs, peak_vectors(question.schedule))
    over = [
        f"stage {stage} {peak:,.1f} MiB of {limit:,.1f} MiB"
        for stage, (peak, limit) in enumerate(zip(used, question.limits, strict=True))
        if peak > limit + MEMORY_ROUNDING_MB
    ]
    if not over:
        return ()
    note = (
        "The closed-form memory accepts this plan, but counted from the schedule itself it needs more than the limit: "
        f"{', '.join(over)}. Balance with memory model exact to keep within it."
    )
    return (note,)


def on_order(searched: float, step_time: float, schedule_name: str, time_unit: str) -> tuple[str, ...]:
    """Where the plan runs in another order than the one it was searched under.

    Args:
        searched: step time of the plan in the order of the search.
        step_time: in the order that suits it.
        schedule_name: of both orders.
        time_unit: of both times.
    """
    if step_time == searched:
        return ()
    note = (
        f"For this plan's own times {schedule_name} orders its work anew, which shortens the step from {searched:,.6g} "
        f"to {step_time:,.6g} {time_unit}. Bound and gap are about the order before that."
    )
    return (note,)
