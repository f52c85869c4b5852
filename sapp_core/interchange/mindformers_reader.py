"""Reading a plan out of MindFormers settings.

The keys are looked for where MindFormers' training files have them (`model.model_config`, `recompute_config`), where
the init files of its pipeline balancer have them (`pipeline_config`), and at the top. As in MindFormers a missing key
means 0, `true` means all layers, and counts beyond a cell's layers mean all of them.
"""

from sapp_core.documents.report import child, found, found_keys
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Cells, LayerPlacement, Plan, placed
from sapp_core.domain.profile import LayerProfile, ModelProfile
from sapp_core.domain.recompute_counts import FIELDS, layers_by_mode
from sapp_core.errors import FormatError
from sapp_core.interchange.cells import read_cells

LAYERS = "layers"
"""Key of the mapping from layer kind to its settings, for profiles with several body kinds."""

OFFSET = "offset"

_PLACES: dict[str, tuple[str, ...]] = {
    OFFSET: (OFFSET, f"model.model_config.{OFFSET}", f"pipeline_config.{OFFSET}"),
    **{field: (field, f"recompute_config.{field}") for field in FIELDS},
}
"""Key of a plan → the dotted paths where files have it."""

Settings = dict[str, object]

_STAGES = ("parallel_config.pipeline_stage", "pipeline_config.pipeline_num")
_CHUNKS = ("pp_interleave_num", "model.model_config.pp_interleave_num", "pipeline_config.num_of_interleave")
_NUM_LAYERS = ("num_layers", "model.model_config.num_layers", "pipeline_config.num_layer")


def plan_from_settings(document: object, profile: ModelProfile, pipeline: Pipeline) -> Plan:
    """The plan that MindFormers would run with settings that are parsed already.

    Raises:
        FormatError: not such settings, or made for other numbers of stages, chunks or layers.
        PlanError: it uses a recompute mode that the profile does not offer, or breaks the order of the kinds.
    """
    if not isinstance(document, dict):
        raise FormatError(f"MindFormers settings: must be a mapping of keys, found {found(document)}.")
    problems = _size_problems(document, "", _STAGES, pipeline.num_stages, "stages of the pipeline")
    placements = []
    for layer, (path, settings) in zip(profile.body, _blocks(document, profile).items(), strict=True):
        try:
            placements.append(_placement(settings, path, layer, pipeline))
        except FormatError as error:
            problems += error.problems
    if problems:
        raise FormatError(*problems)
    plan = Plan(tuple(placements))
    plan.check(profile, pipeline)
    return plan


def is_mindformers(document: object) -> bool:
    """Whether a parsed file has any key of a plan where MindFormers or its balancer has it."""
    return isinstance(document, dict) and (
        LAYERS in document or any(_lookup(document, places) for places in _PLACES.values())
    )


def _blocks(document: Settings, profile: ModelProfile) -> dict[str, Settings]:
    """Path of its block → settings of each body kind, in model order; one kind may use the whole document."""
    names = [layer.name for layer in profile.body]
    if LAYERS not in document:
        if len(names) == 1:
            return {"": document}
        raise FormatError(f"{LAYERS}: missing; the layer kinds {', '.join(names)} need a block of settings each.")
    layers = document[LAYERS]
    if not isinstance(layers, dict) or set(layers) != set(names):
        rule = f"must have a block of settings for each of {', '.join(names)}"
        raise FormatError(f"{LAYERS}: {rule}, found {found_keys(layers)}.")
    problems = [
        f"{child(LAYERS, name)}: must be a mapping of settings, found {found(layers[name])}."
        for name in names
        if not isinstance(layers[name], dict)
    ]
    if problems:
        raise FormatError(*problems)
    return {child(LAYERS, name): layers[name] for name in names}


def _placement(settings: Settings, path: str, layer: LayerProfile, pipeline: Pipeline) -> LayerPlacement:
    """Placement of one kind from its block of settings."""
    problems = [
        *_size_problems(settings, path, _CHUNKS, pipeline.num_chunks, "chunks of each stage"),
        *_size_problems(settings, path, _NUM_LAYERS, layer.num_layers, f"layers of {layer.name} in the profile"),
    ]
    if not any(_lookup(settings, places) for places in _PLACES.values()):
        problems.append(f"{_at(path, OFFSET)}: missing, and so are {', '.join(FIELDS)}.")
    if problems:
        raise FormatError(*problems)
    totals = _totals(settings, path, layer, pipeline)
    counts = {}
    for field in FIELDS:
        try:
            counts[field] = _field(settings, path, field, totals, pipeline)
        except FormatError as error:
            problems += error.problems
    if problems:
        raise FormatError(*problems)
    entries = [
        (mode, c, s, count)
        for c in range(pipeline.num_chunks)
        for s in range(pipeline.num_stages)
        for mode, count in layers_by_mode(totals[c][s], *(counts[field][c][s] for field in FIELDS)).items()
    ]
    return placed(layer.name, pipeline, entries)


