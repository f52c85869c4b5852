"""Plans as JSON, and plan files of any kind that we know."""

import json

from sapp_core.documents.parse import parse_document
from sapp_core.documents.report import child, found, found_keys, quoted
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import LayerPlacement, Plan, placed
from sapp_core.domain.profile import MODES, ModelProfile
from sapp_core.errors import FormatError
from sapp_core.interchange.cells import read_cells
from sapp_core.interchange.mindformers_reader import is_mindformers, plan_from_settings

PLAN = "plan"
"""Key of the plan in the results that the command line writes."""


def plan_to_json(plan: Plan) -> str:
    """`{layer: {mode: [chunk][stage]}}` as JSON, one line for each kind and mode."""
    kinds = []
    for name, modes in plan.as_dict().items():
        rows = ",\n".join(f"    {json.dumps(mode)}: {json.dumps(cells)}" for mode, cells in modes.items())
        kinds.append(f"  {json.dumps(name)}: {{\n{rows}\n  }}")
    return "{\n" + ",\n".join(kinds) + "\n}\n"


def plan_from_json(text: str, profile: ModelProfile, pipeline: Pipeline) -> Plan:
    """The plan of a JSON text as `plan_to_json` writes it; modes that are left out place no layers.

    Raises:
        FormatError: the text is no such plan.
        PlanError: the plan does not fit profile and pipeline.
    """
    return plan_from_object(parse_document(text.encode(errors="surrogatepass"), PLAN), profile, pipeline)


def read_plan(data: bytes, source: str, profile: ModelProfile, pipeline: Pipeline) -> Plan:
    """The plan of a file: a plan as JSON, a whole result of the command line, or MindFormers settings.

    Args:
        data: content of the file.
        source: its name, for the sentences.
        profile: what the plan places.
        pipeline: where.

    Raises:
        FormatError: the file is none of these.
        PlanError: the plan does not fit profile and pipeline.
    """
    document = parse_document(data, source)
    names = {layer.name for layer in profile.body}
    if isinstance(document, dict) and not names & set(document):
        if PLAN in document:
            document = document[PLAN]
            if document is None:
                raise FormatError(f"{source}: this result holds no plan.")
        elif is_mindformers(document):
            return plan_from_settings(document, profile, pipeline)
    return plan_from_object(document, profile, pipeline)


def plan_from_object(document: object, profile: ModelProfile, pipeline: Pipeline, path: str = PLAN) -> Plan:
    """The plan of an object as `Plan.as_dict` makes it; modes that are left out place no layers.

    Args:
        document: the object.
        profile: what the plan places.
        pipeline: where.
        path: of the object in its file, for the sentences.

    Raises:
        FormatError: the object is no such plan.
        PlanError: the plan does not fit profile and pipeline.
    """
    names = [layer.name for layer in profile.body]
    if not isinstance(document, dict) or set(document) != set(names):
        raise FormatError(
            f"{path}: must have the layer kinds {', '.join(names)} as its keys, found {found_keys(document)}."
        )
    layers = []
    problems: list[str] = []
    for name in names:
        try:
            layers.append(_placement(name, document[name], pipeline, child(path, name)))
        except FormatError as error:
            problems += error.problems
    if problems:
        raise FormatError(*problems)
    plan = Plan(tuple(layers))
    plan.check(profile, pipeline)
    return plan


def _placement(name: str, modes: object, pipeline: Pipeline, path: str) -> LayerPlacement:
    if not isinstance(modes, dict):
        raise FormatError(f"{path}: must be a mapping from recompute mode to layer counts, found {found(modes)}.")
    problems = [
        f"{path}: {quoted(mode)} is no recompute mode; they are {', '.join(MODES)}."
        for mode in modes
        if mode not in tuple(MODES)
    ]
    entries = []
    for mode in MODES:
        if mode not in modes:
            continue
        try:
            cells = read_cells(modes[mode], f"{path}.{mode}", pipeline)
        except FormatError as error:
            problems += error.problems
            continue
        entries += [(mode, c, s, count) for c, row in enumerate(cells) for s, count in enumerate(row)]
    if problems:
        raise FormatError(*problems)
    return placed(name, pipeline, entries)
