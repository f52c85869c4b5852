"""The paths that make a step as long as it is.

A step's time is the longest path through the slots. The length of one path is linear in the durations of the ops on
it, so it bounds the step time from below for every plan, not only for the one it was found with.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapp_core.simulator.engine import PreparedSchedule, slot_ends

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """One path.

    Attributes:
        weights: flat `[kind][chunk][stage]`, how often it runs each op; overlapped ops count a part each.
        transfers: how often its data crosses stages.
        length: under the durations it was found with.
    """

    weights: Floats
    transfers: int
    length: float


def critical_paths(prepared: PreparedSchedule, durations: Floats) -> tuple[Path, ...]:
    """The longest path to the last slot of every stage, the longest of all first.

    Args:
        prepared: the order.
        durations: `[kind][chunk][stage]`.
    """
    ends = slot_ends(prepared, durations)
    pipeline = prepared.schedule.pipeline
    nothing = prepared.num_slots
    sources = np.vstack([prepared.previous, prepared.needed])
    crosses = np.zeros(sources.shape, dtype=bool)
    crosses[1:] = prepared.needed < nothing
    decisive = np.argmax(ends[sources] + pipeline.p2p_time * crosses, axis=0)
    rows = np.arange(nothing)
    before, late = sources[decisive, rows].tolist(), crosses[decisive, rows].tolist()
    classes = prepared.duration_class.tolist()

    closing = np.ones(nothing + 1, dtype=bool)
    closing[prepared.previous] = False
    lasts = np.flatnonzero(closing[:nothing]).tolist()
    visits = np.zeros((len(lasts), prepared.class_ops.shape[1]))
    transfers = [0] * len(lasts)
    for number, last in enumerate(lasts):
        row, visited = last, Counter[int]()
        while row < nothing:
            visited[classes[row]] += 1
            transfers[number] += late[row]
            row = before[row]
        visits[number, list(visited)] = list(visited.values())
    weights = _op_weights(prepared, durations, visits)
    paths = (Path(*path) for path in zip(weights, transfers, ends[lasts].tolist(), strict=True))
    return tuple(sorted(paths, key=lambda path: -path.length))


def _op_weights(prepared: PreparedSchedule, durations: Floats, visits: Floats) -> Floats:
    """`[path][flat op]` from `[path][duration class]`: the parts of its ops that a slot lasts, under these durations.

    Two ops that overlap last the longer one and what η leaves of the shorter one: the larger of two linear pieces.
    """
    flat = durations.ravel()
    first, second = prepared.class_ops
    alone = second < 0
    exposed = 1.0 - prepared.schedule.pipeline.overlap_efficiency
    first_is_longer = alone | (flat[first] >= flat[second])
    weights = np.zeros((len(visits), len(flat)))
    paths = np.arange(len(visits))[:, np.newaxis]
    np.add.at(weights, (paths, first), visits * np.where(first_is_longer, 1.0, exposed))
    np.add.at(weights, (paths, second[~alone]), visits[:, ~alone] * np.where(first_is_longer[~alone], exposed, 1.0))
    return weights
