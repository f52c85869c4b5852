"""The keys of profile files, what each recompute mode is called there, and the limits of the values."""

from dataclasses import dataclass, fields

from sapp_core.domain.profile import LayerKind, RecomputeMode, TrainingShape

MAX_NUMBER = 10**12
"""Of times and memory: 10¹² MB is far beyond any device, and solvers lose digits long before."""
MAX_COEFFICIENT = 1000
MAX_UNIT_LENGTH = 20


@dataclass(frozen=True, slots=True)
class ModeKeys:
    """What a recompute mode is called in a layer's description.

    Attributes:
        mode: the mode.
        memory: key of its activation memory.
        time: key of its backward time, recomputation included.
        coefficient: key of its extra time, as a share of twice the forward time.
        default: that share when neither time nor coefficient is given.
    """

    mode: RecomputeMode
    memory: str
    time: str
    coefficient: str
    default: float


MODE_KEYS: tuple[ModeKeys, ...] = (
    ModeKeys(RecomputeMode.NONE, "memory_activation", "backward_time", "backward_coef", 0.0),
    ModeKeys(RecomputeMode.SELECT, "memory_select_rec", "select_rec_time", "select_rec_coef", 0.04),
    ModeKeys(RecomputeMode.COMM, "memory_select_comm", "select_comm_time", "select_comm_coef", 0.125),
    ModeKeys(RecomputeMode.BOTH, "memory_both_comm_select", "both_comm_select_time", "both_comm_select_coef", 0.165),
    ModeKeys(RecomputeMode.FULL, "memory_recompute", "recompute_time", "recompute_coef", 0.5),
)
"""`[r]`, parallel to `MODES`."""

RECOMPUTE_TIME = "recompute_time"
RECOMPUTE_TIME_WITH_BLANK = "recompute_time "
"""The only spelling that older SAPP versions read; files in the wild have it."""

KINDS: tuple[str, ...] = tuple(LayerKind)
TRAINING_KEYS: tuple[str, ...] = tuple(field.name for field in fields(TrainingShape))
LAYERS = "layers_description"
SETTINGS = "pipeline_config"
"""The one key of a pipeline settings file."""

PROFILE_KEYS = ("name", "stage_const_mem", "time_unit", "memory_limit", "training", LAYERS)
LAYER_KEYS = (
    "name",
    "type",
    "nb_layer",
    "time",
    "forward_time",
    "memory_parameter",
    *(key for keys in MODE_KEYS for key in (keys.memory, keys.time, keys.coefficient)),
)
MEMORY_KEYS = ("memory_parameter", *(keys.memory for keys in MODE_KEYS))
UNUSED_KEYS = ("model_name", "pre_defined_layer", "auto_partition_layer")
"""Part of SAPP's layout but of no consequence: nothing to warn about."""
