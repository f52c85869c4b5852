"""Scenario files: everything a run depended on and what it answered, as JSON. What a link cannot hold, they hold.

A report carries the scenario it was made from, so a report is a scenario file too.
"""

import re
from dataclasses import dataclass, replace

from sapp_core.documents.parse import MAX_BYTES
from sapp_core.documents.report import Report
from sapp_core.documents.section import Section, read_sections
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Plan
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.result import BalanceResult
from sapp_core.domain.scenario import Scenario
from sapp_core.errors import FormatError, SappError
from sapp_core.interchange.plan_file import PLAN, plan_from_object
from sapp_core.interchange.result import Json, to_json
from sapp_core.interchange.scenario_profile import MAX_VALUE, given, profile_as_object, read_profile
from sapp_core.interchange.scenario_result import read_result, result_as_object
from sapp_core.interchange.scenario_settings import (
    START,
    read_pipeline,
    read_request,
    request_as_object,
)

VERSION = 1
VERSION_KEY = "scenario_version"
SEVERAL_KEY = "comparison_version"
"""Marks a file with several scenarios."""
SCRIPT_ID = "scenario"
"""Of the element of a report that holds the scenario."""
MAX_REPORT_BYTES = 4 * MAX_BYTES
"""Reports carry their charts and what draws them."""

_TOP_KEYS = (VERSION_KEY, "profile", "schedule", "pipeline", "settings", PLAN, "result")
_HTML = re.compile(rb"^(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|!--)", re.IGNORECASE)
_SCRIPT = re.compile(rb"<script\b([^<>]*)>", re.IGNORECASE)
_ID = re.compile(rb"\bid=[\"']?" + SCRIPT_ID.encode() + rb"\b", re.IGNORECASE)
_SCRIPT_END = re.compile(rb"</script", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SavedScenario:
    """What a scenario file holds.

    Attributes:
        scenario: all inputs.
        plan: that was shown; None without one.
        result: of the run that found the plan, as the file says; None for a plan that was not balanced.
        warnings: one sentence each on what was ignored, beginning with the path of the field.
    """

    scenario: Scenario
    plan: Plan | None = None
    result: BalanceResult | None = None
    warnings: tuple[str, ...] = ()


def scenario_to_json(scenario: Scenario, plan: Plan | None = None, result: BalanceResult | None = None) -> str:
    """A scenario file.

    Args:
        scenario: all inputs.
        plan: to be shown; None = the result's.
        result: of the run that found it; None for a plan that was not balanced.

    Raises:
        FormatError: a number is infinite or not a number.
    """
    return to_json(scenario_as_object(scenario, plan, result))


def scenario_as_object(scenario: Scenario, plan: Plan | None = None, result: BalanceResult | None = None) -> Json:
    """The same as an object, for files that hold several."""
    shown = result.plan if plan is None and result else plan
    return given(
        {
            VERSION_KEY: VERSION,
            "profile": profile_as_object(scenario.profile),
            "schedule": scenario.schedule_name,
            "pipeline": given(dict(scenario.pipeline.as_dict())),
            "settings": request_as_object(scenario.request),
            PLAN: shown and shown.as_dict(),
            "result": result and result_as_object(result),
        }
    )


def scenario_in_html(text: str) -> str:
    """JSON text as the content of a script element: no `<` that could end it, no line ends that scripts lack."""
    escapes = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
    return "".join(escapes.get(character, character) for character in text)


def is_scenario_file(data: bytes) -> bool:
    """Whether a file is meant as a scenario or as a report, told by its beginning."""
    return bool(_HTML.match(data)) or re.match(rb'\s*\{\s*"' + VERSION_KEY.encode() + b'"', data) is not None


def scenario_from_json(data: bytes, source: str) -> SavedScenario:
    """Read a scenario file, or the scenario that a report carries.

    Args:
        data: JSON text, or the HTML of a report.
        source: name of the file, for messages.

    Raises:
        FormatError: with all that is wrong with the file, one sentence each: path, rule, what was found.
    """
    report = Report(source, FormatError)
    top = scenario_document(data, report)
    if top.has(SEVERAL_KEY):
        report.stop("", "holds several scenarios to compare; open it on the Compare page.")
    saved = read_scenario(top)
    report.raise_problems()
    if saved is None:
        report.stop("", "does not say a whole scenario.")
    return replace(saved, warnings=tuple(report.warnings))


def scenario_document(data: bytes, report: Report) -> Section:
    """The JSON document of a file, or the one that the HTML of a report carries.

    Raises:
        FormatError: it cannot be parsed, is too large, or is HTML of another kind.
    """
    return read_sections(_embedded(data, report) if _HTML.match(data) else data, report)


def read_scenario(top: Section, more_keys: tuple[str, ...] = ()) -> SavedScenario | None:
    """A scenario as `scenario_as_object` makes it; its report takes problems and warnings.

    Args:
        top: the object.
        more_keys: keys that the file uses for something else.

    Returns:
        None when it is no whole scenario.

    Raises:
        FormatError: it is from a newer release.
    """
    check_version(top, VERSION_KEY, VERSION)
    before = len(top.report.problems)
    sections = {key: top.section(key, required=True) for key in ("profile", "pipeline", "settings")}
    profile = sections["profile"] and read_profile(sections["profile"])
    pipeline = sections["pipeline"] and read_pipeline(sections["pipeline"])
    schedule = top.text("schedule", required=True)
    settings = sections["settings"]
    plan = start = None
    if profile and pipeline:
        plan = _plan(top, PLAN, profile, pipeline)
        start = _plan(settings, START, profile, pipeline) if settings else None
    request = settings and read_request(settings, start)
    found = top.section("result")
    result = read_result(found, plan) if found else None
    top.warn_unknown((*_TOP_KEYS, *more_keys))
    if len(top.report.problems) > before or not (profile and schedule and pipeline and request):
        return None
    return SavedScenario(Scenario(profile, schedule, pipeline, request), plan, result)


def _embedded(data: bytes, report: Report) -> bytes:
    """The scenario that the HTML of a report carries."""
    if len(data) > MAX_REPORT_BYTES:
        report.stop("", f"must not be larger than {MAX_REPORT_BYTES:,} bytes, found {len(data):,} bytes.")
    # Step by step, each of them through the file once: one pattern for the whole element would try every beginning
    # against every end.
    begin = next((script.end() for script in _SCRIPT.finditer(data) if _ID.search(script[1])), None)
    end = None if begin is None else _SCRIPT_END.search(data, begin)
    if end is None:
        report.stop("", f'is HTML, but no report of this project: it has no script element with the id "{SCRIPT_ID}".')
    return data[begin : end.start()]


def check_version(top: Section, key: str, known: int) -> None:
    """Go on with a version that this release reads; anything else that stands there is a problem.

    Raises:
        FormatError: it is from a newer release.
    """
    version = top.whole(key, least=1, most=MAX_VALUE, required=True)
    if version is not None and version > known:
        top.report.stop(
            top.at(key),
            f"is {version}, from a newer release of this project; this one reads files up to version {known}. "
            "Update it, or save the scenario with the older release.",
        )


def _plan(section: Section, key: str, profile: ModelProfile, pipeline: Pipeline) -> Plan | None:
    if not section.has(key):
        return None
    try:
        return plan_from_object(section.values[key], profile, pipeline, section.at(key))
    except SappError as error:
        for problem in error.problems:
            here = problem.startswith(section.at(key))
            section.report.problems.append(problem if here else f"{section.at(key)}: {problem}")
        return None
