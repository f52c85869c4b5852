"""How good the exact balancer's plans are, and how soon: `python -m tests.benchmarks.balance [seconds …] [case …]`.

Every run is a process of its own, so that its peak memory is its own.
"""

import multiprocessing
import resource
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, log
from statistics import median

from sapp_core.balancer.balance import balance
from sapp_core.domain.result import BalanceResult, MemoryModel, Objective
from tests.balancer.recorded_cases import CASES, RUNS, recorded_case

SECONDS = (10.0, 60.0)
NEAR = 1.01
"""A plan this near the final one is nearly as good."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One run.

    Attributes:
        result: of the balancer.
        peak_mb: largest memory of its process, MiB.
    """

    result: BalanceResult
    peak_mb: float

    def seconds_to(self, step_time: float) -> float:
        """When a plan at least this quick was known."""
        return next(state.seconds for state in self.result.trace if state.best is not None and state.best <= step_time)


def main(arguments: Sequence[str] = ()) -> None:
    """Print one table for each time limit."""
    names = [word for word in arguments if word in CASES] or list(CASES)
    for seconds in [float(word) for word in arguments if word not in CASES] or SECONDS:
        print(f"\nAfter {seconds:g} s:\n")
        print(
            "| case | S×V×M | step time | status | / SAPP CBC 90 s | / SAPP HiGHS 90 s | / best known | gap | first plan, s "
            f"| within {NEAR - 1:.0%} of final, s | took, s | peak, MiB |"
        )
        print("| --- " * 12 + "|", flush=True)
        measured = {}
        for name in names:
            measured[name] = _measured(name, seconds)
            print(_row(name, measured[name]), flush=True)
        _print_summary(measured)


def _row(name: str, measured: Measured) -> str:
    case, result = CASES[name], measured.result
    size = f"{case['stages']}×{case['chunks']}×{case['micro_batches']}"
    if result.step_time is None or result.gap is None:
        return (
            f"| {name} | {size} | | {result.status} |" + " |" * 6 + f" {result.seconds:.1f} | {measured.peak_mb:.0f} |"
        )
    cells = (
        name,
        size,
        f"{result.step_time:,.1f}",
        result.status,
        *(_ratio(result.step_time, case.get(run, {}).get("step_time")) for run in RUNS),
        _ratio(result.step_time, case.get("best_known")),
        f"{result.gap:.2%}",
        f"{measured.seconds_to(float('inf')):.2f}",
        f"{measured.seconds_to(result.step_time * NEAR):.2f}",
        f"{result.seconds:.1f}",
        f"{measured.peak_mb:.0f}",
    )
    return f"| {' | '.join(cells)} |"


def _ratio(step_time: float, other: float | None) -> str:
    return "–" if other is None else f"{step_time / other:.4f}"


def _print_summary(measured: dict[str, Measured]) -> None:
    found = {name: run.result for name, run in measured.items() if run.result.step_time is not None}
    reference = {name: CASES[name][RUNS[0]].get("step_time") for name in found}
    ratios = [found[name].step_time / time for name, time in reference.items() if time]
    if ratios:
        mean = exp(sum(map(log, ratios)) / len(ratios))
        print(f"\nGeometric mean of step times against SAPP with CBC for 90 s: {mean:.4f} ({len(ratios)} cases).")
    if found:
        gaps = {name: result.gap for name, result in found.items()}
        worst = max(gaps, key=gaps.__getitem__)
        print(f"Median gap: {median(gaps.values()):.2%}; the largest is that of {worst}.")


def _measured(name: str, seconds: float) -> Measured:
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_run, (name, seconds))


def _run(name: str, seconds: float) -> Measured:
    profile, schedule, request = recorded_case(name)
    request = replace(request, objective=Objective.EXACT, memory_model=MemoryModel.EXACT, time_limit=seconds)
    result = balance(profile, schedule, request)
    return Measured(result, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


if __name__ == "__main__":
    main(sys.argv[1:])
