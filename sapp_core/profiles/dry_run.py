"""Peak memory of whole stages → memory of one layer, by least squares.

Under 1F1B, stage `i` of `S` holds `S − i` micro-batches at its peak. With `n` layers of which `n[r]` run under
recompute mode `r`, its peak is

    constant + n · parameter + (S − i) · Σ_r n[r] · activation[r]

and the first and last stage hold the head and the tail besides. The stages between determine the unknowns; head and
tail are what is left on theirs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapp_core.domain.profile import MODES, RecomputeMode

_NO_RANK = 1e-9
"""Singular values below this share of the largest one are 0; columns have length 1 before."""

CONSTANT, PARAMETER = "the constant", "the parameters of a layer"


@dataclass(frozen=True, slots=True)
class StagePeak:
    """What one stage of a dry run held and needed.

    Attributes:
        stage: from 0.
        layers: `[r]`, layers under each recompute mode.
        peak_mb: MiB.
        round: of the dry run, from 0.
    """

    stage: int
    layers: tuple[int, ...]
    peak_mb: float
    round: int = 0

    @property
    def num_layers(self) -> int:
        """Under any mode."""
        return sum(self.layers)


@dataclass(frozen=True, slots=True)
class DryRun:
    """Measured peaks, all rounds together.

    Attributes:
        num_stages: of the pipeline.
        peaks: of stages, in the order of the input.
    """

    num_stages: int
    peaks: tuple[StagePeak, ...]

    @property
    def body(self) -> tuple[StagePeak, ...]:
        """Stages without head and tail."""
        return tuple(peak for peak in self.peaks if 0 < peak.stage < self.num_stages - 1)

    @property
    def modes(self) -> tuple[RecomputeMode, ...]:
        """Those that any layer of a body stage runs under: the ones that have an unknown."""
        return tuple(mode for r, mode in enumerate(MODES) if any(peak.layers[r] for peak in self.body))


@dataclass(frozen=True, slots=True)
class Residual:
    """How well the answer explains a stage.

    Attributes:
        measured: the stage.
        predicted_mb: its peak by the answer, MiB.
    """

    measured: StagePeak
    predicted_mb: float

    @property
    def difference_mb(self) -> float:
        """Measured beyond predicted, MiB."""
        return self.measured.peak_mb - self.predicted_mb

    @property
    def share(self) -> float:
        """Size of the difference, of the measured peak."""
        return abs(self.difference_mb) / self.measured.peak_mb


@dataclass(frozen=True, slots=True)
class Decomposition:
    """Memory of the parts that the stages are made of, MiB.

    Attributes:
        constant_mb: on every stage; None where the stages were too few to tell, so that it counts as 0.
        parameter_mb: static memory of a layer.
        activation_mb: `[r]`, of a layer for one micro-batch; None = the mode did not occur.
        head_mb: of the head, mean over rounds; 0 where the first stage was not measured.
        tail_mb: of the tail, likewise.
        residuals: of every measured stage, in the order of the input.
        condition: condition number of the equations, columns scaled to length 1: how much errors of the peaks grow.
    """

    constant_mb: float | None
    parameter_mb: float
    activation_mb: tuple[float | None, ...]
    head_mb: float
    tail_mb: float
    residuals: tuple[Residual, ...]
    condition: float


@dataclass(frozen=True, slots=True)
class Unsolvable:
    """Why the peaks do not determine the memory of a layer.

    Attributes:
        reason: one sentence.
    """

    reason: str


def decompose(dry_run: DryRun) -> Decomposition | Unsolvable:
    """Memory of layers, head and tail from the peaks of stages.

    With one equation less than unknowns, the constant counts as 0.
    """
    body, modes = dry_run.body, dry_run.modes
    with_constant = len(body) >= 2 + len(modes)
    if not modes or len(body) < 1 + len(modes):
        return Unsolvable(_too_few(len(body), modes))
    matrix = equations(dry_run.num_stages, body, modes, with_constant=with_constant)
    alike = _cannot_be_told_apart(matrix, modes, with_constant=with_constant)
    if alike:
        return Unsolvable(f"the measured stages cannot tell {' and '.join(alike)} apart{_why(body, alike)}.")
    scale = np.linalg.norm(matrix, axis=0)
    peaks = np.array([peak.peak_mb for peak in body])
    answer = np.linalg.lstsq(matrix / scale, peaks, rcond=None)[0] / scale
    constant = float(answer[0]) if with_constant else None
    parameter, *activations = (float(value) for value in answer[int(with_constant) :])
    of_mode = dict(zip(modes, activations, strict=True))
    activation = tuple(of_mode.get(mode) for mode in MODES)
    last = dry_run.num_stages - 1
    plain = [
        (peak, _predicted(peak, dry_run.num_stages, constant or 0.0, parameter, activation)) for peak in dry_run.peaks
    ]
    head, tail = (_mean([peak.peak_mb - mb for peak, mb in plain if peak.stage == end]) for end in (0, last))
    ends = {0: head, last: tail}
    residuals = tuple(Residual(peak, mb + ends.get(peak.stage, 0.0)) for peak, mb in plain)
    return Decomposition(constant, parameter, activation, head, tail, residuals, condition_of(matrix))


def equations(
    num_stages: int, peaks: Sequence[StagePeak], modes: Sequence[RecomputeMode], *, with_constant: bool
) -> NDArray[np.float64]:
    """Coefficients, a row for each stage: of the constant if wanted, of the parameters, of each mode's activations."""
    return np.array(
        [
            [
                *([1.0] if with_constant else []),
                float(peak.num_layers),
                *((num_stages - peak.stage) * float(peak.layers[MODES.index(mode)]) for mode in modes),
            ]
            for peak in peaks
        ]
    )


