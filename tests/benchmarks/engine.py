"""How fast schedules are made, checked and simulated."""

import time
from collections.abc import Callable

import numpy as np

from sapp_core.domain.pipeline import Pipeline
from sapp_core.schedules.registry import make_schedule
from sapp_core.simulator.engine import prepare, step_times

CASES = (
    ("1f1b", Pipeline(8, 4096)),
    ("1f1b", Pipeline(64, 512)),
    ("vpp", Pipeline(16, 64, 3)),
    ("vpp", Pipeline(16, 32, 2)),
)
BATCH = 256
REPEATS = 5


def main() -> None:
    """Print a table: medians of five, seconds, and million op-evaluations a second."""
    print("| schedule | S×V×M | ops | make + validate, s | prepare, s | one, s | one, M/s | 256, s | 256, M/s |")
    print("| --- " * 9 + "|")
    for name, pipeline in CASES:
        schedule = make_schedule(name, pipeline)
        prepared = prepare(schedule)
        shape = (BATCH, 4, pipeline.num_chunks, pipeline.num_stages)
        durations = np.random.default_rng(0).uniform(1, 2, shape)
        made = _median(lambda name=name, pipeline=pipeline: make_schedule(name, pipeline))
        ready = _median(lambda schedule=schedule: prepare(schedule))
        one = _median(lambda p=prepared, d=durations[:1]: step_times(p, d))
        many = _median(lambda p=prepared, d=durations: step_times(p, d))
        ops = schedule.num_ops
        size = f"{pipeline.num_stages}×{pipeline.num_chunks}×{pipeline.num_micro_batches}"
        print(
            f"| {name} | {size} | {ops} | {made:.3f} | {ready:.3f} | {one:.4f} | {ops / one / 1e6:.1f} "
            f"| {many:.4f} | {BATCH * ops / many / 1e6:.0f} |"
        )


def _median(work: Callable[[], object]) -> float:
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return sorted(seconds)[REPEATS // 2]


if __name__ == "__main__":
    main()
