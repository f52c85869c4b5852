"""Pipeline and settings of the balancer inside a scenario file."""

from dataclasses import fields

from sapp_core.documents.report import found
from sapp_core.documents.section import Section
from sapp_core.domain.pipeline import Pipeline, Placement, Remainder
from sapp_core.domain.plan import Plan
from sapp_core.domain.request import LARGEST_SEED, BalanceRequest, Pin
from sapp_core.domain.result import MemoryModel, Objective
from sapp_core.errors import SappError
from sapp_core.interchange.result import Json
from sapp_core.interchange.scenario_profile import MAX_VALUE, given, mappings, refuse_all

START = "start"
"""Key of the plan that a search begins with."""

_LIMIT = "memory_limit_mb"
_MAX_SIZE = 100_000
"""Of stages, micro-batches and chunks, and of cells: a typing error, not a pipeline, is larger."""
_PIPELINE_KEYS = tuple(field.name for field in fields(Pipeline))
_SETTINGS_KEYS = tuple(field.name for field in fields(BalanceRequest))
_PIN_KEYS = tuple(field.name for field in fields(Pin))


def read_pipeline(section: Section) -> Pipeline | None:
    """The pipeline of a section; None when the report of the section says why there is none."""
    before = len(section.report.problems)
    usual = Pipeline(1, 1)

    def size(key: str, *, required: bool = False) -> int:
        return section.whole(key, least=1, most=_MAX_SIZE, required=required) or 1

    def share(key: str, default: float) -> float:
        value = section.number(key, most=1)
        return default if value is None else value

    stages, chunks = size("num_stages", required=True), size("num_chunks")
    if stages * chunks > _MAX_SIZE:
        section.report.refuse(
            section.path, f"may have up to {_MAX_SIZE:,} cells, found {stages:,} stages × {chunks:,} chunks."
        )
    try:
        pipeline = Pipeline(
            num_stages=stages,
            num_micro_batches=size("num_micro_batches", required=True),
            num_chunks=chunks,
            num_sequence_splits=size("num_sequence_splits"),
            placement=Placement(section.choice("placement", tuple(Placement)) or usual.placement),
            group_size=section.whole("group_size", least=1, most=_MAX_SIZE),
            remainder=Remainder(section.choice("remainder", tuple(Remainder)) or usual.remainder),
            p2p_time=section.number("p2p_time", most=MAX_VALUE) or 0.0,
            overlap_efficiency=share("overlap_efficiency", usual.overlap_efficiency),
            input_gradient_share=share("input_gradient_share", usual.input_gradient_share),
            weight_gradient_memory_share=share("weight_gradient_memory_share", usual.weight_gradient_memory_share),
        )
    except SappError as error:
        refuse_all(section, error)
        return None
    section.warn_unknown(_PIPELINE_KEYS)
    return pipeline if len(section.report.problems) == before else None


def request_as_object(request: BalanceRequest) -> Json:
    """Settings as `read_request` reads them."""
    limit = request.memory_limit_mb
    return given(
        {
            _LIMIT: list(limit) if isinstance(limit, tuple) else limit,
            "objective": str(request.objective),
            "memory_model": str(request.memory_model),
            "solver": request.solver,
            "time_limit": request.time_limit,
            "seed": request.seed,
            "threads": request.threads,
            "pinned": [{key: getattr(pin, key) for key in _PIN_KEYS} for pin in request.pinned] or None,
            START: request.start and request.start.as_dict(),
        }
    )


def read_request(section: Section, start: Plan | None) -> BalanceRequest | None:
    """The settings of a section; None when the report of the section says why there are none.

    Args:
        section: the settings.
        start: the plan of their key `start`, as it was read.
    """
    before = len(section.report.problems)
    usual = BalanceRequest(memory_limit_mb=None)
    seed = section.whole("seed", least=0, most=LARGEST_SEED)
    try:
        request = BalanceRequest(
            memory_limit_mb=_limit(section),
            objective=Objective(section.choice("objective", tuple(Objective)) or usual.objective),
            memory_model=MemoryModel(section.choice("memory_model", tuple(MemoryModel)) or usual.memory_model),
            solver=section.text("solver") or usual.solver,
            time_limit=section.number("time_limit", most=MAX_VALUE, positive=True) or usual.time_limit,
            seed=usual.seed if seed is None else seed,
            threads=section.whole("threads", least=1, most=_MAX_SIZE) or usual.threads,
            pinned=tuple(pin for entry in mappings(section, "pinned", required=False) if (pin := _pin(entry))),
            start=start,
        )
    except SappError as error:
        refuse_all(section, error)
        return None
    section.warn_unknown(_SETTINGS_KEYS)
    return request if len(section.report.problems) == before else None


def _limit(section: Section) -> float | tuple[float, ...] | None:
    value = section.values.get(_LIMIT)
    if not isinstance(value, list):
        return section.number(_LIMIT, most=MAX_VALUE, positive=True)
    # Each limit is read like a single one, under its own path.
    path = section.at(_LIMIT)
    limits = []
    for stage, entry in enumerate(value):
        if isinstance(entry, int | float) and not isinstance(entry, bool) and 0 < entry <= MAX_VALUE:
            limits.append(float(entry))
        else:
            section.report.refuse(f"{path}[{stage}]", f"must be a number above 0, found {found(entry)}.")
    return tuple(limits)


def _pin(section: Section) -> Pin | None:
    chunk, stage, layers = (section.whole(key, least=0, most=_MAX_SIZE, required=True) for key in _PIN_KEYS)
    section.warn_unknown(_PIN_KEYS)
    return None if chunk is None or stage is None or layers is None else Pin(chunk, stage, layers)
