"""What cutting micro-batches along the sequence changes in a profile.

The keys and values of earlier splits must stay while later splits attend to them, so activations do not simply divide
by the number of splits. The corrections are those of the SAPP balancer's SeqPipe; sizes are bytes of half (2) and
single (4) precision numbers.
"""

from dataclasses import dataclass, replace

from sapp_core.domain.profile import MODES, LayerKind, LayerProfile, ModelProfile, RecomputeMode, TrainingShape
from sapp_core.errors import PipelineError

HALF, SINGLE = 2, 4
"""Bytes of a number."""
MEBI = 1024**2
DEFAULT_INTERMEDIATE_SIZE = 11008
"""Of the reference, where the profile gives none (Llama-2 7B)."""
NEEDED = ("batch_size", "num_heads", "seq_length", "head_dim", "hidden_size", "vocab_size", "model_parallel")
"""Fields of the training shape that the corrections need."""


@dataclass(frozen=True, slots=True)
class SplitSizes:
    """Memory of one micro-batch that splitting changes, MiB.

    Attributes:
        key_mb: keys, or values, of one layer.
        head_mb: what the head holds that a split divides.
        loss_mb: logits of the loss.
    """

    key_mb: float
    head_mb: float
    loss_mb: float


def missing_sizes(training: TrainingShape | None) -> tuple[str, ...]:
    """Fields of `NEEDED` that the profile does not give."""
    return tuple(name for name in NEEDED if getattr(training, name, None) is None)


def split_along_sequence(profile: ModelProfile, num_splits: int) -> ModelProfile:
    """The profile as the splits of a micro-batch see it; unchanged for one split.

    Activations are given for a whole micro-batch, all its splits together, as everywhere: a split holds its share
    of `a − 2·kv`, and the keys and values of the whole sequence. Full recomputation is left out.

    Raises:
        PipelineError: sizes are missing (all are named), or full recomputation is all the profile offers.
    """
    if num_splits == 1:
        return profile
    missing = missing_sizes(profile.training)
    if missing or profile.training is None:
        raise PipelineError(
            f"training.{', training.'.join(missing)}: needed for splitting the sequence, but not in the profile."
        )
    if profile.modes == (RecomputeMode.FULL,):
        raise PipelineError("num_sequence_splits: the profile offers only full recomputation, which splits exclude.")
    sizes = split_sizes(profile.training)
    return replace(profile, layers=tuple(_split(layer, sizes, num_splits) for layer in profile.layers))


def split_sizes(shape: TrainingShape) -> SplitSizes:
    """Sizes from a complete training shape."""
    batch, heads, length, width, hidden, vocabulary, parallel = (getattr(shape, name) for name in NEEDED)
    tokens = batch * length
    if parallel > 1:
        head = HALF * 2 * tokens * hidden / parallel + HALF * tokens * hidden
    else:
        head = HALF * tokens * (hidden + (shape.intermediate_size or DEFAULT_INTERMEDIATE_SIZE))
    return SplitSizes(
        key_mb=HALF * tokens * heads * width / parallel / MEBI,
        head_mb=head / MEBI,
        loss_mb=SINGLE * tokens * vocabulary / parallel / MEBI,
    )


def _split(layer: LayerProfile, sizes: SplitSizes, num_splits: int) -> LayerProfile:
    if layer.kind is LayerKind.BODY:
        kept = 2 * sizes.key_mb
        return replace(
            layer,
            parameter_mb=layer.parameter_mb + 2 * kept,
            activation_mb=tuple(
                None if value is None or mode is RecomputeMode.FULL else max(value - kept, 0.0) + num_splits * kept
                for mode, value in zip(MODES, layer.activation_mb, strict=True)
            ),
        )
    if layer.kind is LayerKind.HEAD:
        change = -(1 - 1 / num_splits) * sizes.head_mb
    else:
        change = (-(3 - 3 / num_splits) + (num_splits - 1) / num_splits) * sizes.loss_mb
    return replace(layer, parameter_mb=max(layer.parameter_mb + change, 0.0))
