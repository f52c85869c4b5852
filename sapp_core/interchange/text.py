"""Results as text for a terminal: a headline and aligned tables, units shown."""

from collections.abc import Sequence

from sapp_core.domain.measured import MeasuredComparison
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Plan
from sapp_core.domain.profile import MODES, ModelProfile
from sapp_core.domain.result import BalanceResult, Status
from sapp_core.domain.schedule import Schedule
from sapp_core.domain.timeline import Evaluation
from sapp_core.interchange.orders import Words

Limits = tuple[float, ...] | None
"""Memory limit of each stage, MiB; None = no limit."""

_STATUS_TEXT = {
    Status.OPTIMAL: "optimal: proven for objective {objective}",
    Status.FEASIBLE: "feasible: best found for objective {objective}, not proven",
    Status.INFEASIBLE: "infeasible: no plan meets the memory limit",
    Status.NO_SOLUTION_IN_TIME: "no plan found within the time limit",
}


def balance_text(
    result: BalanceResult,
    profile: ModelProfile,
    schedule: Schedule,
    evaluation: Evaluation | None,
    even: Evaluation | None,
    limits: Limits,
) -> str:
    """Answer of the balancer: how it ended, headline numbers, and one line a stage."""
    status = _STATUS_TEXT[result.status].format(objective=result.objective)
    if result.objective_value is not None:
        status += f", value {number(result.objective_value)}"
    facts = [("status", f"{status} ({result.solver}, {result.seconds:.1f} s)")]
    if evaluation is None:
        return _lines(_title(profile, schedule), *labelled(facts))
    facts += _measured(evaluation, even, limits)
    if result.gap is not None and result.lower_bound is not None:
        bound = f"{number(result.lower_bound)} {profile.time_unit}"
        facts.append(("gap", f"{percent(result.gap)}: no plan within the limit is faster than {bound}"))
    return _lines(_title(profile, schedule), *labelled(facts), "", *_stage_table(evaluation, limits))


def simulation_text(evaluation: Evaluation, even: Evaluation | None, limits: Limits) -> str:
    """A simulated plan: headline numbers and one line a stage."""
    return _lines(
        _title(evaluation.profile, evaluation.schedule),
        *labelled(_measured(evaluation, even, limits)),
        "",
        *_stage_table(evaluation, limits),
    )


def measured_text(comparison: MeasuredComparison, unit: str) -> str:
    """Measured against simulated times: step, idle time, and one line for each stage and kind of op."""
    facts = []
    if comparison.step_time is not None:
        of = f", of {comparison.num_steps:,} the one of median length" if comparison.num_steps > 1 else ""
        facts.append(("step", f"{_against(comparison.step_time, comparison.simulated_step_time, unit)}{of}"))
    if comparison.idle is not None:
        facts.append(("idle", f"{_against(sum(comparison.idle), sum(comparison.simulated_idle), unit)}, all stages"))
    rows = [
        (
            str(row.stage),
            str(row.kind),
            f"{row.count:,}",
            number(row.measured),
            number(row.simulated),
            f"{row.difference:+.6g}",
            "-" if row.share is None else f"{100 * row.share:+.1f}",
        )
        for row in comparison.kinds
    ]
    header = ("stage", "kind", "runs", f"measured {unit}", f"simulated {unit}", "difference", "%")
    return _lines("Measured against simulated", *(labelled(facts) if facts else ()), "", *aligned(header, rows))


def schedule_text(schedule: Schedule, words: Words, peak_in_flight: Sequence[Sequence[float]] | None) -> str:
    """Order of work, one line a stage.

    Args:
        schedule: whose order it is.
        words: `[stage][job]`, in the words of some format.
        peak_in_flight: `[stage][chunk]`, the most micro-batches in flight; None where the format runs another order.
    """
    marks = [f" [{' '.join(map(number, peak))}]" for peak in peak_in_flight] if peak_in_flight else [""] * len(words)
    counted = "; in brackets the micro-batches in flight at most, by chunk" if peak_in_flight else ""
    return _lines(
        f"{schedule.name}, {_sizes(schedule.pipeline)}",
        f"Words are work, chunk, micro-batch{counted}.",
        *(
            f"stage {stage}{mark}: {' '.join(jobs)}"
            for stage, (jobs, mark) in enumerate(zip(words, marks, strict=True))
        ),
    )


def profile_text(profile: ModelProfile, warnings: Sequence[str]) -> str:
    """A profile as it was resolved, and what the reader warned about."""
    limit = "none" if profile.memory_limit_mb is None else f"{number(profile.memory_limit_mb)} MiB"
    facts = [
        ("layers", f"{profile.num_body_layers:,} in the body, of {_counted(len(profile.body), 'kind')}"),
        ("recompute", f"modes considered: {', '.join(profile.modes)}"),
        ("constant", f"{number(profile.constant_mb)} MiB on every stage"),
        ("limit", limit),
    ]
    header = ("layer", "type", "number", f"forward {profile.time_unit}", "parameters MiB")
    rows = [
        (layer.name, str(layer.kind), str(layer.num_layers), number(layer.forward_time), number(layer.parameter_mb))
        for layer in profile.layers
    ]
    return _lines(
        profile.name,
        *labelled(facts),
        "",
        *aligned(header, rows),
        "",
        f"Backward time of one layer, {profile.time_unit}, under each recompute mode",
        *_mode_table(profile, [layer.backward_time for layer in profile.layers]),
        "",
        "Activation memory of one layer and micro-batch, MiB, under each recompute mode",
        *_mode_table(profile, [layer.activation_mb for layer in profile.layers]),
        *(["", *(f"warning: {warning}" for warning in warnings)] if warnings else []),
    )


