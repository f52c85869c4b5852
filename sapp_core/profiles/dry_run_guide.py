"""The guide: which offsets and recompute counts a next dry run should have, so that its peaks determine everything."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from sapp_core.domain.profile import MODES, RecomputeMode
from sapp_core.domain.recompute_counts import FIELDS, counts_of_fields
from sapp_core.profiles.dry_run import StagePeak, condition_of, equations

_STAGES_TRIED = 1000
"""Of all candidates together: dozens of pipelines of the usual size, answered in a moment."""
_SWING = 2
"""Layers that a stage may have beyond or below the even share: a dry run far from even may not compile."""
_WELL_ENOUGH = 1e4
FEWEST_STAGES = 4
"""With one body stage, its layers and the sum of its modes are the same number."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A dry run to make.

    Attributes:
        num_stages: pipeline stages.
        num_layers: body layers.
        rounds: `[round][stage][r]`, layers under each recompute mode.
        condition: condition number of the equations that its peaks give.
    """

    num_stages: int
    num_layers: int
    rounds: tuple[tuple[tuple[int, ...], ...], ...]
    condition: float

    @property
    def offsets(self) -> tuple[tuple[int, ...], ...]:
        """`[round][stage]`, layers of a stage beyond the even share."""
        share = self.num_layers // self.num_stages
        return tuple(tuple(sum(layers) - share for layers in stages) for stages in self.rounds)

    def counts(self, field: str) -> tuple[tuple[int, ...], ...]:
        """`[round][stage]`, layers that a recompute key of MindFormers counts."""
        return tuple(
            tuple(counts_of_fields(dict(zip(MODES, layers, strict=True)))[field] for layers in stages)
            for stages in self.rounds
        )


def propose(num_stages: int, num_layers: int, modes: Sequence[RecomputeMode]) -> Proposal | None:
    """A legal dry run with well-conditioned equations for the constant, the parameters and the activations of modes.

    Every stage holds a layer, offsets stay small, and no stage has layers under `select` beside others under `comm`,
    for which MindFormers has no words. As many rounds as it takes; fewer stages where the layers do not suffice.

    Args:
        num_stages: of the pipeline; at least 4 are proposed.
        num_layers: body layers of the model.
        modes: that shall be measured; `none` alone when there are none.

    Returns:
        The best of many, the same for the same arguments; None when the model has too few layers.
    """
    wanted = tuple(modes) or (RecomputeMode.NONE,)
    most = min(max(num_stages, FEWEST_STAGES), num_layers - _SWING)
    for stages in range(most, FEWEST_STAGES - 1, -1):
        best = _best(stages, num_layers, wanted)
        if best.condition < _WELL_ENOUGH:
            return best
    return None


def proposal_text(proposal: Proposal) -> str:
    """The dry run as the YAML that it becomes when its peaks are filled in."""
    several = len(proposal.rounds) > 1
    stages = list(range(1, proposal.num_stages - 1))

    def said(rows: tuple[tuple[int, ...], ...]) -> str:
        return str([list(row) for row in rows] if several else list(rows[0]))

    each = ", a list with one number a round" if several else ""
    lines = [
        "# The next dry run: run these offsets and recompute counts, then fill in the peaks and upload this file.",
        "pipeline_config:",
        f"  pipeline_num: {proposal.num_stages}",
        f"  num_layer: {proposal.num_layers}",
        f"  offset: {said(proposal.offsets)}",
        "recompute_config:",
        *(f"  {field}: {said(proposal.counts(field))}" for field in FIELDS),
        "memory_usage:",
        f"  head_memory:   # peak of stage 0 in MB{each}, to be filled in",
        f"  tail_memory:   # peak of stage {proposal.num_stages - 1} in MB{each}, to be filled in",
        "  body_memories:",
        f"    stage_id: {[stages] * len(proposal.rounds) if several else stages}",
        "    memories:   # peaks of these stages in MB, in lists of the same form, to be filled in",
        "time_config:   # forward times, to be filled in",
        "  head:",
        "  body:",
        "  tail:",
    ]
    return "\n".join(lines) + "\n"


def _best(num_stages: int, num_layers: int, modes: tuple[RecomputeMode, ...]) -> Proposal:
    random = np.random.default_rng(0)
    num_rounds = -(-(2 + len(modes)) // (num_stages - 2))
    best: Proposal | None = None
    for _ in range(max(4, _STAGES_TRIED // (num_rounds * num_stages))):
        rounds = tuple(_round(num_stages, num_layers, modes, random) for _ in range(num_rounds))
        peaks = [StagePeak(s, stages[s], 0.0, k) for k, stages in enumerate(rounds) for s in range(1, num_stages - 1)]
        condition = condition_of(equations(num_stages, peaks, modes, with_constant=True))
        if best is None or condition < best.condition:
            best = Proposal(num_stages, num_layers, rounds, condition)
    return best or Proposal(num_stages, num_layers, (), inf)


def _round(
    num_stages: int, num_layers: int, modes: tuple[RecomputeMode, ...], random: np.random.Generator
) -> tuple[tuple[int, ...], ...]:
    """Random layers of every stage, `[stage][r]`; first and last stage as even as can be."""
    share = num_layers // num_stages
    low = max(1, share - _SWING)
    body = [int(random.integers(low, share + _SWING + 1)) for _ in range(num_stages - 2)]
    missing = num_layers - 2 * share - sum(body)
    while missing:
        stage = int(random.integers(len(body)))
        step = 1 if missing > 0 else -1
        if body[stage] + step >= 1:
            body[stage] += step
            missing -= step
    return tuple(_modes(count, modes, random) for count in (share, *body, share))


def _modes(count: int, modes: tuple[RecomputeMode, ...], random: np.random.Generator) -> tuple[int, ...]:
    """Layers of a stage spread over one to three modes that may stand together."""
    excluded = RecomputeMode.SELECT if random.integers(2) else RecomputeMode.COMM
    allowed = [mode for mode in modes if mode is not excluded] or list(modes)
    chosen = random.permutation(len(allowed))[: int(random.integers(1, 4))]
    shares = random.multinomial(count, np.full(len(chosen), 1 / len(chosen)))
    counts = {allowed[int(place)]: int(part) for place, part in zip(chosen, shares, strict=True)}
    return tuple(counts.get(mode, 0) for mode in MODES)
