"""Rows that bound the step time of every plan from below, collected while plans are tried."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from sapp_core.balancer.critical_path import Path, critical_paths
from sapp_core.balancer.plan_space import PlanSpace

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class PathRows:
    """Paths as rows `step time ≥ constant + weights · x`, each at most once.

    Args:
        space: of plans.
    """

    def __init__(self, space: PlanSpace) -> None:
        self._space = space
        self._known: set[bytes] = set()
        # Twice as long when they are full: appending to arrays of thousands of rows, again and again, would cost more
        # than all else.
        self._op_weights: Floats = np.zeros((64, len(space.fixed)))
        self._weights: Floats = np.zeros((64, space.size))
        self._delays: Floats = np.zeros(64)
        self._constants: Floats = np.zeros(64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def op_weights(self) -> Floats:
        """`[row][flat op]`, how often each path runs each op."""
        return self._op_weights[: self._count]

    @property
    def weights(self) -> Floats:
        """`[row][j]`, per layer of a plan vector."""
        return self._weights[: self._count]

    @property
    def delays(self) -> Floats:
        """`[row]`, transfers."""
        return self._delays[: self._count]

    @property
    def constants(self) -> Floats:
        """`[row]`, head, tail and transfers."""
        return self._constants[: self._count]

    def add_from(self, vector: Floats) -> tuple[float, int]:
        """Add the critical paths of a (fractional) plan; its step time, and how many of them are new."""
        return self.add_from_times(self._space.op_times(vector[np.newaxis])[0])

    def add_from_times(self, durations: Floats, most: int | None = None) -> tuple[float, int]:
        """The same from durations, `[kind][chunk][stage]`; of the paths, the longest ones alone if asked for."""
        found = critical_paths(self._space.prepared, durations)
        return found[0].length, self._add(found[:most])

    def _add(self, paths: Iterable[Path]) -> int:
        unknown = {key: path for path in paths if (key := path.weights.tobytes()) not in self._known}
        if new := list(unknown.values()):
            self._known.update(unknown)
            rows = slice(self._count, self._count + len(new))
            while rows.stop > len(self._delays):
                self._op_weights, self._weights, self._delays, self._constants = (
                    np.concatenate([array, np.zeros((max(64, len(array)), *array.shape[1:]))])
                    for array in (self._op_weights, self._weights, self._delays, self._constants)
                )
            weights = np.array([path.weights for path in new])
            delays = np.array([path.transfers for path in new]) * self._space.question.schedule.pipeline.p2p_time
            self._op_weights[rows], self._weights[rows] = weights, weights @ self._space.durations
            self._delays[rows], self._constants[rows] = delays, weights @ self._space.fixed + delays
            self._count = rows.stop
        return len(new)

    def lengths(self, vector: Floats) -> Floats:
        """`[row]`, length of every path under a plan."""
        # A matrix product would wait for threads that have no core of their own.
        lengths: Floats = self.constants + np.einsum("rj,j->r", self.weights, vector)
        return lengths

    def lengths_of_times(self, durations: Floats) -> Floats:
        """`[row]`, the same under durations, `[kind][chunk][stage]`."""
        lengths: Floats = self.delays + np.einsum("rj,j->r", self.op_weights, durations.ravel())
        return lengths

    def keep_longest(self, scores: Floats, count: int, least: float = -np.inf) -> Ints:
        """Forget all but the paths with the highest scores (`[row]`), and all with one below `least`.

        Returns:
            The old numbers of those that are kept, ascending.
        """
        best = np.sort(np.argsort(-scores, kind="stable")[:count])
        kept: Ints = best[scores[best] >= least]
        self._op_weights, self._weights = self._op_weights[kept], self._weights[kept]
        self._delays, self._constants = self._delays[kept], self._constants[kept]
        self._count = len(kept)
        self._known = {row.tobytes() for row in self._op_weights}
        return kept
