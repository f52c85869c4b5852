"""What a candidate changes against the base, in sentences: consequences first, then the plan, then the settings."""

from collections.abc import Sequence

from sapp_core.charts.numbers import memory_text, percent_text, signed_percent_text, time_text
from sapp_core.charts.plan_difference import MODE_WORDS
from sapp_core.comparison.candidate import Candidate
from sapp_core.comparison.difference import Difference, StepChange, difference
from sapp_core.domain.profile import MODES, RecomputeMode

_NOTHING = signed_percent_text(0.0)
_MOSTLY, _BUT = 0.5, 0.25
"""Parts of the change from which a cause is its main one, or one against it is worth a word."""
_LEAST_MB = 1.0
"""A smaller difference of memory is no news."""
_STAGES_SAID = 4


def what_changed(base: Candidate, other: Candidate) -> tuple[str, ...]:
    """Sentences on what is different, and on what cannot be compared."""
    found = difference(base, other)
    sentences = [
        *_step_sentences(found.step, base, other),
        *_memory_sentences(found, base, other),
        *_plan_sentences(found, base, other),
        _settings_sentence(base, other),
        *found.obstacles,
    ]
    return tuple(sentences)


def _step_sentences(step: StepChange | None, base: Candidate, other: Candidate) -> list[str]:
    if step is None:
        return []
    unit = other.scenario.profile.time_unit
    times = " → ".join(dict.fromkeys((time_text(step.before, unit), time_text(step.after, unit))))
    if signed_percent_text(step.share) == _NOTHING:
        said = [f"The step takes as long, up to rounding ({times})."]
    else:
        more = "longer" if step.total > 0 else "shorter"
        said = [f"The step is {percent_text(abs(step.share))} {more} ({times}){_because(step, base, other)}."]
    counts = [candidate.scenario.pipeline.num_micro_batches for candidate in (base, other)]
    if counts[0] != counts[1]:
        before, after = step.before / counts[0], step.after / counts[1]
        change = _more_or_less(after / before - 1, "longer", "shorter") if before else _NOTHING
        said.append(
            f"A step does other work: {counts[0]} → {counts[1]} micro-batches. For each micro-batch it is {change} "
            f"({time_text(before, unit)} → {time_text(after, unit)})."
        )
    return said


def _because(step: StepChange, base: Candidate, other: Candidate) -> str:
    """`, mostly because recomputation fell by 3.1 points, although …`."""
    causes = sorted(_causes(step, base, other), key=lambda cause: cause[0] / step.total, reverse=True)
    (main, main_words), (against, against_words) = causes[0], causes[-1]
    share, counter = main / step.total, -against / step.total
    if share < _MOSTLY:
        return f"; the largest cause: {main_words}" if share >= _BUT else ""
    return f", mostly because {main_words}" + (f", although {against_words}" if counter >= _BUT else "")


def _causes(step: StepChange, base: Candidate, other: Candidate) -> list[tuple[float, str]]:
    """(time added, words) of every cause."""
    before, after = base.evaluation.bubble, other.evaluation.bubble
    share = other.own_work / base.own_work - 1 if base.own_work else 0.0
    parts = (
        (step.bubble.ideal, "the bubble of the schedule itself", after.ideal - before.ideal),
        (step.bubble.imbalance, "the cost of uneven stages", after.imbalance - before.imbalance),
        (step.bubble.recompute, "recomputation", after.recompute - before.recompute),
        (step.bubble.transfer, "the cost of transfers", after.transfer - before.transfer),
    )
    return [
        (step.work, f"a stage has {_more_or_less(share, 'more', 'less')} of the model's own work in a step"),
        *(
            (time, f"{name} {'rose' if points > 0 else 'fell'} by {100 * abs(points):.1f} points")
            for time, name, points in parts
        ),
    ]


def _memory_sentences(found: Difference, base: Candidate, other: Candidate) -> list[str]:
    said = []
    if base.scenario.profile.has_memory and other.scenario.profile.has_memory:
        said += _peak_sentence(base, other)
    if found.memory_mb is not None:
        said += _stage_sentence(found.memory_mb)
    over = other.stages_over
    if over:
        said.append(f"It does not fit: {_stages(over)} over the limit.")
    elif base.stages_over:
        said.append(f"It fits its limit; {base.name} does not.")
    return said


def _peak_sentence(base: Candidate, other: Candidate) -> list[str]:
    peaks = [candidate.evaluation.peak_memory_mb for candidate in (base, other)]
    (before, first), (after, second) = ((max(peak), peak.index(max(peak))) for peak in peaks)
    if abs(after - before) < _LEAST_MB:
        return []
    verb = "rises" if after > before else "falls"
    return [
        f"The highest peak {verb} from {memory_text(before)} (stage {first}) to {memory_text(after)} (stage {second})."
    ]


def _stage_sentence(memory_mb: Sequence[float]) -> list[str]:
    most, least = max(memory_mb), min(memory_mb)
    parts = [
        f"stage {memory_mb.index(value)} needs {memory_text(abs(value))} {word}"
        for value, word, counts in ((most, "more", most >= _LEAST_MB), (least, "less", least <= -_LEAST_MB))
        if counts
    ]
    if not parts:
        return ["Every stage needs as much memory as before."]
    said = ", ".join(parts)
    return [
        f"{said[0].upper()}{said[1:]}; other stages change less."
        if len(memory_mb) > len(parts)
        else f"{said[0].upper()}{said[1:]}."
    ]


def _plan_sentences(found: Difference, base: Candidate, other: Candidate) -> list[str]:
    if _same_place(found) and base.plan == other.plan:
        return ["The plan is the same."]
    said = []
    if found.moves is not None:
        layers = other.scenario.profile.num_body_layers
        count = found.moves.layers
        verb = "sits" if count == 1 else "sit"
        said.append(f"{count or 'None'} of {layers} layers {verb} in another {found.moves.place}.")
    if found.step is not None or found.moves is not None:
        modes = [
            f"{before} → {after} {MODE_WORDS[mode]}"
            for mode, before, after in zip(MODES, base.layers_by_mode, other.layers_by_mode, strict=True)
            if before != after and mode is not RecomputeMode.NONE
        ]
        if modes:
            said.append(f"Layers: {', '.join(modes)}.")
    return said


def _same_place(found: Difference) -> bool:
    return found.moves is not None and found.moves.place == "cell"


def _settings_sentence(base: Candidate, other: Candidate) -> str:
    changes = base.scenario.changes(other.scenario)
    return f"Settings changed: {'; '.join(changes)}." if changes else "The settings are the same."


def _more_or_less(share: float, more: str, less: str) -> str:
    if signed_percent_text(share) == _NOTHING:
        return f"neither {more} nor {less}"
    return f"{percent_text(abs(share))} {more if share > 0 else less}"


def _stages(stages: Sequence[int]) -> str:
    if len(stages) > _STAGES_SAID:
        return f"{len(stages)} stages are"
    if len(stages) == 1:
        return f"stage {stages[0]} is"
    return f"stages {', '.join(map(str, stages[:-1]))} and {stages[-1]} are"
