"""What a fractional plan is divided on: sums of variables that are whole in every plan.

Coarse ones come first. Where one kind of layer ends and the next begins decides most. Then the layers of a stage: a
stage that would like 6.2 of them has 6 or 7, and then it is the bottleneck, or others must take more.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapp_core.balancer.path_bound import PlanModel

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

WHOLE = 1e-6
"""A sum this near to a whole number is one."""
LOOKED_AT = 20
"""Sums compared before one is chosen, the most fractional ones."""


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Sums of variables that are whole in every plan.

    Attributes:
        weights: `[sum][column]`, 0 or 1.
        level: `[sum]`; those of a lower one are divided first.
    """

    weights: Floats
    level: Ints

    def fractional(self, values: Floats) -> tuple[Ints, Floats]:
        """Numbers of the sums of the lowest level that are not whole, at most `LOOKED_AT`, and `[sum]` all sums."""
        sums: Floats = np.einsum("sj,j->s", self.weights, values)
        distance = np.abs(sums - np.rint(sums))
        broken = np.flatnonzero(distance > WHOLE)
        if len(broken):
            broken = broken[self.level[broken] == self.level[broken].min()]
        return broken[np.argsort(-distance[broken], kind="stable")[:LOOKED_AT]], sums


def whole_sums(model: PlanModel) -> Sums:
    """All sums of a relaxed program: where kinds begin, stages, kinds in stages, kinds in cells, and variables."""
    space = model.space
    pipeline = space.question.schedule.pipeline
    stage = np.array([pipeline.cells(v)[0][1] for v in range(pipeline.num_virtual_stages)])[space.cell]
    together = [
        (np.zeros(space.size, dtype=np.intp), stage),
        (space.kind, stage),
        (space.kind, space.cell),
        (np.arange(space.size), np.zeros(space.size, dtype=np.intp)),
    ]
    groups: dict[bytes, tuple[int, Ints]] = {}
    switches = np.setdiff1d(model.whole_columns, model.columns)
    for column in switches:
        groups[bytes([0]) + np.array([column]).tobytes()] = 0, np.array([column])
    for level, (kind, place) in enumerate(together, start=1):
        for pair in sorted(set(zip(kind.tolist(), place.tolist(), strict=True))):
            columns = model.columns[(kind == pair[0]) & (place == pair[1])]
            groups.setdefault(columns.tobytes(), (level, columns))
    weights = np.zeros((len(groups), model.live.num_columns))
    for row, (_, columns) in zip(weights, groups.values(), strict=True):
        row[columns] = 1.0
    return Sums(weights, np.array([level for level, _ in groups.values()]))


class Gains:
    """What dividing on each sum has raised the bound by, per unit of distance: pseudo-costs.

    Args:
        count: of sums.
    """

    def __init__(self, count: int) -> None:
        self._total = np.zeros((count, 2))
        self._seen = np.zeros((count, 2), dtype=np.intp)

    def learn(self, number: int, side: int, gain: float, distance: float) -> None:
        """One division: side 0 is downwards, 1 upwards."""
        self._total[number, side] += gain / distance
        self._seen[number, side] += 1

    def expected(self, number: int, side: int, distance: float) -> float | None:
        """Gain to expect; None when the sum was never divided that way."""
        seen = int(self._seen[number, side])
        return None if not seen else float(self._total[number, side]) / seen * distance
