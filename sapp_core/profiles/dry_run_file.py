"""The dry-run file of SAPP users (YAML): offsets, recompute counts and measured peaks of one or several rounds.

Lists have one entry a stage; with several rounds there is one such list a round. `false` and 0 stand for no layer,
`true` for all layers of a stage, as in MindFormers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sapp_core.documents.report import found
from sapp_core.documents.section import Section
from sapp_core.documents.tree import Refused
from sapp_core.domain.profile import MAX_LAYERS, MODES
from sapp_core.domain.recompute_counts import FIELDS, layers_by_mode
from sapp_core.profiles.dry_run import DryRun, StagePeak
from sapp_core.profiles.schema import LAYERS, MAX_NUMBER, SETTINGS
from sapp_core.profiles.settings import SETTINGS_KEYS

MAX_STAGES = 1024
MAX_ROUNDS = 100
PEAKS, BODY_PEAKS = "memory_usage", "body_memories"
RECOMPUTE, TIMES, OFFSET = "recompute_config", "time_config", "offset"


@dataclass(frozen=True, slots=True)
class ForwardTimes:
    """Of one micro-batch, in the profile's time unit: of head, of one body layer, of tail."""

    head: float
    body: float
    tail: float


@dataclass(frozen=True, slots=True)
class DryRunFile:
    """What a dry-run file holds.

    Attributes:
        dry_run: the measured stages.
        num_layers: body layers of the model.
        times: forward times; None = not given.
        memory_limit_mb: MiB a stage, if given.
    """

    dry_run: DryRun
    num_layers: int
    times: ForwardTimes | None
    memory_limit_mb: float | None


def is_dry_run(top: Section) -> bool:
    """Whether a document is a dry-run file, not a profile or mere pipeline settings."""
    return top.has(PEAKS) and top.has(SETTINGS) and not top.has(LAYERS)


def read_dry_run(top: Section) -> DryRunFile | None:
    """The content of a dry-run file; None when the section's report says what is wrong with it."""
    report = top.report
    top.warn_unknown((SETTINGS, RECOMPUTE, PEAKS, TIMES))
    settings = top.section(SETTINGS, required=True)
    recompute = top.section(RECOMPUTE) if top.has(RECOMPUTE) else Section({}, RECOMPUTE, report)
    usage, times = top.section(PEAKS, required=True), _times(top)
    if settings is None or recompute is None or usage is None:
        return None
    settings.warn_unknown((*SETTINGS_KEYS, OFFSET), ("enable_simulation",))
    num_stages = settings.whole("pipeline_num", least=3, most=MAX_STAGES, required=True)
    num_layers = settings.whole("num_layer", least=1, most=MAX_LAYERS, required=True)
    settings.whole("num_of_interleave", least=1, most=1)
    limit = settings.number("memory_limit", most=MAX_NUMBER) or None
    if num_stages is None or num_layers is None:
        return None
    totals = _totals(settings, num_stages, num_layers)
    if totals is None:
        return None
    layers = _layers(recompute, totals)
    peaks = tuple(_peaks(usage, len(totals), num_stages))
    if report.problems or layers is None:
        return None
    measured = tuple(StagePeak(stage, layers[k][stage], peak, k) for k, stage, peak in peaks)
    return DryRunFile(DryRun(num_stages, measured), num_layers, times, limit)


def _times(top: Section) -> ForwardTimes | None:
    section = top.section(TIMES)
    if section is None:
        return None
    section.warn_unknown(("head", "body", "tail"))
    head, body, tail = (section.number(key, most=MAX_NUMBER, required=True) for key in ("head", "body", "tail"))
    if head is None or body is None or tail is None:
        return None
    if not head + body + tail:
        section.report.refuse(TIMES, "must hold a time that is not 0.")
    return ForwardTimes(head, body, tail)


