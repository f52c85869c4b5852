"""Plans of one scenario side by side, as a table."""

from collections.abc import Sequence
from dataclasses import dataclass

from sapp_core.charts.numbers import memory_text, percent_text, signed_percent_text, time_text
from sapp_core.domain.timeline import Evaluation


@dataclass(frozen=True, slots=True)
class Rival:
    """A plan in the comparison.

    Attributes:
        name: for the reader.
        evaluation: of the plan; None without one.
        remark: why there is none, or how the plan came about.
    """

    name: str
    evaluation: Evaluation | None
    remark: str = ""


def comparison_table(
    rivals: Sequence[Rival], limits_mb: tuple[float, ...] | None, *, has_memory: bool
) -> dict[str, list[str]]:
    """Step time, bubble and peak memory as columns, a row for each plan.

    Args:
        rivals: the first one is what the others are measured against; it has a plan.
        limits_mb: `[stage]`, MiB; None = no limit.
        has_memory: whether memory means anything.
    """
    first = rivals[0].evaluation
    rows = [_row(rival, None if rival is rivals[0] else first, limits_mb, has_memory=has_memory) for rival in rivals]
    names = ("Plan", "Step time", "Against this plan", "Bubble", "Peak memory", "Fits", "Remark")
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def _row(
    rival: Rival, first: Evaluation | None, limits_mb: tuple[float, ...] | None, *, has_memory: bool
) -> tuple[str, ...]:
    found = rival.evaluation
    if found is None:
        return (rival.name, "–", "–", "–", "–", "–", rival.remark)
    change = "–" if first is None else signed_percent_text(found.step_time / first.step_time - 1)
    over = found.stages_over(limits_mb)
    fits = "no limit" if limits_mb is None else f"✗ over on {_stages(over)}" if over else "✓"
    return (
        rival.name,
        time_text(found.step_time, found.profile.time_unit),
        change,
        percent_text(found.bubble.total),
        memory_text(max(found.peak_memory_mb)) if has_memory else "–",
        fits,
        rival.remark,
    )


def _stages(stages: tuple[int, ...]) -> str:
    if len(stages) > 4:
        return f"{len(stages)} stages"
    return f"stage{'s' if len(stages) > 1 else ''} {', '.join(map(str, stages))}"
