"""A profile file to a `ModelProfile`: every field checked, every time resolved."""

from dataclasses import dataclass
from pathlib import PurePath

from sapp_core.documents.report import Report
from sapp_core.documents.section import MAX_TEXT, Section, read_sections
from sapp_core.domain.profile import ModelProfile, TrainingShape
from sapp_core.errors import ProfileError
from sapp_core.profiles.dry_run_file import is_dry_run
from sapp_core.profiles.dry_run_profile import read_dry_run_profile
from sapp_core.profiles.layers import read_layers
from sapp_core.profiles.schema import (
    LAYERS,
    MAX_NUMBER,
    MAX_UNIT_LENGTH,
    PROFILE_KEYS,
    SETTINGS,
    TRAINING_KEYS,
    UNUSED_KEYS,
)


@dataclass(frozen=True, slots=True)
class LoadedProfile:
    """What a file holds, and what the user should know about how it was read.

    Attributes:
        profile: resolved.
        warnings: one sentence each, beginning with the path of the field.
    """

    profile: ModelProfile
    warnings: tuple[str, ...]


def load_profile(data: bytes, source: str) -> LoadedProfile:
    """Read a profile file, or a dry-run file, whose peaks are turned into a profile.

    Args:
        data: JSON or YAML, told apart by content.
        source: name of the file, for messages and for a profile without a name.

    Raises:
        ProfileError: with all that is wrong with the file, one sentence each: path, rule, what was found.
    """
    report = Report(source, ProfileError)
    top = read_sections(data, report)
    if is_dry_run(top):
        return LoadedProfile(read_dry_run_profile(top, name_of(source)), tuple(report.warnings))
    name = top.text("name")
    constant = top.number("stage_const_mem", most=MAX_NUMBER)
    unit = top.text("time_unit", most=MAX_UNIT_LENGTH)
    limit = top.number("memory_limit", most=MAX_NUMBER, positive=True)
    training = _training(top)
    layers = read_layers(top)
    if top.has(SETTINGS) and not top.has(LAYERS):
        report.refuse(SETTINGS, "belongs to a pipeline settings file; a profile describes layers.")
    top.warn_unknown(PROFILE_KEYS, UNUSED_KEYS)
    report.raise_problems()
    if name is None:
        name = name_of(source)
        report.warn("name", f"is not given; the profile is called {name} after its file.")
    profile = ModelProfile(name, layers, constant or 0.0, unit or "ms", training, limit)
    _warn_missing_memory(profile, report)
    return LoadedProfile(profile, tuple(report.warnings))


def _training(top: Section) -> TrainingShape | None:
    section = top.section("training")
    if section is None:
        return None
    section.warn_unknown(TRAINING_KEYS)
    return TrainingShape(**{key: section.whole(key, least=1, most=MAX_NUMBER) for key in TRAINING_KEYS})


def name_of(source: str) -> str:
    """What a profile or model without a name is called: its file, without what cannot be shown."""
    stem = "".join(character for character in PurePath(source).stem if character.isprintable())
    return stem.strip()[:MAX_TEXT] or "profile"


def _warn_missing_memory(profile: ModelProfile, report: Report) -> None:
    if not profile.has_memory:
        report.warn(LAYERS, "gives no memory, so only time can be balanced and the memory charts stay empty.")
    elif not any(memory for layer in profile.body for memory in layer.activation_mb):
        report.warn(LAYERS, "gives no activation memory for the BODY kinds, so their activations count as 0 MB.")
