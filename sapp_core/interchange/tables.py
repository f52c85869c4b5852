"""Tables as CSV (RFC 4180 quoting, one header line, `.` as the decimal point).

Names from files may begin like a formula, which spreadsheets would run; an apostrophe in front keeps them text, as
OWASP advises under "CSV Injection".
"""

import csv
import io
from collections.abc import Iterable, Sequence

from sapp_core.domain.measured import MeasuredComparison
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Plan
from sapp_core.domain.profile import MODES
from sapp_core.domain.schedule import phase_of
from sapp_core.domain.sensitivity import Sensitivity
from sapp_core.domain.timeline import Evaluation

_FORMULA_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r")


def plan_csv(plan: Plan, pipeline: Pipeline) -> str:
    """One line for each cell and layer kind in it: layers under each recompute mode, cells in model order."""
    return csv_text(
        ("virtual_stage", "chunk", "stage", "layer", *MODES, "layers"),
        (
            (v, chunk, stage, layer.name, *(mode[chunk][stage] for mode in layer.counts), layer.total(chunk, stage))
            for v in range(pipeline.num_virtual_stages)
            for chunk, stage in pipeline.cells(v)
            for layer in plan.layers
            if layer.total(chunk, stage)
        ),
    )


def memory_csv(evaluation: Evaluation) -> str:
    """One line for each stage: memory at the moment it is highest, by part, MiB."""
    chunks = range(evaluation.schedule.pipeline.num_chunks)
    return csv_text(
        ("stage", "parameter_mb", "constant_mb", *(f"activation_chunk_{c}_mb" for c in chunks), "peak_mb"),
        (
            (stage, peak.parameter_mb, peak.constant_mb, *peak.activation_mb, peak.total_mb)
            for stage, peak in enumerate(evaluation.peaks)
        ),
    )


def ops_csv(evaluation: Evaluation) -> str:
    """One line for each op with the start and end of its slot, in the profile's time unit."""
    schedule, timeline = evaluation.schedule, evaluation.timeline
    phases = schedule.phases()
    return csv_text(
        ("stage", "slot", "phase", "op", "chunk", "micro_batch", "sequence_split", "start", "end"),
        (
            (
                stage,
                index,
                phase_of(index, phases[stage]),
                op.kind,
                op.chunk,
                op.micro_batch,
                op.sequence_split,
                timeline.starts[stage][index],
                timeline.ends[stage][index],
            )
            for stage, slots in enumerate(schedule.slots)
            for index, slot in enumerate(slots)
            for op in slot.ops
        ),
    )


def measured_csv(comparison: MeasuredComparison) -> str:
    """One line for each stage and kind of op measured: durations in the profile's time unit, share of simulated."""
    return csv_text(
        ("stage", "kind", "runs", "measured", "simulated", "difference", "share"),
        (
            (row.stage, row.kind, row.count, row.measured, row.simulated, row.difference, row.share)
            for row in comparison.kinds
        ),
    )


def sensitivity_csv(found: Sensitivity, time_unit: str) -> str:
    """One line for each number of the profile: what smaller and larger by the same share makes of the plan.

    `moves` is `step_time` (in the time unit), `highest_peak` (in MiB), or empty where the number changes nothing.
    """
    moving = ((reactions, moves) for reactions, moves in ((found.times, "step_time"), (found.memory, "highest_peak")))
    rows = [
        (r.number, moves, r.lower, r.higher, *((r.excess.stage, r.excess.mb) if r.excess else (None, None)))
        for reactions, moves in moving
        for r in reactions
    ]
    rows += [(number, None, None, None, None, None) for number in found.idle]
    return csv_text(
        ("layer", "number", "mode", "value", "unit", "share", "moves", "if_smaller", "if_larger", "full_stage",
         "beyond_limit_mb"),
        (
            (n.layer, n.quantity, n.mode, n.value, time_unit if n.quantity.is_time else "MiB", found.share, *reaction)
            for n, *reaction in rows
        ),
    )  # fmt: skip


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Lines of a table under its header; None is an empty cell, numbers come as numbers."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_no_formula(value) for value in row] for row in rows)
    return text.getvalue()


def _no_formula(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_BEGINNINGS) else value