def _totals(settings: Settings, path: str, layer: LayerProfile, pipeline: Pipeline) -> Cells:
    """Layers of every cell: the even share and the offset."""
    offset_path, value = _setting(settings, path, OFFSET)
    share, rest = divmod(layer.num_layers, pipeline.num_virtual_stages)
    offset = _uniform(0, pipeline) if value == 0 else read_cells(value, offset_path, pipeline, negative=True)
    problems = [
        f"{offset_path}: chunk {c}, stage {s}: the even share is {share} layers, so that the smallest offset is "
        f"{-share}, found {found(number)}."
        for c, row in enumerate(offset)
        for s, number in enumerate(row)
        if share + number < 0
    ]
    total = sum(offset[c][s] for c, s in (pipeline.cells(v)[0] for v in range(pipeline.num_virtual_stages)))
    if total != rest:
        problems.append(
            f"{offset_path}: the offsets sum to {total}, but must sum to {rest}: {layer.num_layers} layers = "
            f"{pipeline.num_virtual_stages} cells × {share} (even share) + {rest}."
        )
    if problems:
        raise FormatError(*problems)
    return tuple(tuple(share + number for number in row) for row in offset)


def _field(settings: Settings, path: str, field: str, totals: Cells, pipeline: Pipeline) -> Cells:
    """Layers of every cell that one recompute key counts."""
    field_path, value = _setting(settings, path, field)
    if not isinstance(value, dict):
        return _counts(value, field_path, totals, pipeline)
    # One entry for each operator: a mode of ours only when all of them are recomputed in the same layers.
    different = {_counts(entry, child(field_path, key), totals, pipeline) for key, entry in value.items()}
    if len(different) != 1:
        raise FormatError(f"{field_path}: needs the same counts for all of its operators; a plan knows no finer modes.")
    return different.pop()


def _counts(value: object, path: str, totals: Cells, pipeline: Pipeline) -> Cells:
    if isinstance(value, list):
        if value and all(isinstance(entry, str) for entry in value):
            return totals  # a list of operators: recomputed in all layers
        counts = read_cells(_without_booleans(value, max(map(max, totals))), path, pipeline)
        return tuple(tuple(map(min, row, total)) for row, total in zip(counts, totals, strict=True))
    if value is True:
        return totals
    if value is False or value == 0:
        return _uniform(0, pipeline)
    raise FormatError(f"{path}: must be 0, false, true or a list, found {found(value)}.")


def _lookup(settings: Settings, places: tuple[str, ...]) -> dict[str, object]:
    """Dotted path → value, for those places that hold one."""
    values: dict[str, object] = {}
    for place in places:
        value: object = settings
        for key in place.split("."):
            if not isinstance(value, dict) or key not in value:
                break
            value = value[key]
        else:
            values[place] = value
    return values


def _setting(settings: Settings, path: str, key: str) -> tuple[str, object]:
    """(path, value) of a key; 0 when it is missing or empty."""
    values = _lookup(settings, _PLACES[key])
    if len(values) > 1:
        raise FormatError(f"{' and '.join(_at(path, place) for place in values)}: the same setting twice; keep one.")
    place, value = next(iter(values.items()), (key, None))
    return _at(path, place), 0 if value is None else value


def _size_problems(settings: Settings, path: str, places: tuple[str, ...], number: int, meaning: str) -> list[str]:
    """A size that is written down must be the size of what we have."""
    return [
        f"{_at(path, place)}: must be {number}, the number of {meaning}, found {found(value)}."
        for place, value in _lookup(settings, places).items()
        if value != number
    ]


def _at(path: str, place: str) -> str:
    return f"{path}.{place}" if path else place


def _uniform(number: int, pipeline: Pipeline) -> Cells:
    return ((number,) * pipeline.num_stages,) * pipeline.num_chunks


def _without_booleans(value: object, everything: int) -> object:
    """The same lists with `true` and `false` as numbers of layers."""
    if isinstance(value, list):
        return [_without_booleans(entry, everything) for entry in value]
    if isinstance(value, bool):
        return everything if value else 0
    return value
