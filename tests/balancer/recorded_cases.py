"""The recorded balancing cases as our own types."""

import json
from functools import cache
from typing import Any

from sapp_core.domain.pipeline import Pipeline, Remainder
from sapp_core.domain.plan import Plan, placed
from sapp_core.domain.profile import ModelProfile, RecomputeMode
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import MemoryModel, Objective
from sapp_core.domain.schedule import Schedule
from sapp_core.profiles.load import load_profile
from sapp_core.schedules.registry import make_schedule
from tests.recorded import GOLDEN

CASES: dict[str, dict[str, Any]] = {
    case["id"]: case for case in json.loads((GOLDEN / "balance_cases.json").read_text(encoding="utf-8"))["cases"]
}
RUNS = ("sapp_cbc_90s", "sapp_highs_90s")


@cache
def recorded_profile(name: str) -> ModelProfile:
    return load_profile((GOLDEN / "profiles" / f"{name}.json").read_bytes(), f"{name}.json").profile


def recorded_case(name: str) -> tuple[ModelProfile, Schedule, BalanceRequest]:
    """Profile, schedule and request of a case, as the reference was asked."""
    case = CASES[name]
    pipeline = Pipeline(case["stages"], case["micro_batches"], case["chunks"], remainder=Remainder(case["remainder"]))
    schedule = "1f1b" if case["chunks"] == 1 else "vpp-less-memory" if case["less_memory"] else "vpp"
    request = BalanceRequest(
        memory_limit_mb=case["memory_limit_mb"],
        objective=Objective(f"sapp-{case['sapp_level']}"),
        memory_model=MemoryModel.SAPP,
        threads=1,
    )
    return recorded_profile(case["profile"]), make_schedule(schedule, pipeline), request


def recorded_plan(name: str, run: str) -> Plan:
    profile, schedule, _ = recorded_case(name)
    counts = CASES[name][run]["plan"]
    return Plan(
        tuple(
            placed(
                layer.name,
                schedule.pipeline,
                [
                    (RecomputeMode(mode), chunk, stage, count)
                    for mode, rows in counts[layer.name].items()
                    for chunk, row in enumerate(rows)
                    for stage, count in enumerate(row)
                ],
            )
            for layer in profile.body
        )
    )
