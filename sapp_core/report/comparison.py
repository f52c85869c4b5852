"""Several scenarios against each other as one HTML file for a design review."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from sapp_core.charts.compare_bubble import bubble_comparison_figure
from sapp_core.charts.compare_memory import MemoryBars, memory_comparison_figure
from sapp_core.charts.gantt import MAX_BLOCKS, NUM_BINS, gantt_figure
from sapp_core.charts.theme import LIGHT
from sapp_core.comparison.candidate import Candidate
from sapp_core.comparison.table import stage_table, summary_table
from sapp_core.comparison.words import what_changed
from sapp_core.domain.schedule import OP_KINDS
from sapp_core.interchange.comparison import NamedScenario, comparison_to_json
from sapp_core.interchange.scenario import SCRIPT_ID, SavedScenario
from sapp_core.report.template import Chart, chart, drawing_script, rows, script_text, template

_TEMPLATE = "comparison.html.jinja"
_BLOCKS = 7_000
"""Blocks of all timelines together that are drawn one by one; one takes about 100 bytes in the file."""
_BLOCKS_BESIDE_BINS = 4_500
"""The same where other timelines are heat maps."""
_BIN_CELLS = 75_000
"""Cells of the heat maps of all other timelines together; a cell takes 7 bytes."""


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    sentences: tuple[str, ...]
    timeline: str


def comparison_html(candidates: Sequence[Candidate], base: Candidate, made: date) -> str:
    """The report: one file of less than 6 MB, most of it the library that draws the charts.

    Args:
        candidates: two to six, in the order of the report.
        base: the one among them that the others are compared with.
        made: the date it carries.

    Raises:
        FormatError: a number is infinite, which the embedded scenarios cannot say.
    """
    profiles = dict.fromkeys(candidate.scenario.profile.name for candidate in candidates)
    entries = [
        _Entry(candidate.name, () if candidate is base else what_changed(base, candidate), f"timeline-{index}")
        for index, candidate in enumerate(candidates)
    ]
    named = [NamedScenario(found.name, SavedScenario(found.scenario, found.plan, found.result)) for found in candidates]
    return template(_TEMPLATE).render(
        title=", ".join(profiles),
        made=made.isoformat(),
        base=base.name,
        entries=entries,
        summary=rows(summary_table(candidates, base)),
        stages=rows(stage_table(candidates, base)),
        settings=rows(_settings(candidates)),
        charts=_charts(candidates),
        script_id=SCRIPT_ID,
        scenario=script_text(comparison_to_json(named)),
        plotly=drawing_script(),
    )


def _settings(candidates: Sequence[Candidate]) -> dict[str, list[str]]:
    """All inputs, a row each."""
    facts = [candidate.scenario.facts() for candidate in candidates]
    return {"": [name.capitalize() for name in facts[0]]} | {
        candidate.name: list(values.values()) for candidate, values in zip(candidates, facts, strict=True)
    }


def _charts(candidates: Sequence[Candidate]) -> dict[str, Chart]:
    exact = _drawn_block_by_block(candidates)
    charts = [_timeline(index, candidates, exact) for index in range(len(candidates))]
    with_memory = [candidate for candidate in candidates if candidate.scenario.profile.has_memory]
    if with_memory:
        bars = [
            MemoryBars(found.name, found.evaluation, found.scenario.request.memory_limit_mb) for found in with_memory
        ]
        charts.append(
            chart(
                memory_comparison_figure(bars, LIGHT),
                "memory",
                "What each stage needs at its fullest moment, a bar for each scenario. Dashed: the limit; ▲: a bar "
                "that breaks its limit.",
            )
        )
    charts.append(
        chart(
            bubble_comparison_figure([(found.name, found.evaluation) for found in candidates], LIGHT),
            "bubbles",
            "Time of a stage beyond its share of the model's own work, in percent of that work, part by part.",
        )
    )
    return {found.name: found for found in charts}


def _drawn_block_by_block(candidates: Sequence[Candidate]) -> frozenset[int]:
    """Places of those whose blocks the file has room for: as many as possible, so the small ones first."""
    counts = [candidate.evaluation.schedule.num_ops for candidate in candidates]
    found, left = [], _BLOCKS if sum(counts) <= _BLOCKS else _BLOCKS_BESIDE_BINS
    for index in sorted(range(len(candidates)), key=counts.__getitem__):
        if counts[index] <= min(left, MAX_BLOCKS):
            found.append(index)
            left -= counts[index]
    return frozenset(found)


def _timeline(index: int, candidates: Sequence[Candidate], exact: frozenset[int]) -> Chart:
    """On the time axis that all scenarios with its unit share, as fine as the size of the file allows."""
    candidate = candidates[index]
    unit = candidate.scenario.profile.time_unit
    axis = [found.evaluation.step_time for found in candidates if found.scenario.profile.time_unit == unit]
    pipeline = candidate.scenario.pipeline
    activities = len(OP_KINDS) * pipeline.num_chunks
    binned = max(1, len(candidates) - len(exact))
    bins = _BIN_CELLS // (binned * activities * pipeline.num_stages)
    figure = gantt_figure(
        candidate.evaluation,
        LIGHT,
        until=max(axis),
        num_bins=min(NUM_BINS, max(1, bins)),
        max_blocks=MAX_BLOCKS if index in exact else 0,
    )
    return chart(
        figure,
        f"timeline-{index}",
        f"One lane a stage, stage 0 on top; all timelines in {unit} share one time axis.",
    )
