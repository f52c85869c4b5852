"""How MindFormers counts recomputed layers: three numbers that include one another, instead of one for each mode."""

from collections.abc import Mapping
from types import MappingProxyType

from sapp_core.domain.profile import MODES, RecomputeMode

FIELDS: Mapping[str, tuple[RecomputeMode, ...]] = MappingProxyType(
    {
        "recompute": (RecomputeMode.FULL,),
        "select_recompute": (RecomputeMode.SELECT, RecomputeMode.BOTH, RecomputeMode.FULL),
        "select_comm_recompute": (RecomputeMode.COMM, RecomputeMode.BOTH, RecomputeMode.FULL),
    }
)
"""Recompute key → the modes whose layers it counts."""


def layers_by_mode(total: int, full: int, select_field: int, comm_field: int) -> dict[RecomputeMode, int]:
    """Layers under each mode.

    Args:
        total: layers there are.
        full: of `recompute`.
        select_field: of `select_recompute`.
        comm_field: of `select_comm_recompute`; none of the three is larger than `total`.
    """
    both = max(0, min(select_field, comm_field) - full)
    select = max(0, select_field - full - both)
    comm = max(0, comm_field - full - both)
    return {
        RecomputeMode.NONE: total - select - comm - both - full,
        RecomputeMode.SELECT: select,
        RecomputeMode.COMM: comm,
        RecomputeMode.BOTH: both,
        RecomputeMode.FULL: full,
    }


def counts_of_fields(layers: Mapping[RecomputeMode, int]) -> dict[str, int]:
    """The number of each key for layers under each mode; modes that are not there count 0.

    Layers under `select` beside others under `comm` read back as `both`: the keys cannot say them apart.
    """
    return {field: sum(layers.get(mode, 0) for mode in MODES if mode in modes) for field, modes in FIELDS.items()}
