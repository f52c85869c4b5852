"""Choosing one pattern for each stage: a tighter relaxation than fractional plans, and at last an exact program.

Memory rows are gone, the patterns keep them. A stage that would like 3.8 layers can only mix what 3 and 4 whole layers
cost. Whole layers per stage, then one pattern a stage tighten it step by step.
"""

import numpy as np
from numpy.typing import NDArray
from pulp import LpAffineExpression, LpMinimize, LpProblem, LpVariable, lpSum

from sapp_core.balancer.live_model import LiveModel
from sapp_core.balancer.path_bound import STEP
from sapp_core.balancer.path_rows import PathRows
from sapp_core.balancer.plan_space import PlanSpace
from sapp_core.balancer.stage_patterns import Pattern
from sapp_core.balancer.time_unit import TimeUnit
from sapp_core.simulator.engine import op_durations

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

WHOLE = 1e-6
"""A share this near to 1 is the choice of one pattern."""


class PatternModel:
    """The choice in HiGHS, to be bounded by paths.

    Args:
        space: of plans.
        patterns: `[stage]`, what each stage can do.
        unit: of time in the model.
        seed: of the solver's random choices.

    Attributes:
        live: the program.
        levels: names of the variables to make whole-numbered, level after level; after the last one it is exact.
    """

    def __init__(self, space: PlanSpace, patterns: tuple[tuple[Pattern, ...], ...], unit: TimeUnit, seed: int) -> None:
        self._space = space
        self._patterns = patterns
        self._scale = unit.to_profile(1.0)
        names = _Names(patterns)
        self.live = LiveModel(_program(space, patterns, names, self._scale), seed, relax=False)
        self.levels = (names.layers, [name for stage in names.shares for name in stage])
        self._shares = [np.array([self.live.column[name] for name in stage]) for stage in names.shares]
        self._layers = np.array([self.live.column[name] for name in names.layers], dtype=np.int32)
        self._backward = np.array([self.live.column[name] for name in names.backward], dtype=np.int32)
        self._step = self.live.column[STEP]
        # An op lasts `per_layer` for each layer of its cell and `per_time` for each unit of their backward time.
        (layer,) = space.question.profile.body
        pipeline = space.question.schedule.pipeline
        forward, plain, nothing, one = (np.array(x) for x in (layer.forward_time, layer.backward_time[0], 0.0, 1.0))
        self._per_layer = op_durations(forward, plain, -plain, pipeline)
        self._per_time = op_durations(nothing, nothing, one, pipeline)

    def add_paths(self, rows: PathRows, numbers: Ints) -> None:
        """Add `step ≥ constant + what the path does in each cell` for each."""
        visits = rows.op_weights[numbers].reshape(len(numbers), len(self._per_layer), -1)
        on_layers = np.einsum("k,rkc->rc", self._per_layer, visits) / self._scale
        on_backward = np.einsum("k,rkc->rc", self._per_time, visits)
        columns = np.concatenate([self._layers, self._backward, [self._step]]).astype(np.int32)
        weights = np.column_stack([-on_layers, -on_backward, np.ones(len(numbers))])
        self.live.add_rows(rows.constants[numbers] / self._scale, columns, weights)

    def op_times(self, values: Floats) -> Floats:
        """`[kind][chunk][stage]`, durations of an answer, whether its layers are whole or not."""
        layers, backward = values[self._layers], values[self._backward] * self._scale
        times = np.outer(self._per_layer, layers) + np.outer(self._per_time, backward)
        fixed = self._space.fixed.reshape(times.shape)
        pipeline = self._space.question.schedule.pipeline
        return (times + fixed).reshape(-1, pipeline.num_chunks, pipeline.num_stages)

    def vector(self, values: Floats) -> Floats | None:
        """The plan of an answer; None when some stage mixes patterns."""
        vector = np.zeros(self._space.size)
        for stage, columns in enumerate(self._shares):
            chosen = int(np.argmax(values[columns]))
            if values[columns[chosen]] < 1 - WHOLE:
                return None
            vector[self._space.cell == stage] = self._patterns[stage][chosen].modes
        return vector


class _Names:
    """Of variables: `[stage][pattern]` shares, `[stage]` layers and backward times."""

    def __init__(self, patterns: tuple[tuple[Pattern, ...], ...]) -> None:
        stages = range(len(patterns))
        self.shares = [[f"share_s{s}_{i}" for i in range(len(patterns[s]))] for s in stages]
        self.layers = [f"layers_s{s}" for s in stages]
        self.backward = [f"backward_s{s}" for s in stages]


def _program(space: PlanSpace, patterns: tuple[tuple[Pattern, ...], ...], names: _Names, scale: float) -> LpProblem:
    """One mix of patterns a stage, all layers placed; the step time is bounded by nothing yet."""
    problem = LpProblem("patterns", LpMinimize)
    problem += problem.add_variable(STEP, 0)
    total = int(space.per_kind[0])
    counts = []
    for stage, choices in enumerate(patterns):
        mix = [problem.add_variable(name, 0, 1) for name in names.shares[stage]]
        problem += lpSum(mix) == 1, f"one_s{stage}"
        layers = problem.add_variable(names.layers[stage], 0, total)
        backward = problem.add_variable(names.backward[stage], 0)
        problem += _mean(mix, [choice.layers for choice in choices]) == layers, f"layers_{stage}"
        problem += _mean(mix, [choice.backward / scale for choice in choices]) == backward, f"time_{stage}"
        counts.append(layers)
    problem += lpSum(counts) == total, "all"
    return problem


def _mean(shares: list[LpVariable], values: list[float]) -> LpAffineExpression:
    return lpSum(value * share for share, value in zip(shares, values, strict=True) if value)
