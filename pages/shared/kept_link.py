"""Kept scenarios inside a link: settings and plans, packed; answers are left out, since a link proves nothing.

A sample profile is named, an uploaded one is private and never enters a link.
"""

import base64
import binascii
import json
import zlib
from dataclasses import replace

from pages.shared.kept import Shelf
from pages.shared.sources import sample, sample_named_like, sample_names
from sapp_core.errors import FormatError
from sapp_core.interchange.comparison import (
    NamedScenario,
    ReadComparison,
    comparison_as_object,
    comparison_from_json,
)
from sapp_core.interchange.scenario import SavedScenario
from sapp_core.interchange.scenario_profile import profile_as_object

LONGEST = 2_000
"""Characters; browsers and chats cut longer addresses."""

_PROFILE, _SAMPLE, _CONSTANT = "profile", "sample", "constant_mb"
_MOST_BYTES = 1_000_000
"""Unpacked: a link that says more is no link of ours."""
_CUT = "kept: this part of the link was cut or changed, so the scenarios in it cannot be read; copy the whole link."


def to_link(shelf: Shelf) -> str | None:
    """All kept scenarios as letters, digits, `-` and `_`; None when a link cannot hold them."""
    samples = [sample_named_like(kept.scenario.profile) for kept in shelf]
    if not all(samples):
        return None
    document = comparison_as_object(
        [NamedScenario(kept.name, SavedScenario(kept.scenario, kept.plan), kept.is_shown) for kept in shelf]
    )
    entries = [
        entry | {_PROFILE: {_SAMPLE: name, _CONSTANT: kept.scenario.profile.constant_mb}}
        for entry, name, kept in zip(document["scenarios"], samples, shelf, strict=True)
    ]
    text = json.dumps(document | {"scenarios": entries}, separators=(",", ":"))
    packed = base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")
    return packed if len(packed) <= LONGEST else None


def from_link(text: str) -> ReadComparison:
    """The scenarios of a link.

    Raises:
        FormatError: with all that is wrong with them.
    """
    document = _unpacked(text)
    entries = document.get("scenarios") if isinstance(document, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            entry[_PROFILE] = _profile(entry.get(_PROFILE))
    try:
        text = json.dumps(document)
    except RecursionError as error:  # writing goes less deep than reading
        raise FormatError(_CUT) from error
    return comparison_from_json(text.encode(), "kept")


def _unpacked(text: str) -> object:
    if len(text) > LONGEST:
        raise FormatError(_CUT)
    try:
        packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        unpacking = zlib.decompressobj()
        data = unpacking.decompress(packed, _MOST_BYTES)
        if not unpacking.eof:
            raise FormatError(_CUT)
        return json.loads(data)
    except (binascii.Error, zlib.error, ValueError, RecursionError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(_CUT) from error


def _profile(named: object) -> object:
    """The sample that a link names, in full; what names none is left for the reader to refuse."""
    if not isinstance(named, dict) or named.get(_SAMPLE) not in sample_names():
        raise FormatError(
            f"kept: the link names a profile that is no sample of this server; they are {', '.join(sample_names())}."
        )
    profile = sample(str(named[_SAMPLE])).profile
    return profile_as_object(replace(profile, constant_mb=0.0)) | {_CONSTANT: named.get(_CONSTANT, profile.constant_mb)}
