"""Random models so small that every plan can be looked at."""

from dataclasses import dataclass
from random import Random

import numpy as np

from sapp_core.balancer.sapp_memory import estimated_vectors
from sapp_core.domain.pipeline import Pipeline, Remainder
from sapp_core.domain.profile import MODES, LayerKind, LayerProfile, ModelProfile
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import MemoryModel
from sapp_core.domain.schedule import Schedule
from sapp_core.schedules.in_flight import peak_vectors
from sapp_core.schedules.registry import make_schedule
from tests.balancer.brute_force import SURROGATES, AllPlans, all_plans


@dataclass(frozen=True)
class TinyModel:
    profile: ModelProfile
    schedule: Schedule
    request: BalanceRequest
    vectors: tuple
    plans: AllPlans
    memory: np.ndarray

    @property
    def limits(self) -> np.ndarray:
        limit = self.request.memory_limit_mb
        return (
            np.full(self.schedule.pipeline.num_stages, np.inf)
            if limit is None
            else np.broadcast_to(limit, self.memory.shape[1:])
        )

    @property
    def fits(self) -> np.ndarray:
        """`[plan]`, whether it keeps within the limits."""
        return (self.memory <= self.limits).all(axis=1)


def tiny_model(seed: int) -> TinyModel:
    random = Random(seed)
    name = random.choice(("gpipe", "1f1b", "vpp", "vpp", "vpp", "vpp-less-memory", "vpp-less-memory"))
    stages = random.choice((1, 2, 2, 3, 3))
    chunks = random.choice((1, 2, 2)) if name.startswith("vpp") else 1
    micro_batches = stages if random.random() < 0.5 else random.randint(1, 6)
    pipeline = Pipeline(
        stages, micro_batches, chunks, remainder=random.choice(tuple(Remainder)), p2p_time=random.choice((0.0, 3.0))
    )
    schedule = make_schedule(name, pipeline)
    profile = random_profile(random, pipeline.num_virtual_stages)
    exact = name == "gpipe" or random.random() < 0.5
    vectors = peak_vectors(schedule) if exact else estimated_vectors(schedule)
    plans = all_plans(profile, pipeline)
    memory = plans.memory(vectors)
    request = BalanceRequest(
        memory_limit_mb=random_limit(random, memory, stages),
        objective=random.choice(SURROGATES),
        memory_model=MemoryModel.EXACT if exact else MemoryModel.SAPP,
        threads=1,
        time_limit=60.0,
    )
    return TinyModel(profile, schedule, request, vectors, plans, memory)


def random_profile(random: Random, virtual_stages: int) -> ModelProfile:
    modes = sorted(random.sample(range(len(MODES)), random.randint(1, 3)))
    kinds = random.randint(1, 2)
    # Now and then fewer layers than cells.
    total = max(kinds, virtual_stages + random.choice((-2, -1, 0, 1, 1, 2)))
    total = min(total, 6 if len(modes) < 3 else 5)
    first = random.randint(1, total - 1) if kinds == 2 else total
    layers = []
    for number, count in enumerate((first, total - first)[:kinds]):
        forward = random.randint(1, 12)
        layers.append(
            LayerProfile(
                name=f"Body{number}",
                kind=LayerKind.BODY,
                num_layers=count,
                forward_time=float(forward),
                backward_time=tuple(2.0 * forward + random.randint(0, 2) * r for r in range(len(MODES))),
                parameter_mb=float(random.randint(0, 30)),
                activation_mb=tuple(
                    float(random.randint(1, 40) // (1 + r)) if r in modes else None for r in range(len(MODES))
                ),
            )
        )
    for kind in (LayerKind.HEAD, LayerKind.TAIL):
        if random.random() < 0.6:
            forward = random.randint(0, 10)
            layers.append(
                LayerProfile(
                    name=kind.value.title(),
                    kind=kind,
                    num_layers=random.randint(1, 2),
                    forward_time=float(forward),
                    backward_time=(2.0 * forward,) * len(MODES),
                    parameter_mb=float(random.randint(0, 60)),
                    activation_mb=(random.choice((None, 5.0)), *(None,) * (len(MODES) - 1)),
                )
            )
    return ModelProfile("tiny", tuple(layers), constant_mb=float(random.randint(0, 20)))


def random_limit(random: Random, memory: np.ndarray, stages: int) -> float | tuple[float, ...] | None:
    """Mostly one that some plans meet and others do not; sometimes one that none meets."""
    if not len(memory):
        return 100.0
    peaks = np.sort(memory.max(axis=1))
    choice = random.random()
    if choice < 0.1:
        return None
    if choice < 0.35:
        return max(1.0, float(peaks[0]) - random.randint(1, 10))
    limit = float(peaks[int(random.random() ** 2 * (len(peaks) - 1))])
    if choice < 0.8:
        return max(1.0, limit)
    return tuple(max(1.0, limit + random.randint(-12, 12)) for _ in range(stages))
