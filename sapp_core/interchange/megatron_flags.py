"""Reading a plan out of the command line of a Megatron run: its layout, and what its flags say about recomputation."""

import shlex

from sapp_core.documents.report import quoted
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import LayerPlacement, Plan
from sapp_core.domain.profile import MODES, ModelProfile, RecomputeMode
from sapp_core.errors import FormatError
from sapp_core.interchange.megatron import plan_from_layout

LAYOUT = "--pipeline-model-parallel-layout"
STAGES = "--pipeline-model-parallel-size"
CHUNKS = "--num-virtual-stages-per-pipeline-rank"
GRANULARITY = "--recompute-granularity"
METHOD = "--recompute-method"
NUM_LAYERS = "--recompute-num-layers"

_READ = (LAYOUT, STAGES, CHUNKS, GRANULARITY, METHOD, NUM_LAYERS)
_GRANULARITIES = ("full", "selective")
_METHODS = ("block", "uniform")
_MOST_DIGITS = 6

Flags = dict[str, str]
"""Flag → its value."""


def plan_from_flags(text: str, profile: ModelProfile, pipeline: Pipeline) -> Plan:
    """The plan of a launch command, or of any part of it that has the layout; other flags are passed over.

    `selective` recomputes all layers in the mode `select`; `full` all of them with `uniform`, and the first n of each
    virtual stage with `block`. Without such a flag no layer recomputes more than it must.

    Raises:
        FormatError: no layout, or a flag of the plan that cannot be read or is for other sizes.
        PlanError: the flags use a recompute mode that the profile does not offer.
    """
    flags = _flags(text)
    problems = [
        *_size_problems(flags, STAGES, pipeline.num_stages, "stages of the pipeline"),
        *_size_problems(flags, CHUNKS, pipeline.num_chunks, "chunks of each stage"),
        *_word_problems(flags, GRANULARITY, _GRANULARITIES),
        *_word_problems(flags, METHOD, _METHODS),
    ]
    if LAYOUT not in flags:
        problems.append(f"{LAYOUT}: missing; it says which stage holds which layers.")
    if NUM_LAYERS in flags and not _is_count(flags[NUM_LAYERS]):
        rule = f"must be a whole number from 1 to {'9' * _MOST_DIGITS}"
        problems.append(f"{NUM_LAYERS}: {rule}, found {quoted(flags[NUM_LAYERS])}.")
    if flags.get(GRANULARITY) == "full":
        problems += [f"{flag}: missing; full recomputation needs it." for flag in _missing_for_full(flags)]
    if problems:
        raise FormatError(*problems)
    plan = _recomputed(plan_from_layout(flags[LAYOUT], profile, pipeline), flags, profile, pipeline)
    plan.check(profile, pipeline)
    return plan


def says_recomputation(text: str) -> bool:
    """Whether a launch command says anything about recomputation."""
    return GRANULARITY in text


def _flags(text: str) -> Flags:
    try:
        words = shlex.split(text.replace("\\\r\n", " ").replace("\\\n", " "), comments=True)
    except ValueError as error:
        raise FormatError(f"flags: {str(error).lower()}; close the quotation mark.") from None
    flags: Flags = {}
    problems = []
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name not in _READ:
            continue
        if name in flags:
            problems.append(f"{name}: is given twice; keep one.")
        if not equals:
            value = words[place + 1] if place + 1 < len(words) else ""
            if not value or value.startswith("--"):
                problems.append(f"{name}: needs a value after it.")
        flags[name] = value
    if problems:
        raise FormatError(*problems)
    return flags


def _recomputed(plan: Plan, flags: Flags, profile: ModelProfile, pipeline: Pipeline) -> Plan:
    """The same layers with the modes that the flags say; the first layers of a cell are recomputed first."""
    granularity = flags.get(GRANULARITY)
    if granularity is None:
        return plan
    most = None
    mode = RecomputeMode.SELECT
    if granularity == "full":
        mode = RecomputeMode.FULL
        most = int(flags[NUM_LAYERS]) if flags[METHOD] == "block" else None
    left = {
        (c, s): sum(layer.total(c, s) for layer in plan.layers) if most is None else most
        for c in range(pipeline.num_chunks)
        for s in range(pipeline.num_stages)
    }
    layers = []
    for layer in plan.layers:
        chosen = {cell: min(count, layer.total(*cell)) for cell, count in left.items()}
        left = {cell: count - chosen[cell] for cell, count in left.items()}
        counts = {profile.modes[0]: {cell: layer.total(*cell) - count for cell, count in chosen.items()}}
        counts[mode] = {cell: count + counts.get(mode, {}).get(cell, 0) for cell, count in chosen.items()}
        layers.append(
            LayerPlacement(
                layer.name,
                tuple(
                    tuple(
                        tuple(counts.get(m, {}).get((c, s), 0) for s in range(pipeline.num_stages))
                        for c in range(pipeline.num_chunks)
                    )
                    for m in MODES
                ),
            )
        )
    return Plan(tuple(layers))


def _missing_for_full(flags: Flags) -> list[str]:
    needed = (METHOD, NUM_LAYERS) if flags.get(METHOD) == "block" else (METHOD,)
    return [flag for flag in needed if flag not in flags]


def _size_problems(flags: Flags, flag: str, number: int, meaning: str) -> list[str]:
    if flag not in flags or flags[flag] == str(number):
        return []
    return [f"{flag}: must be {number}, the number of {meaning}, found {quoted(flags[flag])}."]


def _word_problems(flags: Flags, flag: str, words: tuple[str, ...]) -> list[str]:
    if flag not in flags or flags[flag] in words:
        return []
    return [f"{flag}: must be one of {', '.join(words)}, found {quoted(flags[flag])}."]


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS and int(text) >= 1