def _totals(settings: Section, num_stages: int, num_layers: int) -> list[list[int]] | None:
    """`[round][stage]`, layers of every stage."""
    share, rest = divmod(num_layers, num_stages)
    value = settings.values.get(OFFSET, Refused.VALUE)
    if not settings.has(OFFSET):
        settings.report.refuse(settings.at(OFFSET), f"is missing; must be {_stage_list(num_stages)}.")
    if isinstance(value, Refused):
        return None
    if not isinstance(value, list) or not value:
        settings.report.refuse(settings.at(OFFSET), f"must be {_stage_list(num_stages)}, found {found(value)}.")
        return None
    rounds = value if any(isinstance(entry, list) for entry in value) else [value]
    if len(rounds) > MAX_ROUNDS:
        settings.report.refuse(settings.at(OFFSET), f"must hold at most {MAX_ROUNDS} rounds, found {len(rounds):,}.")
        return None
    paths = _paths(settings.at(OFFSET), value, rounds)
    read = [
        _whole_numbers(settings, path, entry, num_stages, -share, num_layers)
        for path, entry in zip(paths, rounds, strict=True)
    ]  # fmt: skip
    offsets = [row for row in read if row is not None]
    if len(offsets) < len(read):
        return None
    for path, row in zip(paths, offsets, strict=True):
        if sum(row) != rest:
            rule = f"must sum to {rest}: {num_layers:,} layers = {num_stages:,} stages × {share:,} + {rest}"
            settings.report.refuse(path, f"{rule}, found {sum(row):,}.")
    return [[share + offset for offset in row] for row in offsets]


def _layers(recompute: Section, totals: list[list[int]]) -> list[list[tuple[int, ...]]] | None:
    """`[round][stage][r]`, layers under each mode; counts beyond a stage's layers mean all of them."""
    recompute.warn_unknown(FIELDS)
    counts = {field: _counts(recompute, field, totals) for field in FIELDS}
    fields = [rows for rows in counts.values() if rows is not None]
    if len(fields) < len(counts):
        return None
    layers = []
    for k, stages in enumerate(totals):
        row = []
        for stage, total in enumerate(stages):
            full, select, comm = (min(field[k][stage], total) for field in fields)
            by_mode = layers_by_mode(total, full, select, comm)
            row.append(tuple(by_mode[mode] for mode in MODES))
        layers.append(row)
    return layers


def _counts(recompute: Section, field: str, totals: list[list[int]]) -> list[list[int]] | None:
    """`[round][stage]` of one recompute key."""
    value = recompute.values.get(field, 0)
    path = recompute.at(field)
    if not isinstance(value, list):
        if _stage_counts(recompute, path, value, totals[0]) is None:
            return None
        return [list(stages) if value else [0] * len(stages) for stages in totals]
    flat = len(totals) == 1 and not any(isinstance(entry, list) for entry in value)
    rounds = [value] if flat else value
    if len(rounds) != len(totals):
        rule = f"must hold one entry for each of the {len(totals)} rounds of {OFFSET}"
        recompute.report.refuse(path, f"{rule}, found {len(rounds):,}.")
        return None
    read = [
        _stage_counts(recompute, at, entry, stages)
        for at, entry, stages in zip(_paths(path, value, rounds), rounds, totals, strict=True)
    ]
    rows_read = [row for row in read if row is not None]
    return rows_read if len(rows_read) == len(read) else None


def _stage_counts(recompute: Section, path: str, entry: object, totals: list[int]) -> list[int] | None:
    """`[stage]` of one recompute key in one round."""
    if isinstance(entry, list):
        numbers = [_as_number(part, MAX_LAYERS) for part in entry]
        return _whole_numbers(recompute, path, numbers, len(totals), 0, MAX_LAYERS)
    if isinstance(entry, bool) or (isinstance(entry, int) and entry == 0):
        return list(totals) if entry else [0] * len(totals)
    if not isinstance(entry, Refused):
        rule = f"must be 0, false, true or {_stage_list(len(totals))}"
        recompute.report.refuse(path, f"{rule}, found {found(entry)}.")
    return None


def _as_number(entry: object, everything: int) -> object:
    return (everything if entry else 0) if isinstance(entry, bool) else entry


