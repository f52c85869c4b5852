"""Grids and profiles of the sweep tests."""

from functools import cache
from pathlib import Path

from sapp_core.domain.profile import ModelProfile
from sapp_core.profiles.load import load_profile
from sapp_core.sweep.grid import Grid

SAMPLES = Path(__file__).parents[2] / "sample_profiles"


@cache
def sample(name: str = "llama2_70b") -> ModelProfile:
    return load_profile((SAMPLES / f"{name}.yaml").read_bytes(), name).profile


# 16 points, of which two cannot run (1f1b holds one chunk) and those with the small limit do not fit.
SMALL = Grid(
    schedules=("1f1b", "vpp"),
    stages=(4, 8),
    micro_batches=(8,),
    chunks=(1, 2),
    memory_limits_mb=(30_000.0, 56_000.0),
)

# Each takes long enough that a worker can be killed at its work.
LONG = Grid(
    schedules=("vpp",), stages=(8,), micro_batches=(48, 64, 96, 128), chunks=(2, 4), memory_limits_mb=(56_000.0,)
)
