"""Evaluations to draw."""

from dataclasses import replace

from sapp_core.domain.costs import ChunkCosts
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import even_split
from sapp_core.domain.profile import MODES, LayerKind, LayerProfile, ModelProfile
from sapp_core.domain.schedule import Op, OpKind, Schedule, Slot
from sapp_core.domain.timeline import BubbleParts, MemoryTimeline, StageMemory, Timeline
from sapp_core.domain.unit_profile import UnitTimes, unit_profile
from sapp_core.schedules.registry import make_schedule, placed
from sapp_core.study import evaluate


def profile(name="model", layers=24, kinds=1, constant_mb=100.0):
    body = tuple(
        LayerProfile(
            name=f"{name}-body{k}",
            kind=LayerKind.BODY,
            num_layers=layers // kinds,
            forward_time=10.0,
            backward_time=(20.0, 21.0, 22.0, 23.0, 30.0),
            parameter_mb=50.0,
            activation_mb=(30.0, 20.0, 15.0, 12.0, 2.0),
        )
        for k in range(kinds)
    )
    none = (None,) * len(MODES)
    head = LayerProfile("embedding", LayerKind.HEAD, 1, 4.0, (8.0,) * 5, 300.0, none)
    tail = LayerProfile("loss", LayerKind.TAIL, 1, 6.0, (12.0,) * 5, 200.0, none)
    return ModelProfile(name, (head, *body, tail), constant_mb=constant_mb)


def evaluation(schedule="1f1b", stages=4, micro_batches=8, chunks=1, kinds=1, mode=None, layers=24, **more):
    pipeline = placed(schedule, Pipeline(stages, micro_batches, chunks, p2p_time=more.pop("p2p_time", 0.0)))
    subject = profile(kinds=kinds, layers=layers, **more)
    return evaluate(subject, make_schedule(schedule, pipeline), even_split(subject, pipeline, mode))


def in_unit_times(schedule, pipeline):
    subject = unit_profile(pipeline, UnitTimes(1.0, 2.0))
    return evaluate(subject, make_schedule(schedule, pipeline), even_split(subject, pipeline))


def overlapped():
    """Two stages, two chunks; in the middle of each a forward and a backward share a slot, and a W ends the work."""
    pipeline = Pipeline(2, 2, 2)
    first, second = Op(OpKind.F, 0, 0), Op(OpKind.I, 0, 0)
    slots = (
        Slot((first,)),
        Slot((Op(OpKind.F, 1, 1), Op(OpKind.B, 1, 0))),
        Slot((second,)),
        Slot((Op(OpKind.W, 0, 0),)),
    )
    ordinary = evaluation(stages=2, micro_batches=2, chunks=2, schedule="vpp")
    starts, ends = (0.0, 1.0, 3.0, 4.0), (1.0, 3.0, 4.0, 6.0)
    return replace(
        ordinary,
        schedule=Schedule("by hand", pipeline, (slots, slots)),
        timeline=Timeline((starts, starts), (ends, ends), 6.0),
    )


def by_hand(activations, limit_times=(0.0, 1.0, 2.0, 5.0)):
    """Two stages whose memory is what the test says: `[stage][i]` MiB on top of 100 MiB."""
    ordinary = evaluation(stages=2, micro_batches=2)
    return replace(
        ordinary,
        timeline=replace(ordinary.timeline, step_time=5.0),
        memory=MemoryTimeline((limit_times,) * 2, activations),
        peaks=tuple(StageMemory(80.0, 20.0, (max(levels),)) for levels in activations),
    )


def bubbles(*parts, step_time=None):
    ordinary = evaluation()
    shares = BubbleParts(*parts)
    time = 1000.0 * (1 + shares.total) if step_time is None else step_time
    return replace(ordinary, bubble=shares, timeline=replace(ordinary.timeline, step_time=time))


def without_memory():
    grid = ((0.0,) * 4,)
    costs = ChunkCosts(grid, grid, grid, grid, (0.0,) * 4, 0.0)
    return replace(evaluation(), costs=costs, peaks=tuple(StageMemory(0.0, 0.0, (0.0,)) for _ in range(4)))
