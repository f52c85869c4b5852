"""Schedules as PyTorch pipelining reads them: the compute-only CSV of `_PipelineScheduleRuntime._load_csv`.

One line a rank, its actions separated by commas: `{virtual stage}{F|B|I|W}{micro-batch}`; a forward and a backward that
overlap are `(0F1;1B0)OVERLAP_F_B`.
"""

from sapp_core.domain.pipeline import Placement
from sapp_core.domain.schedule import Op, Schedule, Slot
from sapp_core.errors import FormatError


def schedule_to_torch_csv(schedule: Schedule) -> str:
    """The order of a schedule.

    Raises:
        FormatError: sequence splits or two copies of the model, for which PyTorch has no words.
    """
    pipeline = schedule.pipeline
    if pipeline.num_sequence_splits > 1:
        raise FormatError(
            f"torch-csv: PyTorch's actions know no sequence splits, {schedule.name} has {pipeline.num_sequence_splits}."
        )
    if pipeline.placement is Placement.BIDIRECTIONAL:
        raise FormatError(f"torch-csv: PyTorch's actions know one copy of the model, {schedule.name} has two.")

    def action(op: Op, stage: int) -> str:
        return f"{pipeline.virtual_stage(op.chunk, stage)}{op.kind}{op.micro_batch}"

    def text(slot: Slot, stage: int) -> str:
        actions = [action(op, stage) for op in slot.ops]
        return actions[0] if len(actions) == 1 else f"({';'.join(actions)})OVERLAP_F_B"

    return "".join(",".join(text(slot, stage) for slot in slots) + "\n" for stage, slots in enumerate(schedule.slots))
