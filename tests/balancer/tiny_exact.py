"""Tiny models under any registered schedule, for the exact objective: few enough plans to simulate them all."""

from dataclasses import replace
from random import Random

import numpy as np

from sapp_core.domain.pipeline import Pipeline, Placement, Remainder
from sapp_core.domain.profile import TrainingShape
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.sequence_split import split_along_sequence
from sapp_core.errors import SappError
from sapp_core.schedules.in_flight import peak_vectors
from sapp_core.schedules.registry import ScheduleFamily, family, make_schedule
from tests.balancer.brute_force import all_plans
from tests.balancer.tiny import TinyModel, random_limit, random_profile

MOST_PLANS = 20_000
TRAINING = TrainingShape(
    batch_size=1,
    num_heads=2,
    seq_length=1024,
    head_dim=256,
    hidden_size=512,
    intermediate_size=1024,
    vocab_size=512,
    model_parallel=1,
)
"""Keys and values of one layer take 1 MiB each."""


def exact_model(name: str, seed: int) -> TinyModel:
    """A model that some plan places, memory aside; each seed gives each schedule another one."""
    random = Random(f"{name} {seed}")
    while True:
        pipeline = _pipeline(random, family(name))
        if family(name).problems(pipeline):
            continue
        profile = replace(random_profile(random, pipeline.num_virtual_stages), training=TRAINING)
        try:
            split = split_along_sequence(profile, pipeline.num_sequence_splits)
        except SappError:  # Only full recomputation: sequence splits exclude it.
            continue
        plans = all_plans(split, pipeline)
        if 0 < len(plans.counts) <= MOST_PLANS:
            break
    schedule = make_schedule(name, pipeline)
    vectors = peak_vectors(schedule)
    memory = plans.memory(vectors)
    limit = random_limit(random, memory, pipeline.num_stages)
    request = BalanceRequest(memory_limit_mb=limit, threads=1, time_limit=60.0, seed=seed)
    return TinyModel(profile, schedule, request, vectors, plans, memory)


def quickest(tiny: TinyModel) -> float:
    """The shortest step time of all plans within the limits."""
    return float(np.min(tiny.plans.step_times(tiny.schedule)[tiny.fits]))


def _pipeline(random: Random, chosen: ScheduleFamily) -> Pipeline:
    stages = random.choice((1, 2, 2, 3, 4) if chosen.placement is Placement.BIDIRECTIONAL else (1, 2, 2, 3))
    micro_batches = random.choice((random.randint(1, 6), stages, 2 * stages, 3 * stages))
    return Pipeline(
        num_stages=stages,
        num_micro_batches=micro_batches,
        num_chunks=chosen.fixed_chunks or random.choice((1, 2, 2)),
        num_sequence_splits=random.randint(1, 3) if chosen.uses_splits else 1,
        placement=chosen.placement,
        remainder=random.choice(tuple(Remainder)),
        overlap_efficiency=random.choice((0.0, 0.5, 0.8)),
        input_gradient_share=random.choice((0.4, 0.5)),
        weight_gradient_memory_share=random.choice((0.5, 1.0)),
        p2p_time=random.choice((0.0, 0.0, 3.0)),
    )
