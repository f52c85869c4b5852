"""Measured op times against simulated ones.

Clocks of different machines differ. As long as no op starts before the work it needs has ended on another stage, clocks
are taken as they are. Else neighbouring stages are moved against each other to the middle of what both directions of
their traffic allow, as NTP does: forwards bound the difference of two clocks from one side, backwards from the other.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import fmean, median

from sapp_core.domain.graph import source_of
from sapp_core.domain.measured import KindDifference, MeasuredComparison, MeasuredStep, Sample
from sapp_core.domain.schedule import OP_KINDS, Op, OpKind, Schedule
from sapp_core.domain.timeline import Evaluation
from sapp_core.errors import FormatError

Work = tuple[int, Op]
"""Stage and op."""
Span = tuple[float, float]
"""Start and end."""

_ROUNDING = 1e-6
"""Part of a step's length by which times may contradict each other for no better reason than rounding."""
_NAMED = 3
_WAITS_INSIDE = (
    "Some ops start before the work they need has ended on another stage, and no shift of the clocks would put that "
    "right: their times include waiting for data. Clocks were left as they are."
)
_MOVED = (
    "The clocks of the stages disagree: ops start before the work they need has ended. They were moved to the middle "
    "of what the traffic between neighbours allows, stage {stage} the furthest, by {offset:+.6g} against stage 0."
)


