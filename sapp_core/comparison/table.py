"""Candidates side by side, each against the base: one list of numbers, as a table to read and as CSV."""

from collections.abc import Sequence
from dataclasses import dataclass

from sapp_core.charts.numbers import memory_scale, memory_text, percent_text, signed_percent_text, time_text
from sapp_core.comparison.candidate import Candidate
from sapp_core.comparison.difference import Difference, difference
from sapp_core.interchange.tables import csv_text

_POINTS, _MB, _LAYERS = "%", "MiB", "layers"
_CSV_HEADER = ("scenario", "quantity", "stage", "unit", "value", "difference", "difference_percent")


@dataclass(frozen=True, slots=True)
class Measure:
    """One number of a candidate.

    Attributes:
        quantity: for the reader: `Step time`.
        unit: of value and difference; shares are in percent, their differences in points.
        value: None where there is none.
        difference: from the base; None for the base itself and where nothing can be subtracted.
        stage: of a number of one stage.
    """

    quantity: str
    unit: str
    value: float | None
    difference: float | None = None
    stage: int | None = None

    @property
    def change(self) -> float | None:
        """The difference as a share of the base's value; None where that is not asked or is 0."""
        if self.difference is None or self.value is None or self.unit in (_POINTS, _LAYERS):
            return None
        before = self.value - self.difference
        return self.difference / before if before else None


def measures(candidate: Candidate, base: Candidate, num_stages: int) -> tuple[Measure, ...]:
    """All numbers of a candidate, in the same order for every one.

    Args:
        candidate: whose.
        base: what it is compared with; the candidate itself has no differences.
        num_stages: rows for stages; the largest number among the candidates.
    """
    found = None if candidate is base else difference(base, candidate)
    return (*_summary(candidate, base, found), *_by_stage(candidate, found, num_stages))


def summary_table(candidates: Sequence[Candidate], base: Candidate) -> dict[str, list[str]]:
    """What matters first: a row for each quantity, a column for each candidate."""
    return _table(candidates, [[m for m in row if m.stage is None] for row in _all(candidates, base)])


def stage_table(candidates: Sequence[Candidate], base: Candidate) -> dict[str, list[str]]:
    """Peak memory: a row for each stage, a column for each candidate."""
    return _table(candidates, [[m for m in row if m.stage is not None] for row in _all(candidates, base)])


def differences_csv(candidates: Sequence[Candidate], base: Candidate) -> str:
    """One line for each number of each candidate: value, and difference from the base where there is one."""
    return csv_text(
        _CSV_HEADER,
        (
            (
                candidate.name,
                measure.quantity,
                "" if measure.stage is None else measure.stage,
                measure.unit,
                "" if measure.value is None else measure.value,
                "" if measure.difference is None else measure.difference,
                "" if measure.change is None else 100 * measure.change,
            )
            for candidate, row in zip(candidates, _all(candidates, base), strict=True)
            for measure in row
            if measure.value is not None
        ),
    )


def _all(candidates: Sequence[Candidate], base: Candidate) -> list[tuple[Measure, ...]]:
    stages = max(candidate.scenario.pipeline.num_stages for candidate in candidates)
    return [measures(candidate, base, stages) for candidate in candidates]


def _summary(candidate: Candidate, base: Candidate, found: Difference | None) -> list[Measure]:
    evaluation, scenario = candidate.evaluation, candidate.scenario
    unit, count = scenario.profile.time_unit, scenario.pipeline.num_micro_batches
    step = found.step if found else None
    each = evaluation.step_time / count
    each_before = base.evaluation.step_time / base.scenario.pipeline.num_micro_batches
    bubble, less = evaluation.bubble, found.bubble if found else None
    peak = max(evaluation.peak_memory_mb) if scenario.profile.has_memory else None
    has_both = peak is not None and base.scenario.profile.has_memory
    gap = candidate.result.gap if candidate.result else None
    return [
        Measure("Step time", unit, evaluation.step_time, step.total if step else None),
        Measure("Step time for each micro-batch", unit, each, each - each_before if step else None),
        *(
            Measure(name, _POINTS, 100 * getattr(bubble, part), 100 * getattr(less, part) if less else None)
            for name, part in (
                ("Bubble", "total"),
                ("Bubble: schedule itself", "ideal"),
                ("Bubble: uneven stages", "imbalance"),
                ("Bubble: recomputation", "recompute"),
                ("Bubble: transfers", "transfer"),
            )
        ),
        Measure(
            "Highest peak memory",
            _MB,
            peak,
            peak - max(base.evaluation.peak_memory_mb) if found and has_both and peak is not None else None,
        ),
        Measure(
            "Stages over the limit", "stages", None if candidate.limits is None else float(len(candidate.stages_over))
        ),
        Measure("Layers moved", _LAYERS, None if found is None or found.moves is None else float(found.moves.layers)),
        Measure("Certified gap", _POINTS, None if gap is None else 100 * gap),
    ]


def _by_stage(candidate: Candidate, found: Difference | None, num_stages: int) -> list[Measure]:
    peaks = candidate.evaluation.peak_memory_mb if candidate.scenario.profile.has_memory else ()
    less = found.memory_mb if found else None
    return [
        Measure(
            "Peak memory",
            _MB,
            peaks[stage] if stage < len(peaks) else None,
            less[stage] if less and stage < len(less) else None,
            stage,
        )
        for stage in range(num_stages)
    ]


def _table(candidates: Sequence[Candidate], rows: list[list[Measure]]) -> dict[str, list[str]]:
    """Columns of text. Quantities that no candidate has are left out."""
    wanted = [i for i in range(len(rows[0])) if any(row[i].value is not None for row in rows)]
    first = rows[0]
    labels = [first[i].quantity if first[i].stage is None else f"Stage {first[i].stage}" for i in wanted]
    return {"": labels} | {
        candidate.name: [_text(row[i]) for i in wanted] for candidate, row in zip(candidates, rows, strict=True)
    }


def _text(measure: Measure) -> str:
    if measure.value is None:
        return "–"
    value = _value_text(measure.value, measure.unit, measure.quantity)
    if measure.difference is None:
        return value
    if measure.unit == _POINTS:
        return f"{value} ({_signed(measure.difference, f'{abs(measure.difference):.1f}')} points)"
    if measure.unit == _MB:
        per_unit, unit = memory_scale(measure.value)
        amount = f"{abs(measure.difference) / per_unit:,.{0 if per_unit == 1 else 1}f} {unit}"
    else:
        amount = _value_text(abs(measure.difference), measure.unit, measure.quantity)
    difference_text = _signed(measure.difference, amount)
    change = "" if measure.change is None else f", {signed_percent_text(measure.change)}"
    return f"{value} ({difference_text}{change})"


def _value_text(value: float, unit: str, quantity: str) -> str:
    if unit == _POINTS:
        return percent_text(value / 100, 2 if quantity == "Certified gap" else 1)
    if unit == _MB:
        return memory_text(value)
    if unit in (_LAYERS, "stages"):
        return f"{value:.0f}"
    return time_text(value, unit)


def _signed(value: float, text: str) -> str:
    if not any(character in "123456789" for character in text):
        return text
    return f"{'−' if value < 0 else '+'}{text}"
