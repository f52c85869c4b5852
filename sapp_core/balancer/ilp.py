"""The integer program behind every balancing: which layers sit in which virtual stage, under which recompute mode.

Everything is said in virtual stages, so that loop, V and bidirectional placements share one builder: a cell's time
and memory are linear expressions of the layers in its virtual stage. Objectives are added by other modules.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pulp import LpAffineExpression, LpInteger, LpMinimize, LpProblem, LpVariable, lpSum

from sapp_core.balancer.time_unit import TimeUnit
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Plan, placed
from sapp_core.domain.profile import MODES, LayerProfile, ModelProfile

LayerValue = Callable[[LayerProfile, int], float]
"""A number of one layer under the mode `MODES[r]`: (layer, r) → time or memory."""

Vectors = tuple[tuple[tuple[float, ...], ...], ...]
"""Micro-batches in flight, `[stage][i][chunk]`: memory is highest at one of the i."""


def activation_mb(layer: LayerProfile, r: int) -> float:
    """Kept from forward to backward for one micro-batch, MiB; head and tail layers may not give it."""
    return layer.activation_mb[r] or 0.0


@dataclass(frozen=True, slots=True, eq=False)
class PlacementProgram:
    """Variables and placement rows of one balancing; objective and further rows are added to `problem`.

    Attributes:
        profile: what is placed.
        pipeline: where.
        unit: of all times in the program.
        modes: indices into `MODES` of the modes considered.
        problem: the program so far.
        counts: `[ℓ][i][v]`, layers of body kind ℓ under mode `modes[i]` in virtual stage v.
    """

    profile: ModelProfile
    pipeline: Pipeline
    unit: TimeUnit
    modes: tuple[int, ...]
    problem: LpProblem
    counts: tuple[tuple[tuple[LpVariable, ...], ...], ...]

    def forward_time(self, layer: LayerProfile, _: int) -> float:
        """Forward of one layer, in the program's unit of time."""
        return self.unit.of(layer.forward_time)

    def backward_time(self, layer: LayerProfile, r: int) -> float:
        """Backward of one layer under mode `MODES[r]`, recomputation included, in the program's unit of time."""
        return self.unit.of(layer.backward_time[r])

    def body(self, value: LayerValue, chunk: int, stage: int) -> LpAffineExpression:
        """Sum of a value over the body layers of a cell."""
        v = self.pipeline.virtual_stage(chunk, stage)
        return lpSum(
            weight * rows[i][v]
            for layer, rows in zip(self.profile.body, self.counts, strict=True)
            for i, r in enumerate(self.modes)
            if (weight := value(layer, r))
        )

    def ends(self, value: LayerValue, chunk: int, stage: int) -> float:
        """Sum of a value over the head and tail layers of a cell."""
        v = self.pipeline.virtual_stage(chunk, stage)
        layers = (self.profile.head if v == 0 else ()) + (
            self.profile.tail if v == self.pipeline.num_virtual_stages - 1 else ()
        )
        return sum(layer.num_layers * value(layer, 0) for layer in layers)

    def cell(self, value: LayerValue, chunk: int, stage: int) -> LpAffineExpression:
        """Sum of a value over everything in a cell."""
        return self.body(value, chunk, stage) + self.ends(value, chunk, stage)

    def memory(self, in_flight: tuple[float, ...], stage: int) -> LpAffineExpression:
        """Memory of a stage while `in_flight[chunk]` micro-batches are alive, MiB.

        Parameters of every cell count, so those of a bidirectional pipeline count twice.
        """

        def held(alive: float) -> LayerValue:
            return lambda layer, r: alive * activation_mb(layer, r) + layer.parameter_mb

        cells = (self.cell(held(alive), chunk, stage) for chunk, alive in enumerate(in_flight))
        return lpSum(cells) + self.profile.constant_mb

    def limit_memory(self, vectors: Vectors, limits: Sequence[float | LpAffineExpression]) -> None:
        """Add the rows that keep every stage within its limit (`[stage]`, MiB)."""
        for stage, limit in enumerate(limits):
            for i, in_flight in enumerate(vectors[stage]):
                self.problem.addConstraint(self.memory(in_flight, stage) <= limit, f"memory_s{stage}_{i}")

    def pin(self, v: int, layers: int) -> None:
        """Add the row that gives a virtual stage this number of body layers."""
        held = lpSum(row[v] for rows in self.counts for row in rows)
        self.problem.addConstraint(held == layers, f"pinned_v{v}")

    def plan(self, values: Mapping[str, float]) -> Plan:
        """The plan that the values of the variables say, rounded to whole layers."""
        layers = []
        for layer, rows in zip(self.profile.body, self.counts, strict=True):
            entries = [
                (MODES[r], chunk, stage, count)
                for r, row in zip(self.modes, rows, strict=True)
                for v, variable in enumerate(row)
                if (count := round(values[variable.name]))
                for chunk, stage in self.pipeline.cells(v)
            ]
            layers.append(placed(layer.name, self.pipeline, entries))
        return Plan(tuple(layers))

    def fix(self, plan: Plan) -> None:
        """Leave one plan as the only answer: the rows tell whether it is allowed, the objective what it is worth."""
        for placement, rows in zip(plan.layers, self.counts, strict=True):
            for r, row in zip(self.modes, rows, strict=True):
                for v, variable in enumerate(row):
                    chunk, stage = self.pipeline.cells(v)[0]
                    count = placement.counts[r][chunk][stage]
                    variable.bounds(count, count)