def compare(evaluation: Evaluation, samples: Sequence[Sample], notes: Sequence[str] = ()) -> MeasuredComparison:
    """Where measured and simulated times differ.

    Args:
        evaluation: what was simulated.
        samples: measured runs of ops of its schedule, at least one.
        notes: of whoever read them.

    Raises:
        FormatError: ops were measured a different number of times, or in several runs at the same time.
    """
    schedule, timeline = evaluation.schedule, evaluation.timeline
    spans: dict[Work, Span] = {}
    for stage, slots in enumerate(schedule.slots):
        for index, slot in enumerate(slots):
            span = timeline.starts[stage][index], timeline.ends[stage][index]
            spans |= {(stage, op): span for op in slot.ops}
    steps = _steps(samples)
    shown, said = None, list(notes)
    if steps:
        said += _missing(spans, steps[0])
        steps, moved = _aligned(steps, schedule)
        said += moved
        # Of an even number the shorter one of the middle: a step that was really run.
        shown = sorted(steps, key=_length)[(len(steps) - 1) // 2]
    else:
        said.append("The measured times have no starts, so only durations are compared.")
    step = _step(shown, spans) if shown else None
    complete = step is not None and step.complete
    stages = range(schedule.pipeline.num_stages)
    return MeasuredComparison(
        kinds=_kinds(samples, spans),
        step=step,
        num_steps=len(steps),
        step_time=step.end if step is not None and complete else None,
        simulated_step_time=evaluation.step_time,
        idle=tuple(_length(shown) - _busy(shown, stage) for stage in stages) if shown and complete else None,
        simulated_idle=tuple(evaluation.step_time - _busy(spans, stage) for stage in stages),
        notes=tuple(said),
    )


def _kinds(samples: Sequence[Sample], spans: dict[Work, Span]) -> tuple[KindDifference, ...]:
    by_kind: dict[tuple[int, OpKind], list[Sample]] = defaultdict(list)
    for sample in samples:
        by_kind[sample.stage, sample.kind].append(sample)
    all_of: dict[tuple[int, OpKind], list[float]] = defaultdict(list)
    for (stage, op), (start, end) in spans.items():
        all_of[stage, op.kind].append(end - start)
    rows = []
    for (stage, kind), runs in by_kind.items():
        ops = {run.op for run in runs if run.op is not None}
        durations = [spans[stage, op][1] - spans[stage, op][0] for op in ops]
        simulated = median(durations) if all(run.op is not None for run in runs) else fmean(all_of[stage, kind])
        rows.append(KindDifference(stage, kind, len(runs), median(run.duration for run in runs), simulated))
    return tuple(sorted(rows, key=lambda row: (row.stage, OP_KINDS.index(row.kind))))


def _steps(samples: Sequence[Sample]) -> list[dict[Work, Span]]:
    """One entry a step: the first runs of all ops, the second ones, …; none where the samples have no starts."""
    runs: dict[Work, list[Span]] = defaultdict(list)
    for sample in samples:
        if sample.op is None or sample.start is None:
            return []
        runs[sample.stage, sample.op].append((sample.start, sample.start + sample.duration))
    fewest, most = (chosen(runs.items(), key=lambda entry: len(entry[1])) for chosen in (min, max))
    if len(fewest[1]) != len(most[1]):
        raise FormatError(
            f"measured: every op must be there once for each step, found {_text(fewest[0])} {len(fewest[1])} times and "
            f"{_text(most[0])} {len(most[1])} times; cut the file to whole steps."
        )
    for work, spans in runs.items():
        spans.sort()
        if any(after[0] < before[1] for before, after in pairwise(spans)):
            raise FormatError(
                f"measured: {_text(work)} runs twice at the same time, so the file holds several replicas of the "
                "pipeline; keep the ranks of one."
            )
    return [{work: spans[k] for work, spans in runs.items()} for k in range(len(fewest[1]))]


def _missing(spans: dict[Work, Span], step: dict[Work, Span]) -> list[str]:
    left: dict[int, list[Op]] = defaultdict(list)
    for stage, op in spans:
        if (stage, op) not in step:
            left[stage].append(op)
    here = {stage for stage, _ in step}
    notes = []
    if absent := [stage for stage in left if stage not in here]:
        notes.append(f"No op of {_stages(absent)} was measured.")
    for stage in sorted(left.keys() & here):
        names = ", ".join(op.label for op in left[stage][:_NAMED])
        more = ", …" if len(left[stage]) > _NAMED else ""
        notes.append(f"On stage {stage}, {len(left[stage]):,} ops were not measured: {names}{more}.")
    return [*notes, "Step time and idle time need every op, so they are not compared."] if notes else []


def _aligned(steps: list[dict[Work, Span]], schedule: Schedule) -> tuple[list[dict[Work, Span]], list[str]]:
    """The steps on one clock, and what was done about it."""
    late = _lateness(steps, schedule)
    most = _ROUNDING * max(map(_length, steps))
    if max(late.values(), default=0.0) <= most:
        return steps, []
    offsets = [0.0]
    for stage in range(1, schedule.pipeline.num_stages):
        there, back = late.get((stage - 1, stage)), late.get((stage, stage - 1))
        if there is None or back is None or there + back > most:
            return steps, [_WAITS_INSIDE]
        moved = (there - back) / 2 if max(there, back) > most else 0.0
        offsets.append(offsets[-1] + moved)
    shifted = [
        {(stage, op): (start + offsets[stage], end + offsets[stage]) for (stage, op), (start, end) in step.items()}
        for step in steps
    ]
    furthest = max(range(len(offsets)), key=lambda stage: abs(offsets[stage]))
    return shifted, [_MOVED.format(stage=furthest, offset=offsets[furthest])]


def _lateness(steps: Iterable[dict[Work, Span]], schedule: Schedule) -> dict[tuple[int, int], float]:
    """(sender, receiver) → the most by which an op starts before the work it needs has ended; negative = never."""
    late: dict[tuple[int, int], float] = {}
    for step in steps:
        ends = {
            (op.kind is OpKind.F, op.chunk, stage, op.micro_batch, op.sequence_split): end
            for (stage, op), (_, end) in step.items()
            if op.kind is not OpKind.W
        }
        for (stage, op), (start, _) in step.items():
            source = source_of(op, stage, schedule.pipeline)
            if source is None or source[2] == stage:
                continue
            end = ends.get((*source, op.micro_batch, op.sequence_split))
            if end is not None:
                pair = source[2], stage
                late[pair] = max(late.get(pair, end - start), end - start)
    return late


def _step(spans: dict[Work, Span], order: Iterable[Work]) -> MeasuredStep:
    first = min(start for start, _ in spans.values())
    found = [spans.get(work) for work in order]
    return MeasuredStep(
        tuple(None if span is None else span[0] - first for span in found),
        tuple(None if span is None else span[1] - first for span in found),
    )


def _length(spans: dict[Work, Span]) -> float:
    return max(end for _, end in spans.values()) - min(start for start, _ in spans.values())


def _busy(spans: dict[Work, Span], stage: int) -> float:
    """Time in which a stage does anything; overlapped ops fill the time once."""
    busy, until = 0.0, float("-inf")
    for start, end in sorted(span for (where, _), span in spans.items() if where == stage):
        busy += max(0.0, end - max(start, until))
        until = max(until, end)
    return busy


def _text(work: Work) -> str:
    stage, op = work
    return f"{op.label} on stage {stage}"


def _stages(stages: Sequence[int]) -> str:
    more = f" and {len(stages) - _NAMED} more" if len(stages) > _NAMED else ""
    return f"stage{'s' if len(stages) > 1 else ''} {', '.join(map(str, stages[:_NAMED]))}{more}"
