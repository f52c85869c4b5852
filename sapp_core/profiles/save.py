"""`ModelProfile` → the profile file that reads back as it, and the same file with numbers changed by hand."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields

import yaml

from sapp_core.domain.profile import MODES, LayerKind, LayerProfile, ModelProfile
from sapp_core.profiles.load import LoadedProfile, load_profile
from sapp_core.profiles.schema import LAYERS, MODE_KEYS

Row = Mapping[str, object]
"""A layer kind's keys as they stand in a profile file; None = the key is left out."""


def profile_rows(profile: ModelProfile) -> tuple[dict[str, object], ...]:
    """A row for each layer kind, with the times of all modes that it offers written out."""
    return tuple(_row(layer) for layer in profile.layers)


def profile_text(profile: ModelProfile, *, as_json: bool = False) -> str:
    """The profile as YAML or JSON text."""
    return _written(profile, profile_rows(profile), as_json=as_json)


def with_rows(profile: ModelProfile, rows: Sequence[Row]) -> LoadedProfile:
    """The profile with other numbers for its layer kinds, read and checked like a file that holds them.

    Args:
        profile: what stays besides the layers.
        rows: as of `profile_rows`; a backward time that is left out follows from the forward time.

    Raises:
        ProfileError: with all that is wrong with the numbers, one sentence each.
    """
    return load_profile(_written(profile, rows, as_json=True).encode(), profile.name)


def _written(profile: ModelProfile, rows: Sequence[Row], *, as_json: bool) -> str:
    training = profile.training and {
        field.name: getattr(profile.training, field.name) for field in fields(profile.training)
    }
    document = {
        "name": profile.name,
        "stage_const_mem": profile.constant_mb,
        "time_unit": profile.time_unit,
        "memory_limit": profile.memory_limit_mb,
        "training": training and _given(training),
        LAYERS: [_given(row) for row in rows],
    }
    if as_json:
        return json.dumps(_given(document), indent=2, ensure_ascii=False) + "\n"
    return str(yaml.safe_dump(_given(document), sort_keys=False, allow_unicode=True, width=110))


def _row(layer: LayerProfile) -> dict[str, object]:
    is_body = layer.kind is LayerKind.BODY
    row: dict[str, object] = {
        "name": layer.name,
        "type": str(layer.kind),
        "nb_layer": layer.num_layers,
        "time": layer.forward_time,
        "memory_parameter": layer.parameter_mb,
    }
    for r, keys in enumerate(MODE_KEYS[: len(MODES) if is_body else 1]):
        kept = layer.activation_mb[r]
        # Of head and tail nothing kept is not worth a line; of the body a mode without memory is not offered.
        row[keys.memory] = kept if is_body else kept or None
        row[keys.time] = None if is_body and kept is None else layer.backward_time[r] or None
    return row


def _given(values: Row) -> dict[str, object]:
    return {key: value for key, value in values.items() if value is not None}
