"""Every schedule balanced on the sample profiles at equal devices and layers: step time, bubble, memory, gap."""

import sys
from pathlib import Path

from sapp_core.balancer.balance import BalanceRequest, balance
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.profile import ModelProfile
from sapp_core.errors import PipelineError
from sapp_core.profiles.load import load_profile
from sapp_core.schedules.registry import SCHEDULES, ScheduleFamily, make_schedule
from sapp_core.study import evaluate

SAMPLES = Path(__file__).parents[2] / "sample_profiles"
CASES = (("llama2_70b", 8, 32, 56_000.0), ("vision_llm", 8, 16, 40_000.0), ("seqpp16", 4, 16, 60_000.0))
CHUNKS, SPLITS = 2, 2
SECONDS = 10.0


def main(seconds: float = SECONDS) -> None:
    """Print a table for each case."""
    for name, stages, count, limit in CASES:
        profile = load_profile((SAMPLES / f"{name}.yaml").read_bytes(), name).profile
        print(
            f"\n{name}: {stages} stages, {count} micro-batches, limit {limit:,.0f} MiB, at most {seconds:.0f} s each\n"
        )
        print("| schedule | chunks | splits | status | step time | bubble | peak memory, MiB | gap |")
        print("| --- " * 8 + "|")
        for family in SCHEDULES:
            print(_row(profile, family, stages, count, limit, seconds))


def _row(profile: ModelProfile, family: ScheduleFamily, stages: int, count: int, limit: float, seconds: float) -> str:
    pipeline = Pipeline(
        stages,
        count,
        family.fixed_chunks or CHUNKS,
        SPLITS if family.uses_splits else 1,
        placement=family.placement,
    )
    start = f"| {family.name} | {pipeline.num_chunks} | {pipeline.num_sequence_splits} |"
    try:
        schedule = make_schedule(family.name, pipeline)
        result = balance(profile, schedule, BalanceRequest(limit, time_limit=seconds))
    except PipelineError as error:
        return f"{start} {' '.join(error.problems)} | | | | |"
    if result.plan is None:
        reason = result.infeasibility.sentences[0] if result.infeasibility else ""
        return f"{start} {result.status}: {reason} | | | | |"
    found = evaluate(profile, schedule, result.plan)
    gap = "" if result.gap is None else f"{result.gap:.2%}"
    peak = max(found.peak_memory_mb)
    return f"{start} {result.status} | {found.step_time:,.0f} | {found.bubble.total:.1%} | {peak:,.0f} | {gap} |"


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]))
