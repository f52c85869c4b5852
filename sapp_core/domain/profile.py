"""What a model costs: time and memory of each kind of layer, under each recompute mode."""

from dataclasses import dataclass
from enum import StrEnum

from sapp_core.errors import ProfileError

MAX_KINDS = 200
MAX_LAYERS = 10_000
"""Of a profile that is read from a file, all kinds together; no model comes near, and work grows with both."""


class LayerKind(StrEnum):
    """Where a layer sits: before, in, or after the run of layers that is cut into stages."""

    HEAD = "HEAD"
    BODY = "BODY"
    TAIL = "TAIL"


class RecomputeMode(StrEnum):
    """What the backward pass computes again instead of keeping it in memory."""

    NONE = "none"
    SELECT = "select"
    COMM = "comm"
    BOTH = "both"
    FULL = "full"


MODES: tuple[RecomputeMode, ...] = tuple(RecomputeMode)
"""All modes; the index `r` of every `[r]` is a position in this tuple."""


@dataclass(frozen=True, slots=True)
class LayerProfile:
    """One kind of layer, resolved: no optional times and no coefficients are left.

    Attributes:
        name: unique within the profile.
        kind: head, body or tail.
        num_layers: how many such layers the model has (≥ 1).
        forward_time: of one layer and one micro-batch, in the profile's time unit.
        backward_time: `[r]`, full backward of one layer under each mode, recomputation included.
        parameter_mb: static memory of one layer (weights, gradients, optimizer), MiB.
        activation_mb: `[r]`, kept from forward to backward for one micro-batch, MiB; None = mode not offered.
    """

    name: str
    kind: LayerKind
    num_layers: int
    forward_time: float
    backward_time: tuple[float, ...]
    parameter_mb: float
    activation_mb: tuple[float | None, ...]

    def __post_init__(self) -> None:
        if self.num_layers < 1:
            raise ProfileError(f"{self.name}: the number of layers must be at least 1, found {self.num_layers}.")
        if len(self.backward_time) != len(MODES) or len(self.activation_mb) != len(MODES):
            raise ProfileError(f"{self.name}: times and memory need one value for each of {', '.join(MODES)}.")


@dataclass(frozen=True, slots=True)
class TrainingShape:
    """Sizes of one training micro-batch, needed to split it along the sequence; None = not said in the profile."""

    batch_size: int | None = None
    num_heads: int | None = None
    seq_length: int | None = None
    head_dim: int | None = None
    hidden_size: int | None = None
    intermediate_size: int | None = None
    vocab_size: int | None = None
    model_parallel: int | None = None


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """All layer kinds of a model, in model order within each of head, body and tail.

    Attributes:
        name: shown to the user.
        layers: at least one BODY kind; names unique.
        constant_mb: memory on every stage whatever it holds, MiB.
        time_unit: label of all times.
        training: sizes for sequence splits, if known.
        memory_limit_mb: suggested limit per stage, MiB, if known.
    """

    name: str
    layers: tuple[LayerProfile, ...]
    constant_mb: float = 0.0
    time_unit: str = "ms"
    training: TrainingShape | None = None
    memory_limit_mb: float | None = None

    def __post_init__(self) -> None:
        if not self.body:
            raise ProfileError("layers_description: at least one layer of type BODY is needed.")
        if not self.modes:
            raise ProfileError("layers_description: no recompute mode has its memory given for every BODY kind.")
        names = [layer.name for layer in self.layers]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ProfileError(f"layers_description: names must be unique; found twice: {', '.join(twice)}.")

    def of_kind(self, kind: LayerKind) -> tuple[LayerProfile, ...]:
        """Layers of one kind, in model order."""
        return tuple(layer for layer in self.layers if layer.kind is kind)

    @property
    def head(self) -> tuple[LayerProfile, ...]:
        """Layers before the body (embedding)."""
        return self.of_kind(LayerKind.HEAD)

    @property
    def body(self) -> tuple[LayerProfile, ...]:
        """The layers that a plan places; index `ℓ` of every `[ℓ]` is a position in this tuple."""
        return self.of_kind(LayerKind.BODY)

    @property
    def tail(self) -> tuple[LayerProfile, ...]:
        """Layers after the body (norm, LM head, loss)."""
        return self.of_kind(LayerKind.TAIL)

    @property
    def modes(self) -> tuple[RecomputeMode, ...]:
        """Modes considered: those whose activation memory is known for every body kind, least recomputation first."""
        return tuple(
            mode for r, mode in enumerate(MODES) if all(layer.activation_mb[r] is not None for layer in self.body)
        )

    @property
    def num_body_layers(self) -> int:
        """Layers of all body kinds together."""
        return sum(layer.num_layers for layer in self.body)

    @property
    def has_memory(self) -> bool:
        """Whether any memory was given; without it only time can be balanced."""
        return any(
            layer.parameter_mb > 0 or any(value for value in layer.activation_mb if value) for layer in self.layers
        )