def number(value: float) -> str:
    """A number at the precision people read: whole above 1,000, else six digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6g}"


def percent(share: float) -> str:
    """A share as a percentage with one decimal."""
    return f"{100 * share:.1f} %"


def _measured(evaluation: Evaluation, even: Evaluation | None, limits: Limits) -> list[tuple[str, str]]:
    unit = evaluation.profile.time_unit
    step = f"{number(evaluation.step_time)} {unit}"
    if even is not None:
        step += f", {_change(evaluation.step_time, even.step_time)} the even split ({number(even.step_time)} {unit}"
        step += ", over the memory limit)" if even.stages_over(limits) else ")"
    bubble = evaluation.bubble
    parts = {
        "ideal": bubble.ideal,
        "imbalance": bubble.imbalance,
        "recompute": bubble.recompute,
        "transfer": bubble.transfer,
    }
    shares = ", ".join(f"{name} {percent(part)}" for name, part in parts.items())
    return [
        ("step time", step),
        ("bubble", f"{percent(bubble.total)} ({shares})"),
        ("peak memory", _peak(evaluation, limits)),
    ]


def _against(measured: float, simulated: float, unit: str) -> str:
    return f"{number(measured)} {unit} measured, {number(simulated)} {unit} simulated"


def _change(value: float, reference: float) -> str:
    if value == reference:
        return "same as"
    if not reference:
        return "more than"
    share = value / reference - 1
    return f"{percent(abs(share))} {'less' if share < 0 else 'more'} than"


def _peak(evaluation: Evaluation, limits: Limits) -> str:
    peaks = evaluation.peak_memory_mb
    # The stage to look at is the one closest to its limit, or furthest above it.
    room = [limit - peak for peak, limit in zip(peaks, limits, strict=True)] if limits else [-peak for peak in peaks]
    stage = room.index(min(room))
    text = f"{number(peaks[stage])} MiB on stage {stage}"
    if limits is None:
        return f"{text}, no limit"
    text += f", limit {number(limits[stage])} MiB"
    over = evaluation.stages_over(limits)
    return f"{text}: OVER THE LIMIT on stages {', '.join(map(str, over))}" if over else text


def _stage_table(evaluation: Evaluation, limits: Limits) -> list[str]:
    """One line a stage: layers (by chunk, joined with +), recompute modes, memory at its peak."""
    plan = evaluation.plan
    chunks = range(evaluation.schedule.pipeline.num_chunks)
    used = [mode for r, mode in enumerate(MODES) if any(any(map(any, layer.counts[r])) for layer in plan.layers)]
    header = ["stage", *(layer.name for layer in plan.layers), *used]
    header += ["parameters", "constant", "activations", "peak MiB"]
    if limits is not None:
        header.append("free")
    rows = []
    for stage, peak in enumerate(evaluation.peaks):
        row = [str(stage)]
        row += ["+".join(str(layer.total(chunk, stage)) for chunk in chunks) for layer in plan.layers]
        row += [str(_layers_in_mode(plan, MODES.index(mode), stage)) for mode in used]
        row += [number(peak.parameter_mb), number(peak.constant_mb), number(sum(peak.activation_mb))]
        row.append(number(peak.total_mb))
        if limits is not None:
            row.append(number(limits[stage] - peak.total_mb))
        rows.append(row)
    return aligned(header, rows)


def _layers_in_mode(plan: Plan, r: int, stage: int) -> int:
    return sum(row[stage] for layer in plan.layers for row in layer.counts[r])


def _mode_table(profile: ModelProfile, values: Sequence[Sequence[float | None]]) -> list[str]:
    rows = [
        (layer.name, *("-" if value is None else number(value) for value in row))
        for layer, row in zip(profile.layers, values, strict=True)
    ]
    return aligned(("layer", *MODES), rows)


def _title(profile: ModelProfile, schedule: Schedule) -> str:
    return f"{profile.name}: {schedule.name}, {_sizes(schedule.pipeline)}"


def _sizes(pipeline: Pipeline) -> str:
    sizes = {"stage": pipeline.num_stages, "chunk": pipeline.num_chunks, "micro-batch": pipeline.num_micro_batches}
    return " × ".join(_counted(count, word) for word, count in sizes.items())


def _counted(count: int, word: str) -> str:
    ending = "" if count == 1 else "es" if word.endswith("ch") else "s"
    return f"{count:,} {word}{ending}"


def labelled(facts: Sequence[tuple[str, str]]) -> list[str]:
    """A line for each (label, text), texts below each other."""
    width = max(len(label) for label, _ in facts)
    return [f"{label:<{width}}  {text}" for label, text in facts]


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns as wide as their widest entry, the first one to the left, numbers to the right."""
    table = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            f"{cell:>{width}}" if i else f"{cell:<{width}}"
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in table
    ]


def _lines(*lines: str) -> str:
    return "\n".join(lines) + "\n"