def placement_program(profile: ModelProfile, pipeline: Pipeline, unit: TimeUnit) -> PlacementProgram:
    """Variables and rows that make a plan: every layer once, no empty cell, kinds in model order."""
    problem = LpProblem("balance", LpMinimize)
    modes = tuple(MODES.index(mode) for mode in profile.modes)
    counts = tuple(
        tuple(
            tuple(
                problem.add_variable(f"x_k{kind}_{MODES[r]}_v{v}", 0, layer.num_layers, LpInteger)
                for v in range(pipeline.num_virtual_stages)
            )
            for r in modes
        )
        for kind, layer in enumerate(profile.body)
    )
    program = PlacementProgram(profile, pipeline, unit, modes, problem, counts)
    for kind, (layer, rows) in enumerate(zip(profile.body, counts, strict=True)):
        problem += lpSum(variable for row in rows for variable in row) == layer.num_layers, f"all_of_k{kind}"
    for v in must_hold_body(profile, pipeline):
        problem += lpSum(row[v] for rows in counts for row in rows) >= 1, f"not_empty_v{v}"
    _keep_model_order(program)
    if enforces_recompute_first(profile):
        _recompute_first(program)
    return program


def must_hold_body(profile: ModelProfile, pipeline: Pipeline) -> tuple[int, ...]:
    """Virtual stages that need a body layer: all but those of head and tail."""
    last = pipeline.num_virtual_stages - 1
    return tuple(v for v in range(last + 1) if not ((v == 0 and profile.head) or (v == last and profile.tail)))


def enforces_recompute_first(profile: ModelProfile) -> bool:
    """Whether recomputed layers come first inside a cell, as MindFormers needs: said only for exactly two modes."""
    return len(profile.body) > 1 and len(profile.modes) == 2


def _keep_model_order(program: PlacementProgram) -> None:
    """A kind starts only where the kind before it has ended; both may share that virtual stage.

    `before[v]` counts a kind's layers in the virtual stages before v, `started[v]` is 1 when there are any, and then
    all layers of the preceding kind must be there too. Each big-M is the number of layers of its kind, the tightest
    there is: a huge one would let a solver round the rows away.
    """
    if len(program.profile.body) == 1:
        return
    problem = program.problem
    stages = range(1, program.pipeline.num_virtual_stages)
    ended: dict[int, LpVariable] = {}
    for kind, (layer, rows) in enumerate(zip(program.profile.body, program.counts, strict=True)):
        size = layer.num_layers
        before = {v: problem.add_variable(f"before_k{kind}_v{v}", 0, size) for v in stages}
        for v in stages:
            here = lpSum(row[v - 1] for row in rows) + before.get(v - 1, 0)
            problem += before[v] == here, f"before_k{kind}_v{v}"
            if kind:
                preceding = program.profile.body[kind - 1].num_layers
                started = problem.add_variable(f"started_k{kind}_v{v}", 0, 1, LpInteger)
                problem += before[v] <= size * started, f"started_k{kind}_v{v}"
                problem += ended[v] >= preceding * started, f"ended_k{kind - 1}_v{v}"
        ended = before


def _recompute_first(program: PlacementProgram) -> None:
    """Inside a cell, a kind has no stored layers when a later kind has recomputed ones."""
    problem = program.problem
    body = program.profile.body
    for v in range(program.pipeline.num_virtual_stages):
        for kind, layer in enumerate(body[:-1]):
            later = problem.add_variable(f"recomputed_after_k{kind}_v{v}", 0, 1, LpInteger)
            for after in range(kind + 1, len(body)):
                recomputed = program.counts[after][-1][v]
                problem += recomputed <= body[after].num_layers * later, f"recomputed_k{after}_after_k{kind}_v{v}"
            problem += program.counts[kind][0][v] <= layer.num_layers * (1 - later), f"all_recomputed_k{kind}_v{v}"
