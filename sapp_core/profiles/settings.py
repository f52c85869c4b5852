"""The pipeline settings file of SAPP users: sizes of the pipeline and options of the balancer, all optional."""

from dataclasses import dataclass

from sapp_core.documents.report import Report
from sapp_core.documents.section import Section, read_sections
from sapp_core.domain.profile import MAX_LAYERS
from sapp_core.errors import ProfileError
from sapp_core.profiles.schema import MAX_NUMBER, SETTINGS

MAX_PIPELINE_SIZE = 100_000
"""Of stages, micro-batches and chunks: a typing error, not a pipeline, is larger."""

SETTINGS_KEYS = (
    "pipeline_num",
    "micro_batch_num",
    "num_layer",
    "num_of_interleave",
    "vpp_less_memory",
    "optimization_level",
    "memory_limit",
    "constant_memory",
    "sim_comm_time",
)
_UNUSED_KEYS = ("enable_simulation", "offset")
"""SAPP's own: a simulation always runs here, and an offset is a plan, not a setting."""

_UNUSED_SECTIONS = ("recompute_config", "memory_usage", "time_config")
"""Parts of a dry-run file, whose `pipeline_config` may be used as settings."""


@dataclass(frozen=True, slots=True)
class PipelineSettings:
    """Values for the sliders; None = not said in the file.

    Attributes:
        num_stages: pipeline ranks (`pipeline_num`).
        num_micro_batches: of one training step (`micro_batch_num`).
        num_layers: body layers that the settings were written for (`num_layer`).
        num_chunks: chunks a stage (`num_of_interleave`).
        less_memory: the interleaved schedule with fewer activations (`vpp_less_memory`).
        optimization_level: 0, 1 or 2, SAPP's surrogate objectives (`optimization_level`).
        memory_limit_mb: MiB a stage (`memory_limit`; 0 is SAPP's way to leave it open).
        constant_mb: MiB on every stage (`constant_memory`).
        p2p_time: transfer between stages, in the profile's time unit (`sim_comm_time`).
        warnings: one sentence for each key that was ignored, beginning with its path.
    """

    num_stages: int | None = None
    num_micro_batches: int | None = None
    num_layers: int | None = None
    num_chunks: int | None = None
    less_memory: bool | None = None
    optimization_level: int | None = None
    memory_limit_mb: float | None = None
    constant_mb: float | None = None
    p2p_time: float | None = None
    warnings: tuple[str, ...] = ()


def load_settings(data: bytes, source: str) -> PipelineSettings:
    """Read a pipeline settings file.

    Args:
        data: JSON or YAML, told apart by content.
        source: name of the file, for messages.

    Raises:
        ProfileError: with all that is wrong with the file, one sentence each: path, rule, what was found.
    """
    report = Report(source, ProfileError)
    top = read_sections(data, report)
    top.warn_unknown((SETTINGS,), _UNUSED_SECTIONS)
    section = top.section(SETTINGS, required=True) or Section({}, SETTINGS, report)
    section.warn_unknown(SETTINGS_KEYS, _UNUSED_KEYS)
    settings = PipelineSettings(
        num_stages=section.whole("pipeline_num", least=1, most=MAX_PIPELINE_SIZE),
        num_micro_batches=section.whole("micro_batch_num", least=1, most=MAX_PIPELINE_SIZE),
        num_layers=section.whole("num_layer", least=1, most=MAX_LAYERS),
        num_chunks=section.whole("num_of_interleave", least=1, most=MAX_PIPELINE_SIZE),
        less_memory=section.flag("vpp_less_memory"),
        optimization_level=section.whole("optimization_level", least=0, most=2),
        memory_limit_mb=section.number("memory_limit", most=MAX_NUMBER) or None,
        constant_mb=section.number("constant_memory", most=MAX_NUMBER),
        p2p_time=section.number("sim_comm_time", most=MAX_NUMBER),
        warnings=tuple(report.warnings),
    )
    report.raise_problems()
    return settings
