"""Rows that bound the step time of every plan from below, collected while plans are tried."""

import numpy as np
from numpy.typing import NDArray

from sapp_core.balancer.critical_path import critical_paths
from sapp_core.balancer.plan_space import PlanSpace

Floats = NDArray[np.float64]


class PathRows:
    """Paths as rows `step time ≥ constant + weights · x`, each at most once.

    Attributes:
        op_weights: `[row][flat op]`, how often each path runs each op.
        weights: `[row][j]`, per layer of a plan vector.
        delays: `[row]`, transfers.
        constants: `[row]`, head, tail and transfers.
    """

    def __init__(self, space: PlanSpace) -> None:
        self._space = space
        self._known: set[bytes] = set()
        self.op_weights: Floats = np.zeros((0, len(space.fixed)))
        self.weights: Floats = np.zeros((0, space.size))
        self.delays: Floats = np.zeros(0)
        self.constants: Floats = np.zeros(0)

    def add_from(self, vector: Floats) -> tuple[float, int]:
        """Add the critical paths of a (fractional) plan; its step time, and how many of them are new."""
        return self.add_from_times(self._space.op_times(vector[np.newaxis])[0])

    def add_from_times(self, durations: Floats) -> tuple[float, int]:
        """The same from durations, `[kind][chunk][stage]`."""
        found = critical_paths(self._space.prepared, durations)
        new = [path for path in found if path.weights.tobytes() not in self._known]
        if new:
            self._known.update(path.weights.tobytes() for path in new)
            weights = np.array([path.weights for path in new])
            delays = np.array([path.transfers for path in new]) * self._space.question.schedule.pipeline.p2p_time
            self.op_weights = np.vstack([self.op_weights, weights])
            self.weights = np.vstack([self.weights, weights @ self._space.durations])
            self.delays = np.append(self.delays, delays)
            self.constants = np.append(self.constants, weights @ self._space.fixed + delays)
        return found[0].length, len(new)

    def lengths(self, vector: Floats) -> Floats:
        """`[row]`, length of every path under a plan."""
        lengths: Floats = self.constants + self.weights @ vector
        return lengths

    def lengths_of_times(self, durations: Floats) -> Floats:
        """`[row]`, the same under durations, `[kind][chunk][stage]`."""
        lengths: Floats = self.delays + self.op_weights @ durations.ravel()
        return lengths

    def keep_longest(self, scores: Floats, count: int, least: float = -np.inf) -> None:
        """Forget all but the paths with the highest scores (`[row]`), and all with one below `least`."""
        best = np.sort(np.argsort(-scores, kind="stable")[:count])
        kept = best[scores[best] >= least]
        self.op_weights, self.weights = self.op_weights[kept], self.weights[kept]
        self.delays, self.constants = self.delays[kept], self.constants[kept]
        self._known = {row.tobytes() for row in self.op_weights}
