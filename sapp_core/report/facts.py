"""What a report says in words and numbers, before anything is HTML."""

import re
from dataclasses import dataclass

from markupsafe import Markup, escape

from sapp_core.charts.compare import Rival, comparison_table
from sapp_core.charts.numbers import memory_text, percent_text, signed_percent_text, time_text
from sapp_core.domain.profile import MODES
from sapp_core.schedules.registry import family
from sapp_core.study import Study
from sapp_core.words import knob_words, verdict

Table = dict[str, list[str]]
"""Column name → texts, all of the same length."""


_STAGES_SAID = 6


@dataclass(frozen=True, slots=True)
class Number:
    """A headline number: `Step time`, `152,804 ms`, `−12.1 % vs even split`."""

    label: str
    value: str
    remark: str


def headline(study: Study) -> tuple[Number, ...]:
    """Step time, bubble, peak memory and certified gap."""
    found, other, unit = study.evaluation, study.reference.evaluation, study.scenario.profile.time_unit
    change = signed_percent_text(found.step_time / other.step_time - 1) if other.step_time else "–"
    points = signed_percent_text(found.bubble.total - other.bubble.total)
    result = study.result
    bound = result.lower_bound if result else None
    gap = result.gap if result else None
    return (
        Number("Step time", time_text(found.step_time, unit), f"{change} vs even split"),
        Number("Bubble", percent_text(found.bubble.total), f"{points} points vs even split"),
        _peak(study),
        Number(
            "Certified gap",
            "–" if gap is None else percent_text(gap, 2),
            "nothing is proven" if bound is None else f"≥ {time_text(bound, unit)} for any plan",
        ),
    )


def settings(study: Study) -> tuple[tuple[str, str], ...]:
    """All inputs, those left out that mean nothing for the schedule."""
    facts = study.scenario.facts()
    chosen = family(study.scenario.schedule_name)
    idle = {
        "overlap efficiency": not chosen.overlaps,
        "input-gradient share": not chosen.splits_backward,
        "memory kept for weight gradients": not chosen.splits_backward,
        "group size": not chosen.uses_groups,
        "group with the remainder": not chosen.uses_groups,
        "sequence splits": not chosen.uses_splits,
        "pinned layers": not study.scenario.request.pinned,
        "search starts from": study.scenario.request.start is None,
    }
    if study.result is None:
        search = ("objective", "memory model", "solver", "time limit", "seed", "threads")
        idle |= dict.fromkeys(search, True)
    return tuple((name.capitalize(), value) for name, value in facts.items() if not idle.get(name))


def summary(study: Study) -> Markup:
    """How the plan came about and what it is measured against."""
    reference, unit, result = study.reference, study.scenario.profile.time_unit, study.result
    said = "**Simulated, not balanced**: the plan was given." if result is None else verdict(result)
    return Markup("{} The {} takes {}. {}").format(
        _emphasised(said),
        reference.words,
        time_text(reference.evaluation.step_time, unit),
        _emphasised(knob_words(study.scenario)),
    )


def warnings(study: Study) -> tuple[str, ...]:
    """Stages over their limit, and what the balancer noted."""
    over, limits, peaks = study.evaluation.stages_over(study.limits), study.limits, study.evaluation.peak_memory_mb
    shown = over if len(over) <= _STAGES_SAID else over[:_STAGES_SAID]
    sentences = [
        f"Stage {s} needs {memory_text(peaks[s])}, the limit is {memory_text(limits[s])}." for s in shown if limits
    ]
    if len(over) > len(shown):
        sentences.append(f"{len(over) - len(shown)} more stages are over their limit; the table below has them.")
    if study.result:
        reason = study.result.infeasibility
        sentences += [*study.result.notes, *(reason.sentences if reason else ())]
    return tuple(sentences)


