"""The layer kinds of a profile: each description to a `LayerProfile`, and what they have to agree on."""

from collections.abc import Sequence
from dataclasses import replace

from sapp_core.documents.report import found, number_text, quoted
from sapp_core.documents.section import Section
from sapp_core.documents.tree import Refused
from sapp_core.domain.profile import MAX_KINDS, MAX_LAYERS, LayerKind, LayerProfile
from sapp_core.profiles.schema import (
    KINDS,
    LAYER_KEYS,
    LAYERS,
    MAX_COEFFICIENT,
    MAX_NUMBER,
    MEMORY_KEYS,
    MODE_KEYS,
    RECOMPUTE_TIME,
    RECOMPUTE_TIME_WITH_BLANK,
    UNUSED_KEYS,
    ModeKeys,
)

_NAMES_SHOWN = 5


def read_layers(top: Section) -> tuple[LayerProfile, ...]:
    """All layer kinds in the file's order, resolved, with the recompute modes that every BODY kind offers.

    What is wrong goes to the report of the section; the answer is of use only when nothing is.
    """
    sections = _layer_sections(top)
    bodies = [section for section in sections if section.values.get("type") == LayerKind.BODY]
    knows_memory = any(section.has(key) for section in bodies for key in MEMORY_KEYS)
    layers = [_read_layer(section, knows_memory=knows_memory) for section in sections]
    _check_names(sections)
    _check_total(top, sections)
    _check_body(top, sections)
    offered = _offered_modes(top, bodies)
    resolved = tuple(_with_modes(layer, offered) for layer in layers if layer is not None)
    if len(resolved) == len(sections) > 0 and not any(
        layer.forward_time or layer.backward_time[0] for layer in resolved
    ):
        top.report.refuse(LAYERS, "must hold a layer that takes time, found only times of 0.")
    return resolved


def _layer_sections(top: Section) -> list[Section]:
    entries = top.entries(LAYERS, required=True) or []
    if len(entries) > MAX_KINDS:
        top.report.refuse(LAYERS, f"must hold at most {MAX_KINDS} layer kinds, found {len(entries):,}.")
    sections = []
    for i, entry in enumerate(entries[:MAX_KINDS]):
        path = f"{LAYERS}[{i}]"
        if isinstance(entry, dict):
            section = Section(entry, path, top.report)
            sections.append(_with_one_spelling(section))
        elif entry is not Refused.VALUE:
            top.report.refuse(path, f"must be a mapping of keys to values, found {found(entry)}.")
    return sections


def _with_one_spelling(section: Section) -> Section:
    """The section with `recompute_time ` (trailing blank) under its proper name."""
    if not section.has(RECOMPUTE_TIME_WITH_BLANK):
        return section
    if section.has(RECOMPUTE_TIME):
        section.report.refuse(section.at(RECOMPUTE_TIME), "is given twice, once with a trailing blank; keep one.")
    values = {key: value for key, value in section.values.items() if key != RECOMPUTE_TIME_WITH_BLANK}
    return replace(section, values={RECOMPUTE_TIME: section.values[RECOMPUTE_TIME_WITH_BLANK], **values})


def _read_layer(section: Section, *, knows_memory: bool) -> LayerProfile | None:
    name = section.text("name", required=True)
    type_name = section.choice("type", KINDS, required=True)
    num_layers = section.whole("nb_layer", least=1, most=MAX_LAYERS, required=True)
    forward = _forward_time(section)
    backward = tuple(_backward_time(section, keys, forward or 0.0) for keys in MODE_KEYS)
    activation = tuple(section.number(keys.memory, most=MAX_NUMBER) for keys in MODE_KEYS)
    needs_parameter = knows_memory and type_name == LayerKind.BODY
    parameter = section.number("memory_parameter", most=MAX_NUMBER, required=needs_parameter)
    section.warn_unknown(LAYER_KEYS, UNUSED_KEYS)
    if name is None or type_name is None or num_layers is None or forward is None:
        return None
    kind = LayerKind(type_name)
    if kind is not LayerKind.BODY:
        _warn_never_recomputed(section)
        backward = (backward[0],) * len(MODE_KEYS)
        activation = (activation[0] or 0.0, *(None for _ in MODE_KEYS[1:]))
    else:
        _warn_free_modes(section, activation)
    return LayerProfile(name, kind, num_layers, forward, backward, parameter or 0.0, activation)


