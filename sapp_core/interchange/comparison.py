"""Comparison files: several named scenarios with their plans and answers, as JSON.

A comparison report carries the comparison it was made from, so it is a comparison file too; and a scenario file is one
with a single scenario.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sapp_core.documents.report import Report
from sapp_core.documents.section import Section
from sapp_core.errors import FormatError
from sapp_core.interchange.result import Json, to_json
from sapp_core.interchange.scenario import (
    SEVERAL_KEY,
    SavedScenario,
    check_version,
    read_scenario,
    scenario_as_object,
    scenario_document,
)
from sapp_core.interchange.scenario_profile import mappings

VERSION = 1
MOST_SCENARIOS = 100
"""A file with more is a mistake."""
LONGEST_NAME = 80
"""Characters of the name of a scenario."""

_SCENARIOS, _NAME, _SHOWN = "scenarios", "name", "shown"


@dataclass(frozen=True, slots=True)
class NamedScenario:
    """One scenario of a comparison.

    Attributes:
        name: for the reader; empty where the file gives none, as a scenario file.
        saved: the scenario with plan and result.
        is_shown: whether it takes part in the comparison.
    """

    name: str
    saved: SavedScenario
    is_shown: bool = True


@dataclass(frozen=True, slots=True)
class ReadComparison:
    """What a file held.

    Attributes:
        scenarios: in the order of the file.
        warnings: one sentence each on what was ignored.
    """

    scenarios: tuple[NamedScenario, ...]
    warnings: tuple[str, ...] = ()


def comparison_to_json(scenarios: Sequence[NamedScenario]) -> str:
    """A comparison file.

    Raises:
        FormatError: a number is infinite or not a number.
    """
    return to_json(comparison_as_object(scenarios))


def comparison_as_object(scenarios: Sequence[NamedScenario]) -> Json:
    """A comparison as `read_comparison` reads it."""
    entries = [
        {_NAME: entry.name, _SHOWN: entry.is_shown}
        | scenario_as_object(entry.saved.scenario, entry.saved.plan, entry.saved.result)
        for entry in scenarios
    ]
    return {SEVERAL_KEY: VERSION, _SCENARIOS: entries}


def comparison_from_json(data: bytes, source: str) -> ReadComparison:
    """Read a comparison file or report, or a scenario file or report.

    Args:
        data: JSON text, or the HTML of a report.
        source: name of the file, for messages.

    Raises:
        FormatError: with all that is wrong with the file, one sentence each: path, rule, what was found.
    """
    report = Report(source, FormatError)
    top = scenario_document(data, report)
    scenarios = read_comparison(top) if is_comparison(top) else _single(top)
    report.raise_problems()
    return ReadComparison(scenarios, tuple(report.warnings))


def is_comparison(top: Section) -> bool:
    """Whether a document holds several scenarios."""
    return top.has(SEVERAL_KEY)


def read_comparison(top: Section) -> tuple[NamedScenario, ...]:
    """All scenarios of a comparison; its report takes problems and warnings.

    Raises:
        FormatError: it is from a newer release, or holds too many scenarios.
    """
    check_version(top, SEVERAL_KEY, VERSION)
    top.warn_unknown((SEVERAL_KEY, _SCENARIOS))
    entries = list(mappings(top, _SCENARIOS))
    if len(entries) > MOST_SCENARIOS:
        top.report.stop(_SCENARIOS, f"may hold up to {MOST_SCENARIOS} scenarios, found {len(entries):,}.")
    found = []
    for entry in entries:
        name = entry.text(_NAME, most=LONGEST_NAME, required=True)
        shown = entry.flag(_SHOWN)
        saved = read_scenario(entry, (_NAME, _SHOWN))
        if name and saved:
            found.append(NamedScenario(name, saved, shown is not False))
    return tuple(found)


def _single(top: Section) -> tuple[NamedScenario, ...]:
    saved = read_scenario(top)
    return (NamedScenario("", saved),) if saved else ()
