"""Which op a file of measured times means, checked against the schedule it is compared with."""

from collections.abc import Mapping
from types import MappingProxyType

from sapp_core.documents.report import found
from sapp_core.domain.pipeline import Placement
from sapp_core.domain.schedule import Op, OpKind, Schedule

KINDS: Mapping[str, OpKind] = MappingProxyType(
    {
        **{kind.lower(): kind for kind in OpKind},
        **dict.fromkeys(("forward", "forward-compute"), OpKind.F),
        **dict.fromkeys(("backward", "backward-compute"), OpKind.B),
        **dict.fromkeys(("input gradient", "backward-input"), OpKind.I),
        **dict.fromkeys(("weight gradient", "backward-weight"), OpKind.W),
    }
)
"""Words for kinds of ops, in lower case: ours, and the names of Megatron's timers."""


class KnownOps:
    """The ops of a schedule; made for one reading."""

    def __init__(self, schedule: Schedule) -> None:
        self.pipeline = schedule.pipeline
        self._name = schedule.name
        self._ops = {
            (stage, op) for stage, slots in enumerate(schedule.slots) for slot in slots for op in slot.ops
        }  # fmt: skip
        self._kinds = tuple(sorted({op.kind for _, op in self._ops}))

    def problem(self, stage: int, kind: OpKind, op: Op | None) -> str:
        """A sentence on why the schedule has no such op; empty if it has."""
        pipeline = self.pipeline
        if not 0 <= stage < pipeline.num_stages:
            return f"stage must be {_up_to(pipeline.num_stages)}, found {found(stage)}."
        if kind not in self._kinds:
            return f"kind must be one of {', '.join(self._kinds)} for the schedule {self._name}, found {kind}."
        if op is None or (stage, op) in self._ops:
            return ""
        limits = (
            ("chunk", op.chunk, pipeline.num_chunks),
            ("micro_batch", op.micro_batch, pipeline.micro_batches_per_chunk),
            ("sequence_split", op.sequence_split, pipeline.num_sequence_splits),
        )
        for name, value, count in limits:
            if not 0 <= value < count:
                return f"{name} must be {_up_to(count)} for the pipeline shown, found {found(value)}."
        return f"the schedule {self._name} has no {op.label} on stage {stage}; it has other kinds of work for it."

    def cell(self, virtual_stage: int) -> tuple[int, int] | str:
        """(chunk, stage) of a virtual stage, or a sentence on why there is none."""
        if self.pipeline.placement is Placement.BIDIRECTIONAL:
            return "names with a virtual stage do not say the direction; write stage and chunk for this schedule."
        if not 0 <= virtual_stage < self.pipeline.num_virtual_stages:
            return f"virtual stage must be {_up_to(self.pipeline.num_virtual_stages)}, found {virtual_stage}."
        return self.pipeline.cells(virtual_stage)[0]


def _up_to(count: int) -> str:
    return "0" if count == 1 else f"0 to {count - 1}"
