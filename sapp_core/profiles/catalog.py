"""Models and devices that come with the project, each with the source of its numbers."""

from dataclasses import dataclass
from pathlib import Path

from sapp_core.documents.report import Report
from sapp_core.documents.section import Section, read_sections
from sapp_core.errors import ProfileError
from sapp_core.profiles.config import read_config
from sapp_core.profiles.model_shape import ModelShape
from sapp_core.profiles.training_setup import MAX_SIZE, Device

_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model with published sizes.

    Attributes:
        title: as people call it.
        shape: its sizes.
        source: where they are published.
    """

    title: str
    shape: ModelShape
    source: str


def known_models() -> tuple[KnownModel, ...]:
    """All ready-made models, by file name.

    Raises:
        ProfileError: a data file of the project is broken.
    """
    return tuple(_model(path) for path in sorted((_DATA / "models").glob("*.yaml")))


def known_devices() -> tuple[Device, ...]:
    """All devices, in the order of the file.

    Raises:
        ProfileError: the data file of the project is broken.
    """
    path = _DATA / "devices.yaml"
    report = Report(path.name, ProfileError)
    entries = read_sections(path.read_bytes(), report).entries("devices", required=True) or []
    sections = [
        Section(entry, f"devices[{i}]", report) for i, entry in enumerate(entries) if isinstance(entry, dict)
    ]  # fmt: skip
    devices = tuple(_device(section) for section in sections)
    report.raise_problems()
    return devices


def _device(section: Section) -> Device:
    half, single, memory = (
        section.number(key, most=MAX_SIZE, positive=True, required=True) or 0.0
        for key in ("half_tflops", "single_tflops", "memory_gb")
    )
    name, source = section.text("name", required=True), section.text("source", required=True)
    return Device(name or "", half, single, memory, source or "")


def _model(path: Path) -> KnownModel:
    report = Report(path.name, ProfileError)
    top = read_sections(path.read_bytes(), report)
    title, source = top.text("title", required=True), top.text("source", required=True)
    config = top.section("config", required=True)
    shape = None if config is None else read_config(config, title or path.stem)
    report.raise_problems()
    if title is None or source is None or shape is None:
        report.stop("", "does not describe a model.")
    return KnownModel(title, shape, source)
