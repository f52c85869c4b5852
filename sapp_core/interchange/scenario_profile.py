"""A resolved profile inside a scenario file: all numbers, nothing left to derive."""

from dataclasses import fields

from sapp_core.documents.report import found, number_text
from sapp_core.documents.section import Section
from sapp_core.documents.tree import Refused
from sapp_core.domain.profile import MAX_KINDS, MAX_LAYERS, MODES, LayerKind, LayerProfile, ModelProfile, TrainingShape
from sapp_core.errors import SappError
from sapp_core.interchange.result import Json

MAX_VALUE = 10**18
"""Of any time, memory or count; sums of a step stay finite far beyond."""

_MODES = tuple(map(str, MODES))
_TRAINING_KEYS = tuple(field.name for field in fields(TrainingShape))
_LAYER_KEYS = ("name", "kind", "num_layers", "forward_time", "backward_time", "parameter_mb", "activation_mb")
_PROFILE_KEYS = ("name", "time_unit", "constant_mb", "memory_limit_mb", "training", "layers")


def given(values: dict[str, object]) -> Json:
    """A mapping for a file: what is not known is left out, not written as null."""
    return {key: value for key, value in values.items() if value is not None}


def profile_as_object(profile: ModelProfile) -> Json:
    """A profile as `read_profile` reads it."""
    training = profile.training
    return given(
        {
            "name": profile.name,
            "time_unit": profile.time_unit,
            "constant_mb": profile.constant_mb,
            "memory_limit_mb": profile.memory_limit_mb,
            "training": training and given({key: getattr(training, key) for key in _TRAINING_KEYS}),
            "layers": [
                {
                    "name": layer.name,
                    "kind": str(layer.kind),
                    "num_layers": layer.num_layers,
                    "forward_time": layer.forward_time,
                    "backward_time": dict(zip(_MODES, layer.backward_time, strict=True)),
                    "parameter_mb": layer.parameter_mb,
                    "activation_mb": given(dict(zip(_MODES, layer.activation_mb, strict=True))),
                }
                for layer in profile.layers
            ],
        }
    )


def read_profile(section: Section) -> ModelProfile | None:
    """The profile of a section; None when the report of the section says why there is none."""
    before = len(section.report.problems)
    name, unit = section.text("name", required=True), section.text("time_unit", required=True)
    constant = section.number("constant_mb", most=MAX_VALUE, required=True)
    limit = section.number("memory_limit_mb", most=MAX_VALUE, positive=True)
    training = _training(section)
    layers = [_layer(entry) for entry in _kinds(section)]
    section.warn_unknown(_PROFILE_KEYS)
    whole = [layer for layer in layers if layer is not None]
    if (total := sum(layer.num_layers for layer in whole)) > MAX_LAYERS:
        section.report.refuse(
            section.at("layers"), f"must hold at most {MAX_LAYERS:,} layers in all, found {number_text(total)}."
        )
    if whole and len(whole) == len(layers) and not any(layer.forward_time or layer.backward_time[0] for layer in whole):
        section.report.refuse(section.at("layers"), "must hold a layer that takes time, found only times of 0.")
    if name is None or unit is None or constant is None or len(whole) < len(layers):
        return None
    if len(section.report.problems) > before:
        return None
    try:
        return ModelProfile(name, tuple(whole), constant, unit, training, limit)
    except SappError as error:
        refuse_all(section, error)
        return None


def _kinds(section: Section) -> list[Section]:
    entries = section.values.get("layers")
    if isinstance(entries, list) and len(entries) > MAX_KINDS:
        section.report.stop(section.at("layers"), f"must hold at most {MAX_KINDS} layer kinds, found {len(entries):,}.")
    return mappings(section, "layers")


def mappings(section: Section, key: str, *, required: bool = True) -> list[Section]:
    """The mappings of a list, each as a section; entries that are none go to the report."""
    sections = []
    for index, entry in enumerate(section.entries(key, required=required) or ()):
        path = f"{section.at(key)}[{index}]"
        if isinstance(entry, dict):
            sections.append(Section(entry, path, section.report))
        elif not isinstance(entry, Refused):
            section.report.refuse(path, f"must be a mapping of keys to values, found {found(entry)}.")
    return sections


def refuse_all(section: Section, error: SappError) -> None:
    """Put the sentences of a type that refused its values into the report, with the path of the section."""
    for problem in error.problems:
        field, colon, rule = problem.partition(": ")
        if colon and field.isidentifier():
            section.report.refuse(section.at(field), rule)
        else:
            section.report.refuse(section.path, problem)


def _training(profile: Section) -> TrainingShape | None:
    section = profile.section("training")
    if section is None:
        return None
    section.warn_unknown(_TRAINING_KEYS)
    return TrainingShape(**{key: section.whole(key, least=0, most=MAX_VALUE) for key in _TRAINING_KEYS})


def _layer(section: Section) -> LayerProfile | None:
    name = section.text("name", required=True)
    kind = section.choice("kind", tuple(LayerKind), required=True)
    count = section.whole("num_layers", least=1, most=MAX_VALUE, required=True)
    forward = section.number("forward_time", most=MAX_VALUE, required=True)
    parameter = section.number("parameter_mb", most=MAX_VALUE, required=True)
    backward = _by_mode(section, "backward_time", required=True)
    activation = _by_mode(section, "activation_mb", required=False)
    section.warn_unknown(_LAYER_KEYS)
    times = tuple(time for time in backward if time is not None)
    if name is None or kind is None or count is None or forward is None or parameter is None or len(times) < len(MODES):
        return None
    return LayerProfile(name, LayerKind(kind), count, forward, times, parameter, activation)


def _by_mode(layer: Section, key: str, *, required: bool) -> tuple[float | None, ...]:
    section = layer.section(key, required=True) or Section({}, layer.at(key), layer.report)
    section.warn_unknown(_MODES)
    there = layer.has(key)
    return tuple(section.number(mode, most=MAX_VALUE, required=required and there) for mode in _MODES)