def _peaks(usage: Section, num_rounds: int, num_stages: int) -> Iterator[tuple[int, int, float]]:
    """(round, stage, MiB) of every measured stage."""
    usage.warn_unknown(("head_memory", "tail_memory", BODY_PEAKS))
    for key, stage in (("head_memory", 0), ("tail_memory", num_stages - 1)):
        yield from ((k, stage, peak) for k, peak in enumerate(_end_peaks(usage, key, num_rounds)))
    body = usage.section(BODY_PEAKS, required=True)
    if body is None:
        return
    body.warn_unknown(("stage_id", "memories"))
    ids, memories = body.entries("stage_id", required=True), body.entries("memories", required=True)
    if ids is None or memories is None:
        return
    id_rounds = _rounds(body, "stage_id", ids, num_rounds)
    memory_rounds = _rounds(body, "memories", memories, num_rounds)
    for k, ((id_path, stages), (path, peaks)) in enumerate(zip(id_rounds, memory_rounds, strict=False)):
        if len(stages) != len(peaks):
            rule = f"must hold one peak for each of the {len(stages):,} stages of {id_path}"
            usage.report.refuse(path, f"{rule}, found {len(peaks):,}.")
            continue
        numbers = _whole_numbers(body, id_path, stages, len(stages), 1, num_stages - 2)
        for i, peak in enumerate(peaks):
            size = _amount(body, f"{path}[{i}]", peak)
            if numbers is not None and size is not None:
                yield k, numbers[i], size


def _end_peaks(usage: Section, key: str, num_rounds: int) -> list[float]:
    """Peaks of the first or last stage, one a round; a single number holds for all of them."""
    value = usage.values.get(key, Refused.VALUE)
    if not usage.has(key):
        usage.report.refuse(usage.at(key), "is missing; must be the peak memory of that stage in MB.")
    if isinstance(value, Refused):
        return []
    if not isinstance(value, list):
        size = _amount(usage, usage.at(key), value)
        return [] if size is None else [size] * num_rounds
    if len(value) != num_rounds:
        usage.report.refuse(
            usage.at(key), f"must hold one peak for each of the {num_rounds} rounds, found {len(value):,}."
        )
        return []
    sizes = [_amount(usage, f"{usage.at(key)}[{i}]", entry) for i, entry in enumerate(value)]
    return [size for size in sizes if size is not None]


def _rounds(section: Section, key: str, value: list[object], num_rounds: int) -> list[tuple[str, list[object]]]:
    """(path, list) of every round; a flat list is the one of a single round."""
    rounds = value if any(isinstance(entry, list) for entry in value) else [value]
    if len(rounds) != num_rounds or not all(isinstance(entry, list) for entry in rounds):
        section.report.refuse(
            section.at(key), f"must hold one list for each of the {num_rounds} rounds, found {found(value)}."
        )
        return []
    paths = _paths(section.at(key), value, rounds)
    return [(path, entry) for path, entry in zip(paths, rounds, strict=True) if isinstance(entry, list)]


def _paths(path: str, value: Sequence[object], rounds: Sequence[object]) -> list[str]:
    return [path] if rounds is not value else [f"{path}[{k}]" for k in range(len(rounds))]


def _whole_numbers(section: Section, path: str, value: object, count: int, least: int, most: int) -> list[int] | None:
    """A list of so many whole numbers."""
    if isinstance(value, Refused):
        return None
    if not isinstance(value, list) or len(value) != count:
        section.report.refuse(path, f"must be {_stage_list(count)}, found {found(value)}.")
        return None
    numbers = []
    for i, entry in enumerate(value):
        if type(entry) is int and least <= entry <= most:
            numbers.append(entry)
        elif not isinstance(entry, Refused):
            rule = f"must be a whole number from {least:,} to {most:,}"
            section.report.refuse(f"{path}[{i}]", f"{rule}, found {found(entry)}.")
    return numbers if len(numbers) == count else None


def _amount(section: Section, path: str, value: object) -> float | None:
    """A peak."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= MAX_NUMBER:
        return float(value)
    if not isinstance(value, Refused):
        section.report.refuse(path, f"must be a number above 0 and up to {MAX_NUMBER:,}, found {found(value)}.")
    return None


def _stage_list(count: int) -> str:
    return f"a list of {count:,} whole numbers, one for each stage"
