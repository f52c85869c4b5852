"""How the model is cut: stages, chunks, micro-batches, and which cell holds which part of the model."""

from dataclasses import dataclass, fields, replace
from enum import StrEnum
from math import isfinite

from sapp_core.errors import PipelineError


class Placement(StrEnum):
    """Which cell (chunk c, stage s) is which virtual stage.

    `LOOP`: v = c·S + s. `V`: chunk 0 → s, chunk 1 → 2S−1−s. `BIDIRECTIONAL`: two copies of an S-stage
    pipeline, chunk 0 → s of one copy, chunk 1 → S−1−s of the other (DualPipe).
    """

    LOOP = "loop"
    V = "v"
    BIDIRECTIONAL = "bidirectional"


class Remainder(StrEnum):
    """Which group of micro-batches takes M mod S: the last one is short (Paddle) or the first one longer (SAPP)."""

    LAST = "last"
    FIRST = "first"


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Sizes and knobs of one pipeline; everything that shapes a schedule besides its name.

    Attributes:
        num_stages: S, pipeline ranks.
        num_micro_batches: M, of one training step.
        num_chunks: V, chunks each stage holds (interleave).
        num_sequence_splits: K, slices of a micro-batch along the sequence.
        placement: which cell is which virtual stage.
        group_size: micro-batches a group in interleaved schedules; None = S.
        remainder: which group differs when M is not a multiple of the group size.
        p2p_time: delay of data that crosses stages, in the profile's time unit.
        overlap_efficiency: η of an overlapped forward + backward; 0 = one after the other, 1 = the shorter vanishes.
        input_gradient_share: β, the share of a backward (without recomputation) spent on the input gradient.
        weight_gradient_memory_share: share of a chunk's activations kept between I and W.
    """

    num_stages: int
    num_micro_batches: int
    num_chunks: int = 1
    num_sequence_splits: int = 1
    placement: Placement = Placement.LOOP
    group_size: int | None = None
    remainder: Remainder = Remainder.LAST
    p2p_time: float = 0.0
    overlap_efficiency: float = 0.0
    input_gradient_share: float = 0.5
    weight_gradient_memory_share: float = 1.0

    def __post_init__(self) -> None:
        problems = [
            f"{name}: must be a whole number of at least 1, found {value!r}."
            for name in ("num_stages", "num_micro_batches", "num_chunks", "num_sequence_splits", "group_size")
            if not _is_count(value := getattr(self, name)) and not (name == "group_size" and value is None)
        ]
        if not (isfinite(self.p2p_time) and self.p2p_time >= 0):
            problems.append(f"p2p_time: must be a number of at least 0, found {self.p2p_time!r}.")
        problems += [
            f"{name}: must lie between 0 and 1, found {value!r}."
            for name in ("overlap_efficiency", "input_gradient_share", "weight_gradient_memory_share")
            if not 0 <= (value := getattr(self, name)) <= 1
        ]
        if self.placement is not Placement.LOOP and self.num_chunks != 2:
            problems.append(
                f"num_chunks: the {self.placement} placement holds exactly 2 chunks a stage, found {self.num_chunks}."
            )
        if problems:
            raise PipelineError(*problems)

    @property
    def num_virtual_stages(self) -> int:
        """Virtual stages of one copy of the model."""
        if self.placement is Placement.BIDIRECTIONAL:
            return self.num_stages
        return self.num_stages * self.num_chunks

    @property
    def micro_batches_per_chunk(self) -> int:
        """Micro-batches each chunk works on; a bidirectional pipeline shares them between its two copies."""
        if self.placement is Placement.BIDIRECTIONAL:
            return self.num_micro_batches // 2
        return self.num_micro_batches

    @property
    def untimed(self) -> "Pipeline":
        """The same with every knob of time at its default: what a schedule's order and its memory depend on."""
        return replace(self, p2p_time=0.0, overlap_efficiency=0.0, input_gradient_share=0.5)

    def virtual_stage(self, chunk: int, stage: int) -> int:
        """Number of cell (chunk, stage) in model order."""
        if self.placement is Placement.LOOP:
            return chunk * self.num_stages + stage
        last = self.num_virtual_stages - 1
        return stage if chunk == 0 else last - stage

    def cells(self, virtual_stage: int) -> tuple[tuple[int, int], ...]:
        """The (chunk, stage) cells that hold a virtual stage: one, or two in a bidirectional pipeline."""
        if self.placement is Placement.LOOP:
            return (divmod(virtual_stage, self.num_stages),)
        last = self.num_virtual_stages - 1
        if self.placement is Placement.BIDIRECTIONAL:
            return ((0, virtual_stage), (1, last - virtual_stage))
        if virtual_stage < self.num_stages:
            return ((0, virtual_stage),)
        return ((1, last - virtual_stage),)

    def as_dict(self) -> dict[str, int | float | str | None]:
        """Field name → value, enums as their text: what files and `--json` carry."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: str(value) if isinstance(value, StrEnum) else value for name, value in values.items()}


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
