"""Dry runs for tests: the recorded ones, and made-up ones whose answer is known."""

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from sapp_core.domain.profile import MODES, RecomputeMode
from sapp_core.profiles.dry_run import DryRun, StagePeak

CASES: dict[str, dict[str, Any]] = {
    case["id"]: case
    for case in json.loads((Path(__file__).parents[1] / "golden" / "dry_run.json").read_text(encoding="utf-8"))["cases"]
}
TIMES = {"head": 90, "body": 90, "tail": 180}


def recorded_stages(case: dict[str, Any]) -> DryRun:
    """A recorded case that lists its stages."""
    peaks = []
    for stage in case["stages"]:
        counts = {mode: stage.get(str(mode), 0) for mode in MODES}
        counts[RecomputeMode.NONE] = stage["layers"] - sum(counts.values())
        peaks.append(StagePeak(stage["stage"], tuple(counts[mode] for mode in MODES), stage["peak_mb"]))
    return DryRun(case["num_stages"], tuple(peaks))


def peak_of(stage: int, num_stages: int, layers: tuple[int, ...], truth: dict[str, Any]) -> float:
    """The formula of the specification, written down a second time."""
    activation = sum(count * mb for count, mb in zip(layers, truth["activation"], strict=True))
    peak = truth["constant"] + sum(layers) * truth["parameter"] + (num_stages - stage) * activation
    return peak + truth["head"] * (stage == 0) + truth["tail"] * (stage == num_stages - 1)


MB = st.integers(10, 4000).map(float)
TRUTHS = st.fixed_dictionaries(
    {"constant": MB, "parameter": MB, "activation": st.tuples(MB, MB, MB, MB, MB), "head": MB, "tail": MB}
)


@st.composite
def measured(draw) -> tuple[DryRun, dict[str, Any]]:
    """Random layers on every stage of some rounds, and what they were made from; not always solvable."""
    truth = draw(TRUTHS)
    modes = draw(st.sets(st.sampled_from(MODES), min_size=1))
    num_stages = draw(st.integers(4, 16))
    peaks = []
    for k in range(draw(st.integers(1, 3))):
        for stage in range(num_stages):
            layers = tuple(draw(st.integers(0, 9)) if mode in modes else 0 for mode in MODES)
            peaks.append(StagePeak(stage, layers, peak_of(stage, num_stages, layers, truth), k))
    return DryRun(num_stages, tuple(peaks)), truth
