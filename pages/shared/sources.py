"""Where a profile comes from: the samples of the project, or a file the user brings."""

from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st

from sapp_core.domain.profile import ModelProfile
from sapp_core.errors import SappError
from sapp_core.profiles.load import LoadedProfile, load_profile
from sapp_core.profiles.settings import PipelineSettings, load_settings

UPLOADED = "uploaded"
"""The chooser's entry for the user's own file; the only one a link cannot carry."""
FIRST_SAMPLE = "small32"
TEMPLATE = "template"

_SAMPLES = Path(__file__).resolve().parents[2] / "sample_profiles"


@dataclass(frozen=True, slots=True)
class Upload:
    """What the last upload gave.

    Attributes:
        profile: the last file that could be read; a broken one does not replace it.
        problems: sentences on the newest file, if it could not be read.
        rejected: name of that file.
    """

    profile: LoadedProfile | None = None
    problems: tuple[str, ...] = ()
    rejected: str = ""


def sample_names() -> list[str]:
    """Samples to choose from, the one that opens first in front."""
    names = sorted(path.stem for path in _SAMPLES.glob("*.yaml") if path.stem != TEMPLATE)
    return sorted(names, key=lambda name: name != FIRST_SAMPLE)


@st.cache_resource(max_entries=16, show_spinner=False)
def sample(name: str) -> LoadedProfile:
    """A sample profile, read once."""
    path = _SAMPLES / f"{name}.yaml"
    return load_profile(path.read_bytes(), path.name)


def sample_named_like(profile: ModelProfile) -> str | None:
    """The sample that a profile is, whatever its constant memory, which has a control of its own; None = no sample."""
    return next(
        (name for name in sample_names() if replace(sample(name).profile, constant_mb=profile.constant_mb) == profile),
        None,
    )


def template_bytes() -> bytes:
    """The commented template, for a profile of one's own."""
    return (_SAMPLES / f"{TEMPLATE}.yaml").read_bytes()


def read_profile(data: bytes, name: str, before: Upload) -> Upload:
    """An uploaded profile; when it cannot be read, the one before stays."""
    try:
        return Upload(profile=load_profile(data, name))
    except SappError as error:
        return Upload(before.profile, error.problems, name)


def read_settings(data: bytes, name: str) -> PipelineSettings | tuple[str, ...]:
    """Uploaded pipeline settings, or the sentences on what is wrong with them."""
    try:
        return load_settings(data, name)
    except SappError as error:
        return error.problems