def _forward_time(section: Section) -> float | None:
    override = section.number("forward_time", most=MAX_NUMBER)
    time = section.number("time", most=MAX_NUMBER, required=not section.has("forward_time"))
    if override == 0 and time:
        section.report.warn(section.at("forward_time"), f"is 0 and takes the place of the time {number_text(time)}.")
    return time if override is None else override


def _backward_time(section: Section, keys: ModeKeys, forward: float) -> float:
    """The explicit time if given and not 0, else (1 + coefficient) · 2 · forward."""
    explicit = section.number(keys.time, most=MAX_NUMBER)
    coefficient = section.number(keys.coefficient, most=MAX_COEFFICIENT)
    if explicit:
        return explicit
    return (1 + (keys.default if coefficient is None else coefficient)) * 2 * forward


def _check_names(sections: Sequence[Section]) -> None:
    first: dict[str, Section] = {}
    for section in sections:
        name = section.values.get("name")
        if isinstance(name, str) and first.setdefault(name, section) is not section:
            section.report.refuse(
                section.at("name"),
                f"must be unique, found {quoted(name)} as in {first[name].path}.",
            )


def _check_total(top: Section, sections: Sequence[Section]) -> None:
    counts = [section.values.get("nb_layer") for section in sections]
    total = sum(count for count in counts if type(count) is int and 0 < count <= MAX_LAYERS)
    if total > MAX_LAYERS:
        top.report.refuse(LAYERS, f"must hold at most {MAX_LAYERS:,} layers in all, found {total:,}.")


def _check_body(top: Section, sections: Sequence[Section]) -> None:
    entries = top.values.get(LAYERS)
    if not isinstance(entries, list) or len(entries) > len(sections):
        return
    # A type that is missing or misspelled may be meant as BODY; it has its own sentence already.
    if all(section.values.get("type") in (LayerKind.HEAD, LayerKind.TAIL) for section in sections):
        top.report.refuse(
            LAYERS, f"must hold at least one layer of type BODY, found {_names(sections) or 'an empty list'}."
        )


def _offered_modes(top: Section, bodies: Sequence[Section]) -> tuple[bool, ...]:
    """`[r]`: whether every BODY kind gives the mode's memory; a mode that only some give is left out, with a warning.

    Without any activation memory the mode `none` is offered alone.
    """
    lacking = [[section for section in bodies if not section.has(keys.memory)] for keys in MODE_KEYS]
    if all(len(sections) == len(bodies) for sections in lacking):
        return (True, *(False for _ in MODE_KEYS[1:]))
    for keys, sections in zip(MODE_KEYS, lacking, strict=True):
        if 0 < len(sections) < len(bodies):
            top.report.warn(
                sections[0].at(keys.memory),
                f"is not given, so the recompute mode {keys.mode} is left out; missing for {_names(sections)}.",
            )
    if all(lacking):
        r = min(range(len(MODE_KEYS)), key=lambda r: len(lacking[r]))
        top.report.refuse(
            LAYERS,
            "must give the memory of at least one recompute mode for every BODY kind, found none; "
            f"nearest: add {MODE_KEYS[r].memory} to {_names(lacking[r])}.",
        )
    return tuple(not sections for sections in lacking)


def _with_modes(layer: LayerProfile, offered: tuple[bool, ...]) -> LayerProfile:
    if layer.kind is not LayerKind.BODY:
        return layer
    return replace(
        layer,
        activation_mb=tuple(
            (memory or 0.0) if is_offered else None
            for memory, is_offered in zip(layer.activation_mb, offered, strict=True)
        ),
    )


def _warn_never_recomputed(section: Section) -> None:
    for keys in MODE_KEYS[1:]:
        for key in (keys.memory, keys.time, keys.coefficient):
            if section.has(key):
                section.report.warn(section.at(key), "was ignored, because head and tail are never recomputed.")


def _warn_free_modes(section: Section, activation: Sequence[float | None]) -> None:
    """A mode said to keep nothing is attractive to the balancer; in SAPP's files 0 may mean "not measured"."""
    if not any(activation):
        return
    for keys, memory in zip(MODE_KEYS, activation, strict=True):
        if memory == 0:
            section.report.warn(
                section.at(keys.memory),
                f"is 0, so the recompute mode {keys.mode} keeps nothing; leave the key out if that is unknown.",
            )


def _names(sections: Sequence[Section]) -> str:
    """Names of the first few layers, or their paths where a name is no text."""
    shown = []
    for section in sections[:_NAMES_SHOWN]:
        name = section.values.get("name")
        shown.append(quoted(name) if isinstance(name, str) else section.path)
    more = len(sections) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
