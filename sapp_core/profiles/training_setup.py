"""How a model is trained: sizes of a micro-batch, how devices share the work, and which devices they are."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import Final

from sapp_core.profiles.model_shape import Experts, ModelShape, common_divisors, divided_sizes

MAX_SIZE = 10**7
"""Of any size of the setup: a typing error, not a training, is larger."""


class NumberFormat(StrEnum):
    """Format of the matrix products and of what is kept for the backward pass."""

    BF16 = "bf16"
    FP16 = "fp16"
    FP32 = "fp32"

    @property
    def size(self) -> int:
        """Bytes of a number."""
        return 4 if self is NumberFormat.FP32 else 2

    @property
    def optimizer_size(self) -> int:
        """Bytes that Adam keeps for a parameter: two moments, and a copy in single precision of shorter weights."""
        return 8 if self is NumberFormat.FP32 else 12


GRADIENT_SIZE: Final = 4
"""Bytes: gradients are summed in single precision."""


@dataclass(frozen=True, slots=True)
class Device:
    """An accelerator.

    Attributes:
        name: of the product.
        half_tflops: peak of dense matrix products in bf16 and fp16, TFLOP/s.
        single_tflops: peak in fp32, TFLOP/s.
        memory_gb: GB, of 10⁹ bytes.
        source: where the numbers are published.
    """

    name: str
    half_tflops: float
    single_tflops: float
    memory_gb: float
    source: str

    def peak_tflops(self, number_format: NumberFormat) -> float:
        """Peak of a number format, TFLOP/s."""
        return self.single_tflops if number_format is NumberFormat.FP32 else self.half_tflops


@dataclass(frozen=True, slots=True)
class TrainingSetup:
    """What an estimate needs besides the model.

    Attributes:
        device: every device of the training.
        sequence_length: tokens of a sequence.
        micro_batch_size: sequences of a micro-batch.
        tensor_parallel: devices that share the matrices of a layer.
        sequence_parallel: whether those devices also share what lies between the matrices.
        expert_parallel: devices that share the experts of a layer; they are data-parallel for everything else.
        data_parallel: replicas of the model.
        sharded_optimizer: whether the replicas share the optimizer's state.
        number_format: of products and activations.
        efficiency: share of the device's peak that matrix products reach.
        flash_attention: whether the attention kernel keeps no scores and skips what causal attention masks.
    """

    device: Device
    sequence_length: int = 4096
    micro_batch_size: int = 1
    tensor_parallel: int = 1
    sequence_parallel: bool = True
    expert_parallel: int = 1
    data_parallel: int = 1
    sharded_optimizer: bool = True
    number_format: NumberFormat = NumberFormat.BF16
    efficiency: float = 0.45
    flash_attention: bool = True

    @property
    def tokens(self) -> int:
        """Tokens of a micro-batch."""
        return self.sequence_length * self.micro_batch_size

    @property
    def between_split(self) -> int:
        """Devices that share what lies between the matrices."""
        return self.tensor_parallel if self.sequence_parallel else 1


def setup_problems(shape: ModelShape, setup: TrainingSetup) -> tuple[str, ...]:
    """One sentence for each rule that a setup breaks: field, rule, what was found, nearest legal values."""
    sizes = ("sequence_length", "micro_batch_size", "tensor_parallel", "expert_parallel", "data_parallel")
    problems = [
        f"{name}: must be from 1 to {MAX_SIZE:,}, found {getattr(setup, name):,}."
        for name in sizes
        if not 1 <= getattr(setup, name) <= MAX_SIZE
    ]
    problems += _amount_problems(setup)
    if not problems:
        problems = [*_tensor_problems(shape, setup), *_expert_problems(shape, setup)]
    return tuple(problems)


def _amount_problems(setup: TrainingSetup) -> list[str]:
    problems = []
    if not 0 < setup.efficiency <= 1:
        problems.append(f"efficiency: must be above 0 % and up to 100 %, found {100 * setup.efficiency:g} %.")
    amounts = {
        f"peak of {setup.device.name} in {setup.number_format}, TFLOP/s": setup.device.peak_tflops(setup.number_format),
        f"memory of {setup.device.name}, GB": setup.device.memory_gb,
    }
    for name, value in amounts.items():
        if not (isfinite(value) and 0 < value <= MAX_SIZE):
            problems.append(f"{name}: must be above 0 and up to {MAX_SIZE:,}, found {value:g}.")
    return problems


def _tensor_problems(shape: ModelShape, setup: TrainingSetup) -> list[str]:
    sizes = divided_sizes(shape)
    if setup.sequence_parallel:
        sizes["sequence length"] = setup.sequence_length
    split = setup.tensor_parallel
    not_divided = [f"{size:,} ({name})" for name, size in sizes.items() if size % split]
    if not not_divided:
        return []
    legal = nearest(split, common_divisors(*sizes.values()))
    return [f"tensor_parallel: must divide {' and '.join(not_divided)}, found {split:,}; nearest: {legal}."]


def _expert_problems(shape: ModelShape, setup: TrainingSetup) -> list[str]:
    mixtures = {
        block.feed_forward.num_experts for block in shape.blocks if isinstance(block.feed_forward, Experts)
    }  # fmt: skip
    found = setup.expert_parallel
    if not mixtures:
        return [] if found == 1 else [f"expert_parallel: must be 1 for a model without experts, found {found:,}."]
    if all(count % found == 0 for count in mixtures) and setup.data_parallel % found == 0:
        return []
    legal = nearest(found, common_divisors(*mixtures, setup.data_parallel))
    experts = " and ".join(f"{count:,} experts" for count in sorted(mixtures))
    rule = f"must divide {experts} and the data_parallel size of {setup.data_parallel:,}"
    return [f"expert_parallel: {rule}, found {found:,}; nearest: {legal}."]


def nearest(wanted: int, legal: Iterable[int]) -> str:
    """The legal values next to a wanted one, in words."""
    values = sorted(legal)
    below = [value for value in values if value < wanted][-1:]
    above = [value for value in values if value > wanted][:1]
    return " or ".join(f"{value:,}" for value in below + above)
