"""A model of equal layers, one a virtual stage: what shows a schedule as it is, without a real model."""

from dataclasses import dataclass
from math import isfinite

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.profile import MODES, LayerKind, LayerProfile, ModelProfile, RecomputeMode, TrainingShape
from sapp_core.errors import ProfileError

NAME = "unit times"
_MODE = RecomputeMode.SELECT
"""The layers recompute something; full recomputation is left out where micro-batches are split."""
_NOTHING_TO_SPLIT = TrainingShape(
    batch_size=0, num_heads=0, seq_length=0, head_dim=0, hidden_size=0, vocab_size=0, model_parallel=1
)
"""No keys, values or logits: the splits of a micro-batch share its activations evenly."""


@dataclass(frozen=True, slots=True)
class UnitTimes:
    """How long ops take.

    Attributes:
        forward: F.
        backward: B without recomputation; where it is split, I and W have their shares of it.
        recompute: what recomputation adds to B, or to I.
        of_stage: whether these are times of all chunks of a stage together, so that schedules with different numbers
            of chunks do the same work, or of each chunk.
    """

    forward: float = 1.0
    backward: float = 2.0
    recompute: float = 0.0
    of_stage: bool = False

    def __post_init__(self) -> None:
        problems = [
            f"{name}: must be a number of at least 0, found {value!r}."
            for name in ("forward", "backward", "recompute")
            if not (isfinite(value := getattr(self, name)) and value >= 0)
        ]
        if not problems and self.forward + self.backward <= 0:
            problems = ["forward: must be above 0 where backward is 0, found 0."]
        if problems:
            raise ProfileError(*problems)


def unit_profile(pipeline: Pipeline, times: UnitTimes) -> ModelProfile:
    """One body layer for each virtual stage, so that the even split gives every cell exactly one.

    Activations are 1 MiB a cell and micro-batch: memory counts what is in flight.
    """
    chunks = pipeline.num_virtual_stages / pipeline.num_stages if times.of_stage else 1.0
    forward, backward, recompute = (time / chunks for time in (times.forward, times.backward, times.recompute))
    layer = LayerProfile(
        name="layer",
        kind=LayerKind.BODY,
        num_layers=pipeline.num_virtual_stages,
        forward_time=forward,
        backward_time=tuple(backward + (recompute if mode is _MODE else 0.0) for mode in MODES),
        parameter_mb=0.0,
        activation_mb=tuple(1.0 if mode is _MODE else None for mode in MODES),
    )
    return ModelProfile(NAME, (layer,), time_unit="units", training=_NOTHING_TO_SPLIT)
