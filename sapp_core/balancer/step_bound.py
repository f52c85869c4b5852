"""A proven lower bound of the step time, from paths that every schedule has, whatever the plan.

A micro-batch travels through all cells and back. A path follows one micro-batch until it comes to some op of a stage,
then the stage's own slots one after the other, then the micro-batch of the last of them to its journey's end. The
length of a path is linear in the plan, so the longest of some paths, minimised over fractional plans, is a time that
no plan can beat. Those chosen here enter a stage at its first op or its first backward, and leave it after its last
forward or its last op.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from pulp import LpAffineExpression, lpSum

from sapp_core.balancer.ilp import PlacementProgram
from sapp_core.domain.pipeline import Placement
from sapp_core.domain.profile import LayerProfile
from sapp_core.domain.schedule import Op, OpKind, Schedule, Slot

Cell = tuple[OpKind, int, int]
"""One op of a path, whatever its micro-batch: (kind, chunk, stage)."""
Work = dict[Cell, float]
"""How often a path does each op; two ops that overlap count a part each."""


def minimise_longest_path(program: PlacementProgram, schedule: Schedule) -> None:
    """Make the longest of these paths the objective, in the program's unit of time."""
    problem, unit = program.problem, program.unit
    step = problem.add_variable("step", 0)
    problem += step
    durations: dict[Cell, LpAffineExpression] = {}
    for i, (work, transfers) in enumerate(_paths(schedule)):
        for op in work:
            if op not in durations:
                durations[op] = _duration(program, *op)
        delay = transfers * program.pipeline.p2p_time * unit.denominator / unit.numerator
        length = lpSum(weight * durations[op] for op, weight in work.items()) + delay
        problem += length <= step, f"path_{i}"


def _paths(schedule: Schedule) -> Iterator[tuple[Work, int]]:
    """Work and number of transfers of each path."""
    travel = _Travel(schedule)
    for stage, slots in enumerate(schedule.slots):
        # Nothing waits for a weight gradient: journeys begin and end at the other ops.
        forward = [i for i, slot in enumerate(slots) if any(op.kind is OpKind.F for op in slot.ops)]
        backward = [i for i, slot in enumerate(slots) if any(op.kind in {OpKind.B, OpKind.I} for op in slot.ops)]
        for start in (0, backward[0]):
            before, late = travel.before(slots[start].ops[-1], stage)
            for end in (forward[-1], backward[-1]):
                if start <= end:
                    after, later = travel.after(slots[end].ops[-1], stage)
                    yield _sum(before, _work(slots[start : end + 1], schedule, stage), after), late + later
            if backward[-1] < len(slots) - 1:
                yield _sum(before, _work(slots[start:], schedule, stage)), late


class _Travel:
    """The journey of a micro-batch: forward through the cells of its copy of the model, and backward again."""

    def __init__(self, schedule: Schedule) -> None:
        self._pipeline = schedule.pipeline
        ops = {
            (op.kind, op.chunk, stage)
            for stage, slots in enumerate(schedule.slots)
            for slot in slots
            for op in slot.ops
        }
        copies = self._pipeline.num_chunks if self._pipeline.placement is Placement.BIDIRECTIONAL else 1
        self._journeys: list[list[Cell]] = []
        for copy in range(copies):
            there = [self._pipeline.cells(v)[copy] for v in range(self._pipeline.num_virtual_stages)]
            # A cell that splits some backward may hand the gradient on after its first half.
            back = [(OpKind.I if (OpKind.I, *cell) in ops else OpKind.B, *cell) for cell in reversed(there)]
            self._journeys.append([*((OpKind.F, *cell) for cell in there), *back])

    def before(self, op: Op, stage: int) -> tuple[Work, int]:
        """What a micro-batch goes through before it comes to an op, and the transfers on this way."""
        journey, here = self._find(op, stage)
        return dict.fromkeys(journey[:here], 1.0), _transfers(journey[: here + 1])

    def after(self, op: Op, stage: int) -> tuple[Work, int]:
        """What a micro-batch still goes through after an op, and the transfers on this way."""
        journey, here = self._find(op, stage)
        return dict.fromkeys(journey[here + 1 :], 1.0), _transfers(journey[here:])

    def _find(self, op: Op, stage: int) -> tuple[list[Cell], int]:
        journey = self._journeys[op.chunk if len(self._journeys) > 1 else 0]
        v = self._pipeline.virtual_stage(op.chunk, stage)
        return journey, v if op.kind is OpKind.F else len(journey) - 1 - v


def _transfers(journey: Sequence[Cell]) -> int:
    return sum(here[2] != there[2] for here, there in pairwise(journey))


def _work(slots: Sequence[Slot], schedule: Schedule, stage: int) -> Work:
    """These slots of a stage. Two ops that start together take at least 1 − η/2 of their sum."""
    shared = 1 - schedule.pipeline.overlap_efficiency / 2
    work: Work = {}
    for slot in slots:
        for op in slot.ops:
            cell = (op.kind, op.chunk, stage)
            work[cell] = work.get(cell, 0.0) + (1.0 if len(slot.ops) == 1 else shared)
    return work


def _sum(*parts: Work) -> Work:
    total: Work = {}
    for part in parts:
        for cell, weight in part.items():
            total[cell] = total.get(cell, 0.0) + weight
    return total


def _duration(program: PlacementProgram, kind: OpKind, chunk: int, stage: int) -> LpAffineExpression:
    """One op. The input gradient takes its share of the backward and all recomputation, as in the simulator."""
    pipeline, unit = program.pipeline, program.unit
    later = 1 - pipeline.input_gradient_share

    def time(layer: LayerProfile, r: int) -> float:
        without = layer.backward_time[0]
        of_kind = {
            OpKind.F: layer.forward_time,
            OpKind.B: layer.backward_time[r],
            OpKind.I: layer.backward_time[r] - later * without,
            OpKind.W: later * without,
        }
        return of_kind[kind] / pipeline.num_sequence_splits * unit.denominator / unit.numerator

    return program.cell(time, chunk, stage)
