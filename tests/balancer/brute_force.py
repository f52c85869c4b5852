"""Every plan of a tiny model, rated by the formulas of the SAPP formulation written out in NumPy: no solver, no rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import numpy as np

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Plan, placed
from sapp_core.domain.profile import MODES, ModelProfile
from sapp_core.domain.result import Objective
from sapp_core.domain.schedule import Schedule
from sapp_core.simulator.engine import prepare, step_times

SURROGATES = (Objective.SAPP_0, Objective.SAPP_1, Objective.SAPP_2)


@dataclass(frozen=True)
class AllPlans:
    """All legal plans of a profile on a pipeline, memory aside: `counts[plan][kind][mode][v]`."""

    profile: ModelProfile
    pipeline: Pipeline
    counts: np.ndarray

    def plan(self, number: int) -> Plan:
        layers = []
        for layer, modes in zip(self.profile.body, self.counts[number], strict=True):
            entries = [
                (mode, chunk, stage, int(count))
                for mode, row in zip(self.profile.modes, modes, strict=True)
                for v, count in enumerate(row)
                if count
                for chunk, stage in self.pipeline.cells(v)
            ]
            layers.append(placed(layer.name, self.pipeline, entries))
        return Plan(tuple(layers))

    def cells(self, value, *, ends: bool = True) -> np.ndarray:
        """`[plan][chunk][stage]`, sum of value(layer, r) over the layers of each cell."""
        last = self.pipeline.num_virtual_stages - 1
        weights = np.array([[value(layer, MODES.index(m)) for m in self.profile.modes] for layer in self.profile.body])
        by_v = np.einsum("pkmv,km->pv", self.counts, weights.astype(float))
        if ends:
            by_v[:, 0] += sum(layer.num_layers * value(layer, 0) for layer in self.profile.head)
            by_v[:, last] += sum(layer.num_layers * value(layer, 0) for layer in self.profile.tail)
        cells = np.zeros((len(by_v), self.pipeline.num_chunks, self.pipeline.num_stages))
        for v in range(last + 1):
            for chunk, stage in self.pipeline.cells(v):
                cells[:, chunk, stage] = by_v[:, v]
        return cells

    def memory(self, vectors) -> np.ndarray:
        """`[plan][stage]`, MiB at the highest of the in-flight vectors."""
        activation = self.cells(lambda layer, r: layer.activation_mb[r] or 0.0)
        parameters = self.cells(lambda layer, _: layer.parameter_mb).sum(axis=1)
        stages = [np.max(activation[:, :, s] @ np.array(vectors[s]).T, axis=1) for s in range(self.pipeline.num_stages)]
        return np.array(stages).T + parameters + self.profile.constant_mb

    def step_times(self, schedule: Schedule) -> np.ndarray:
        """`[plan]`, simulated."""
        forward = self.cells(forward_time)
        backward = self.cells(backward_time)
        without = self.cells(lambda layer, _: layer.backward_time[0])
        share = schedule.pipeline.input_gradient_share
        durations = np.stack([forward, backward, backward - (1 - share) * without, (1 - share) * without], axis=1)
        return step_times(prepare(schedule), durations / schedule.pipeline.num_sequence_splits)


def forward_time(layer, _) -> float:
    return layer.forward_time


def backward_time(layer, r) -> float:
    return layer.backward_time[r]


def all_plans(profile: ModelProfile, pipeline: Pipeline) -> AllPlans:
    found = list(_plans(profile, pipeline))
    shape = (0, len(profile.body), len(profile.modes), pipeline.num_virtual_stages)
    return AllPlans(profile, pipeline, np.array(found) if found else np.zeros(shape))


def _plans(profile: ModelProfile, pipeline: Pipeline) -> Iterator[np.ndarray]:
    """Cut the sequence of layers at the virtual stages, then choose the modes inside each run."""
    last = pipeline.num_virtual_stages - 1
    kinds = [kind for kind, layer in enumerate(profile.body) for _ in range(layer.num_layers)]
    modes = len(profile.modes)
    recompute_first = len(profile.body) > 1 and modes == 2
    for cuts in combinations_with_replacement(range(len(kinds) + 1), last):
        runs = [kinds[a:b] for a, b in zip((0, *cuts), (*cuts, len(kinds)), strict=True)]
        may_be_empty = set()
        if profile.head:
            may_be_empty.add(0)
        if profile.tail:
            may_be_empty.add(last)
        if any(not run and v not in may_be_empty for v, run in enumerate(runs)):
            continue
        for chosen in product(*(_choices(run, len(profile.body), modes, recompute_first) for run in runs)):
            yield np.stack(chosen, axis=-1)


def _choices(run: list[int], kinds: int, modes: int, recompute_first: bool) -> list[np.ndarray]:
    """`[kind][mode]` counts of one cell."""
    choices = []
    per_kind = [list(_shares(run.count(kind), modes)) for kind in range(kinds)]
    for shares in product(*per_kind):
        counts = np.array(shares)
        stored_before_recomputed = any(
            counts[kind][0] and counts[kind + 1 :, -1].any() for kind in range(kinds) if recompute_first
        )
        if not stored_before_recomputed:
            choices.append(counts)
    return choices


def _shares(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _shares(total - first, parts - 1):
            yield (first, *rest)


def surrogate(plans: AllPlans, schedule: Schedule, level: Objective) -> np.ndarray:
    """`[plan]`, value of the surrogate objective for loop placements."""
    pipeline = schedule.pipeline
    S, V, M = pipeline.num_stages, pipeline.num_chunks, pipeline.num_micro_batches
    fw, bw = plans.cells(forward_time), plans.cells(backward_time)
    fw_body, bw_body = plans.cells(forward_time, ends=False), plans.cells(backward_time, ends=False)
    if level is Objective.SAPP_0 or V == 1 or M != S:
        stage_max = (fw.max(axis=1) + bw.max(axis=1)).max(axis=1)
        last_max = None
    else:
        stage_max = bw[:, :-1].max(axis=(1, 2))
        less_memory = schedule.name == "vpp-less-memory"
        waits = [s if less_memory else abs(S - 1 - 2 * s) if s >= S // 2 else 0 for s in range(S)]
        tail_forward = fw[:, -1] - fw_body[:, -1]  # a head never sits in the last of several chunks
        last_max = (bw[:, -1] + tail_forward + np.array(waits) / M * fw_body[:, -1]).max(axis=1)
        if level is Objective.SAPP_1:
            return stage_max + np.maximum(last_max, stage_max)
        stage_max = np.maximum(stage_max, last_max)
    if level is not Objective.SAPP_2:
        return stage_max
    total = (fw_body + bw_body).sum(axis=(1, 2))
    start = np.zeros(len(total))
    headless = fw.copy()
    headless[:, 0, 0] -= sum(layer.num_layers * layer.forward_time for layer in plans.profile.head)
    for c in range(V - 1):
        start += (V - c) / V * (fw[:, c] + bw[:, c]).sum(axis=1) / S
        start += M * sum(np.maximum(0, headless[:, c, :s].max(axis=1) - headless[:, c, s]) for s in range(1, S))
    end = M * sum(
        (np.maximum(0, fw[:, -1, s + 1 :].max(axis=1) - fw[:, -1, s]) for s in range(S - 1)), np.zeros(len(total))
    )
    return (total + start + end) / max(1, V - 2) + stage_max * max(0, M - 2)
