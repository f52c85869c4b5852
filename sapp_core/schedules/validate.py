"""Whether a schedule can run: every op exactly once, and no stage waiting for itself."""

from sapp_core.domain.graph import slot_graph
from sapp_core.domain.schedule import OpKind, Schedule
from sapp_core.errors import ScheduleError


def validate(schedule: Schedule) -> None:
    """Accept a schedule that can run to its end.

    Raises:
        ScheduleError: an op is missing, doubled or not the pipeline's; a weight gradient comes before its input
            gradient; sequence splits come out of causal order; or ops wait for each other in a circle.
    """
    slot_graph(schedule)
    if schedule.pipeline.num_sequence_splits > 1:
        _check_split_order(schedule)


def _check_split_order(schedule: Schedule) -> None:
    """Attention is causal: a split's forward needs the keys of the splits before it, its backward the reverse."""
    last = schedule.pipeline.num_sequence_splits - 1
    for stage, slots in enumerate(schedule.slots):
        done: dict[tuple[bool, int, int], int] = {}
        for op in (op for slot in slots for op in slot.ops if op.kind is not OpKind.W):
            key = (op.kind is OpKind.F, op.chunk, op.micro_batch)
            place = op.sequence_split if op.kind is OpKind.F else last - op.sequence_split
            if done.get(key, 0) != place:
                raise ScheduleError(
                    f"{schedule.name}: on stage {stage}, {op.kind}{op.chunk}.{op.micro_batch}.{op.sequence_split} "
                    "is out of turn: forwards take the splits of a micro-batch in ascending order, backwards in "
                    "descending order."
                )
            done[key] = place + 1