def certificate(study: Study) -> tuple[Markup, ...]:
    """What is proven about the step time, paragraph by paragraph."""
    result, unit = study.result, study.scenario.profile.time_unit
    if result is None or result.lower_bound is None or result.above_best is None or result.step_time is None:
        return (
            Markup(
                "<strong>Nothing is proven about this plan.</strong> Its step time is simulated: what the costs of the "
                "profile give. A faster plan may exist; balance the scenario to get a proven bound."
            ),
        )
    bound, left = time_text(result.lower_bound, unit), time_text(result.lower_bound * result.above_best, unit)
    above = percent_text(result.above_best, 2)
    if above == percent_text(0.0, 2):
        distance = Markup("This plan reaches it: it is <strong>the best possible one</strong>, up to rounding.")
    else:
        distance = Markup(
            "This plan is at most <strong>{}</strong> above it: a better plan, if there is one, saves up to {} a step."
        ).format(above, left)
    kept = ", keeps the pinned cells" if study.scenario.request.pinned else ""
    return (
        Markup(
            "<strong>No plan has a step shorter than {}</strong> if it runs on the same stages in the same order of "
            "work{} and stays within the same memory limit. {}"
        ).format(bound, kept, distance),
        Markup(
            "The bound is a proof, not an estimate: a step is as long as the longest path through its order of work, "
            "so every path says how much time no placement of the layers can avoid. It does not cover other schedules "
            "or numbers of stages, nor how well the profile describes the real machine."
        ),
    )


def comparison(study: Study) -> Table:
    """This plan and the even split, side by side."""
    rivals = [
        Rival("This plan", study.evaluation),
        Rival(study.reference.words.capitalize(), study.reference.evaluation, _fit_remark(study)),
    ]
    return comparison_table(rivals, study.limits, has_memory=study.scenario.profile.has_memory)


def stage_table(study: Study) -> Table:
    """A row for each stage: layers by chunk, kind and recompute mode, and its memory at the fullest moment."""
    found, limits = study.evaluation, study.limits
    pipeline = found.schedule.pipeline
    stages = range(pipeline.num_stages)
    table: Table = {"Stage": [str(stage) for stage in stages]}
    several = len(found.plan.layers) > 1
    for chunk in range(pipeline.num_chunks):
        for layer in found.plan.layers:
            for mode, cells in zip(MODES, layer.counts, strict=True):
                if any(cells[chunk]):
                    parts = (f"chunk {chunk}" if pipeline.num_chunks > 1 else "", layer.name if several else "")
                    name = ", ".join(filter(None, (*parts, f"recompute {mode}")))
                    table[name] = [str(cells[chunk][stage] or "·") for stage in stages]
    table["Layers"] = [
        str(sum(layer.total(chunk, stage) for layer in found.plan.layers for chunk in range(pipeline.num_chunks)))
        for stage in stages
    ]
    if study.scenario.profile.has_memory:
        table["Parameters"] = [memory_text(peak.parameter_mb + peak.constant_mb) for peak in found.peaks]
        table["Activations"] = [memory_text(sum(peak.activation_mb)) for peak in found.peaks]
        table["Peak"] = [memory_text(peak) for peak in found.peak_memory_mb]
        if limits:
            table["Of limit"] = [
                percent_text(peak / limit, 0) for peak, limit in zip(found.peak_memory_mb, limits, strict=True)
            ]
    return table


def _peak(study: Study) -> Number:
    if not study.scenario.profile.has_memory:
        return Number("Peak memory", "–", "the profile gives no memory")
    peaks, limits = study.evaluation.peak_memory_mb, study.limits
    fullest = max(range(len(peaks)), key=lambda s: peaks[s] / limits[s] if limits else peaks[s])
    share = f"{percent_text(peaks[fullest] / limits[fullest], 0)} of limit" if limits else "no limit"
    return Number("Peak memory", memory_text(peaks[fullest]), f"{share}, stage {fullest}")


def _emphasised(markdown: str) -> Markup:
    """Our own light Markdown as HTML."""
    strong = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", str(escape(markdown)))
    return Markup(re.sub(r"\*(.+?)\*", r"<em>\1</em>", strong))  # noqa: S704  escaped above


def _fit_remark(study: Study) -> str:
    if study.limits is None:
        return "what a framework does by default"
    return "the least recomputation that fits" if study.reference.fits else "does not fit with any recomputation"