def condition_of(matrix: NDArray[np.float64]) -> float:
    """Condition number with columns scaled to length 1; infinite for a singular matrix."""
    scale = np.linalg.norm(matrix, axis=0)
    if matrix.shape[0] < matrix.shape[1] or not scale.all():
        return float("inf")
    values = np.linalg.svd(matrix / scale, compute_uv=False)
    return float(values[0] / values[-1]) if values[-1] > _NO_RANK * values[0] else float("inf")


def _cannot_be_told_apart(
    matrix: NDArray[np.float64], modes: Sequence[RecomputeMode], *, with_constant: bool
) -> list[str]:
    """Unknowns that can change together without changing any equation; empty when there are none."""
    names = [*([CONSTANT] if with_constant else []), PARAMETER, *(f"the activations under {mode}" for mode in modes)]
    _, values, directions = np.linalg.svd(matrix / np.linalg.norm(matrix, axis=0), full_matrices=False)
    lost = directions[values <= _NO_RANK * values[0]]
    return [name for name, part in zip(names, np.abs(lost).max(axis=0, initial=0.0), strict=True) if part > 1e-6]


def _why(body: Sequence[StagePeak], alike: Sequence[str]) -> str:
    counts = {peak.num_layers for peak in body}
    if len(counts) == 1 and {CONSTANT, PARAMETER} <= set(alike):
        return f", because all of them hold {counts.pop():,} layers"
    return ""


def _too_few(num_body: int, modes: Sequence[RecomputeMode]) -> str:
    if not modes:
        return "no stage between the first and the last one was measured with a layer on it."
    occurring = ", ".join(modes)
    return (
        f"{num_body:,} stages between the first and the last one were measured, but parameters and activations "
        f"under {occurring} need at least {1 + len(modes)}."
    )


def _predicted(
    peak: StagePeak, num_stages: int, constant: float, parameter: float, activation: Sequence[float | None]
) -> float:
    """Peak of a stage without head and tail; modes without a value count 0."""
    kept = sum(count * (value or 0.0) for count, value in zip(peak.layers, activation, strict=True))
    return constant + peak.num_layers * parameter + (num_stages - peak.stage) * kept


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
