"""All plans of a question as vectors of whole numbers, and what they cost as matrices.

Component j of a vector counts the layers of one body kind under one recompute mode in one virtual stage. Durations
and memory are linear in it, so thousands of plans are rated in a few matrix products.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapp_core.balancer.ilp import enforces_recompute_first, must_hold_body
from sapp_core.balancer.question import Question
from sapp_core.domain.plan import Plan, placed
from sapp_core.domain.profile import MODES, LayerProfile
from sapp_core.domain.schedule import OP_KINDS
from sapp_core.domain.timeline import MEMORY_ROUNDING_MB
from sapp_core.simulator.engine import PreparedSchedule, op_durations, prepare, step_times

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class PlanSpace:
    """The plans of one question.

    Attributes:
        question: what is placed, and where.
        prepared: the schedule, ready to simulate.
        kind: `[j]`, body kind.
        mode: `[j]`, index into the profile's modes.
        cell: `[j]`, virtual stage.
        per_kind: `[ℓ]`, layers to place.
        least: `[v]`, layers a virtual stage must hold.
        most: `[v]`, layers it may hold; a pinned one has both equal.
        layer_times: `[op kind][body kind and mode][v]`, time one layer adds to an op of its virtual stage.
        durations: `[flat op][j]`, the same as a matrix; flat is (op kind, chunk, stage).
        fixed: `[flat op]`, time of head and tail.
        memory: `[row][j]`, MiB one layer adds to a memory row.
        room: `[row]`, MiB left for the body.
    """

    question: Question
    prepared: PreparedSchedule
    kind: Ints
    mode: Ints
    cell: Ints
    per_kind: Ints
    least: Ints
    most: Ints
    layer_times: Floats
    durations: Floats
    fixed: Floats
    memory: Floats
    room: Floats

    @property
    def size(self) -> int:
        """Components of a vector."""
        return len(self.kind)

    def op_times(self, vectors: Floats) -> Floats:
        """`[batch][kind][chunk][stage]` from `[batch][j]`."""
        pipeline = self.question.schedule.pipeline
        grid = pipeline.num_chunks, pipeline.num_stages
        virtual = [pipeline.virtual_stage(chunk, stage) for chunk in range(grid[0]) for stage in range(grid[1])]
        # Most of the matrix is 0. And a matrix product would wait for threads that have no core of their own.
        layers = vectors.reshape(len(vectors), *self.layer_times.shape[1:])
        times = np.einsum("bmv,kmv->bkv", layers, self.layer_times)[:, :, virtual]
        op_times: Floats = times.reshape(len(vectors), -1, *grid) + self.fixed.reshape(-1, *grid)
        return op_times

    def step_times(self, vectors: Floats) -> Floats:
        """`[batch]`, simulated, from `[batch][j]`."""
        return step_times(self.prepared, self.op_times(vectors))

    def excess(self, vector: Floats) -> float:
        """MiB by which the memory rows are broken, all together."""
        return float(np.maximum(self.memory @ vector - self.room, 0.0).sum())

    def fits(self, vector: Floats) -> bool:
        """Whether every memory row is met."""
        return bool((self.memory @ vector <= self.room + MEMORY_ROUNDING_MB).all())

    def allows(self, vector: Floats) -> bool:
        """Whether whole layers form a plan that may be answered: cells filled, pins, order and memory kept."""
        one = vector[np.newaxis]
        return self.fits(vector) and bool(self.fills(one)[0]) and bool(self.in_order(one)[0])

    def fills(self, vectors: Floats) -> NDArray[np.bool_]:
        """`[batch]`: whether every virtual stage holds as many layers as it must and no more than it may."""
        held = vectors.reshape(len(vectors), -1, len(self.least)).sum(axis=1)
        fine: NDArray[np.bool_] = ((held >= self.least) & (held <= self.most)).all(axis=1)
        return fine

    def in_order(self, vectors: Floats) -> NDArray[np.bool_]:
        """`[batch]`: whether kinds follow each other along the virtual stages, and recomputed layers come first."""
        held = self._held(vectors)
        there = held.sum(axis=2) > 0
        count = there.shape[2]
        last = count - 1 - np.argmax(there[:, :, ::-1], axis=2)
        first = np.argmax(there, axis=2)
        fine: NDArray[np.bool_] = (last[:, :-1] <= first[:, 1:]).all(axis=1)
        if enforces_recompute_first(self.question.profile):
            stored, recomputed = held[:, :, 0] > 0, held[:, :, -1] > 0
            for kind in range(there.shape[1] - 1):
                fine &= ~(stored[:, kind] & recomputed[:, kind + 1 :].any(axis=1)).any(axis=1)
        return fine

    def vector(self, plan: Plan) -> Floats:
        """A plan as a vector."""
        pipeline = self.question.schedule.pipeline
        modes = [MODES.index(mode) for mode in self.question.profile.modes]
        cells = [pipeline.cells(v)[0] for v in range(pipeline.num_virtual_stages)]
        return np.array(
            [
                float(placement.counts[r][chunk][stage])
                for placement in plan.layers
                for r in modes
                for chunk, stage in cells
            ]
        )

    def plan(self, vector: Floats) -> Plan:
        """A vector of whole numbers as a plan."""
        profile, pipeline = self.question.profile, self.question.schedule.pipeline
        layers = []
        for number, layer in enumerate(profile.body):
            entries = [
                (profile.modes[self.mode[j]], chunk, stage, round(vector[j]))
                for j in np.flatnonzero((self.kind == number) & (vector > 0))
                for chunk, stage in pipeline.cells(int(self.cell[j]))
            ]
            layers.append(placed(layer.name, pipeline, entries))
        return Plan(tuple(layers))

    def _held(self, vectors: Floats) -> Floats:
        """`[batch][ℓ][mode][v]`."""
        return vectors.reshape(len(vectors), len(self.per_kind), -1, len(self.least))


def plan_space(question: Question) -> PlanSpace:
    """Matrices of a question, in the profile's own unit of time."""
    profile, pipeline = question.profile, question.schedule.pipeline
    modes = [MODES.index(mode) for mode in profile.modes]
    cells = pipeline.num_virtual_stages
    shape = (len(profile.body), len(modes), cells)
    kind, mode, cell = (axis.ravel() for axis in np.indices(shape))
    grid = (pipeline.num_chunks, pipeline.num_stages, len(kind) + 1)
    # The last column of each stands for head and tail.
    forward, backward, recompute, activation, parameter = (np.zeros(grid) for _ in range(5))

    def add(layer: LayerProfile, r: int, chunk: int, stage: int, column: int, count: int) -> None:
        at = chunk, stage, column
        forward[at] += count * layer.forward_time
        backward[at] += count * layer.backward_time[0]
        recompute[at] += count * (layer.backward_time[r] - layer.backward_time[0])
        activation[at] += count * (layer.activation_mb[r] or 0.0)
        parameter[at] += count * layer.parameter_mb

    for j in range(len(kind)):
        for chunk, stage in pipeline.cells(int(cell[j])):
            add(profile.body[kind[j]], modes[mode[j]], chunk, stage, j, 1)
    for layers, v in ((profile.head, 0), (profile.tail, cells - 1)):
        for layer in layers:
            for chunk, stage in pipeline.cells(v):
                add(layer, 0, chunk, stage, len(kind), layer.num_layers)

    times = op_durations(forward, backward, recompute, pipeline).reshape(-1, len(kind) + 1)
    first = [chunk * pipeline.num_stages + stage for chunk, stage in (pipeline.cells(int(v))[0] for v in cell)]
    by_cell = times.reshape(len(OP_KINDS), -1, len(kind) + 1)
    layer_times = by_cell[:, first, np.arange(len(kind))].reshape(len(OP_KINDS), -1, cells)
    rows = [
        np.einsum("c,cj->j", np.array(in_flight), activation[:, stage]) + parameter[:, stage].sum(axis=0)
        for stage, vectors in enumerate(question.vectors)
        for in_flight in vectors
    ]
    limits = [limit for limit, vectors in zip(question.limits or (), question.vectors, strict=False) for _ in vectors]
    memory = np.array(rows)[: len(limits)].reshape(len(limits), len(kind) + 1)
    least = np.zeros(cells, dtype=np.intp)
    least[list(must_hold_body(profile, pipeline))] = 1
    most = np.full(cells, profile.num_body_layers, dtype=np.intp)
    for v, count in question.pinned_layers.items():
        least[v] = most[v] = count
    return PlanSpace(
        question=question,
        prepared=prepare(question.schedule),
        kind=kind,
        mode=mode,
        cell=cell,
        per_kind=np.array([layer.num_layers for layer in profile.body], dtype=np.intp),
        least=least,
        most=most,
        layer_times=layer_times,
        durations=np.ascontiguousarray(times[:, :-1]),
        fixed=times[:, -1].copy(),
        memory=np.ascontiguousarray(memory[:, :-1]),
        room=np.array(limits) - memory[:, -1] - profile.constant_mb,
    )
