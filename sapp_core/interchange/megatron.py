"""Plans as Megatron-Core layouts (`--pipeline-model-parallel-layout`), both ways.

A layout has one entry for each virtual stage in model order, separated by `|`: `E` embedding, `t` transformer layer,
`m` multi-token-prediction layer, `L` loss. `x*n` repeats a letter or a bracketed group, separators inside included;
commas mean nothing.
"""

import re
from collections.abc import Iterable
from itertools import groupby

from sapp_core.domain.pipeline import Pipeline, Placement
from sapp_core.domain.plan import Plan, placed
from sapp_core.domain.profile import MODES, ModelProfile, RecomputeMode
from sapp_core.errors import FormatError

LETTERS = "EtmL"
LAYERS = "tm"
"""Letters that stand for body layers."""
LONGEST = 100_000
"""Characters of a layout, as it stands and written out: far more than any model, and a stop for `(t*9999)*9999`."""
_REPEAT = re.compile(r"\*([0-9]*)")
_MOST_DIGITS = 9
_PLACES_SHOWN = 5


def plan_to_layout(plan: Plan, profile: ModelProfile, pipeline: Pipeline) -> str:
    """The layout of a plan, equal runs of entries folded: `Et*2|(t*2|)*34,t*3|(t*2|)*3,tL`.

    Body layers of every kind are `t`; recomputation is said by flags, see `launch_flags`.

    Raises:
        PlanError: the plan does not fit profile and pipeline.
        FormatError: the placement is not Megatron's.
    """
    plan.check(profile, pipeline)
    _check_placement(pipeline)
    last = pipeline.num_virtual_stages - 1
    entries = []
    for v in range(last + 1):
        count = sum(layer.total(*pipeline.cells(v)[0]) for layer in plan.layers)
        entries.append(("E" if v == 0 else "") + _folded("t", count) + ("L" if v == last else ""))
    return _joined(entries)


def launch_flags(plan: Plan, profile: ModelProfile, pipeline: Pipeline) -> tuple[str, ...]:
    """Command line of a Megatron run with this plan, one flag each; a comment where it cannot say the recomputation.

    Raises:
        PlanError: the plan does not fit profile and pipeline.
        FormatError: the placement is not Megatron's.
    """
    flags = [
        f"--pipeline-model-parallel-size {pipeline.num_stages}",
        f"--pipeline-model-parallel-layout '{plan_to_layout(plan, profile, pipeline)}'",
    ]
    if pipeline.num_chunks > 1:
        flags.append(f"--num-virtual-stages-per-pipeline-rank {pipeline.num_chunks}")
    return (*flags, *_recompute_flags(plan, pipeline))


def layout_entries(layout: str) -> tuple[str, ...]:
    """One string of letters for each virtual stage: a layout with everything written out.

    Raises:
        FormatError: not a layout; the sentence says at which character.
    """
    text = layout.strip()
    if not text:
        raise FormatError("layout: is empty; it needs one E first and one L last.")
    if len(text) > LONGEST:
        raise FormatError(f"layout: may have up to {LONGEST:,} characters, found {len(text):,}.")
    entries = tuple(_written_out(text).split("|"))
    letters = "".join(entries)
    if letters.count("E") != 1 or not letters.startswith("E"):
        raise FormatError(f"layout: needs exactly one E, as its first letter, {_where('E', text)}.")
    if letters.count("L") != 1 or not letters.endswith("L"):
        raise FormatError(f"layout: needs exactly one L, as its last letter, {_where('L', text)}.")
    return entries


def plan_from_layout(layout: str, profile: ModelProfile, pipeline: Pipeline, mode: RecomputeMode | None = None) -> Plan:
    """The plan that a layout stands for: layers of the profile in model order, `t` and `m` alike.

    Args:
        layout: any legal one.
        profile: whose layers it places.
        pipeline: stages and chunks it is for.
        mode: of all layers, a layout does not say; None = the least recomputation that the profile offers.

    Raises:
        FormatError: not a layout, or for other numbers of virtual stages or layers.
    """
    _check_placement(pipeline)
    entries = layout_entries(layout)
    stages, chunks, wanted = pipeline.num_stages, pipeline.num_chunks, pipeline.num_virtual_stages
    if len(entries) % stages:
        raise FormatError(
            f"layout: has {len(entries)} entries, not a multiple of the {stages} stages; it needs {wanted}."
        )
    if len(entries) != wanted:
        raise FormatError(
            f"layout: has {len(entries)} entries, that is {len(entries) // stages} a stage, but there are {chunks} "
            f"chunks on each of {stages} stages: {wanted}."
        )
    counts = [sum(letter in LAYERS for letter in entry) for entry in entries]
    if sum(counts) != profile.num_body_layers:
        raise FormatError(f"layout: places {sum(counts)} layers, the profile has {profile.num_body_layers}.")
    chosen = profile.modes[0] if mode is None else mode
    kinds = iter([kind for kind, layer in enumerate(profile.body) for _ in range(layer.num_layers)])
    cells: list[list[tuple[RecomputeMode, int, int, int]]] = [[] for _ in profile.body]
    for v, count in enumerate(counts):
        for _ in range(count):
            cells[next(kinds)].append((chosen, *pipeline.cells(v)[0], 1))
    return Plan(tuple(placed(layer.name, pipeline, own) for layer, own in zip(profile.body, cells, strict=True)))


def _where(letter: str, text: str) -> str:
    """The first few places of a letter."""
    places = [str(match.start() + 1) for match in re.finditer(letter, text)]
    if not places:
        return "found none"
    more = len(places) - _PLACES_SHOWN
    return f"found at character {', '.join(places[:_PLACES_SHOWN])}" + (f" and {more:,} more" if more > 0 else "")


def _check_placement(pipeline: Pipeline) -> None:
    if pipeline.placement is not Placement.LOOP:
        raise FormatError(f"layout: Megatron lays chunks out in loops, the schedule needs {pipeline.placement}.")


def _recompute_flags(plan: Plan, pipeline: Pipeline) -> tuple[str, ...]:
    """Megatron recomputes selectively everywhere, or fully in the first n layers of every virtual stage."""
    cells = [pipeline.cells(v)[0] for v in range(pipeline.num_virtual_stages)]

    def per_cell(mode: RecomputeMode) -> list[int]:
        r = MODES.index(mode)
        return [sum(layer.counts[r][chunk][stage] for layer in plan.layers) for chunk, stage in cells]

    held = [sum(layer.total(chunk, stage) for layer in plan.layers) for chunk, stage in cells]
    used = [mode for mode in MODES if any(per_cell(mode))]
    if used == [RecomputeMode.NONE]:
        return ()
    if used == [RecomputeMode.SELECT]:
        return ("--recompute-granularity selective",)
    full = per_cell(RecomputeMode.FULL)
    if set(used) <= {RecomputeMode.NONE, RecomputeMode.FULL}:
        most = max(full)
        if all(count == min(most, layers) for count, layers in zip(full, held, strict=True)):
            return (
                "--recompute-granularity full",
                "--recompute-method block",
                f"--recompute-num-layers {most}",
            )
    return ("# No single recompute setting of Megatron expresses this plan: its stages recompute differently.",)


def _folded(text: str, count: int) -> str:
    return text * count if len(text) == 1 and count < 2 else f"{text}*{count}"


def _joined(entries: Iterable[str]) -> str:
    """Entries with separators, equal neighbours folded into groups; the last entry stands alone, without one."""
    *before, last = entries
    parts = []
    for entry, run in groupby(before):
        count = len(list(run))
        parts.append(f"({entry}|)*{count}" if count > 1 else f"{entry}|")
    return "".join(parts) + last


def _written_out(text: str) -> str:
    """Repetitions and groups written out, commas and blanks dropped.

    Raises:
        FormatError: at the first character that does not belong there.
    """
    position = length = 0
    written: list[str] = []
    group: tuple[int, int] | None = None
    last: str | None = None
    while position < len(text):
        char = text[position]
        if char in ", ":
            last = None
        elif char in LETTERS or char == "|":
            written.append(char)
            length += 1
            last = char if char != "|" else None
        elif char == "(":
            if group is not None:
                raise _wrong(text, position, "a group inside a group")
            group, last = (position, len(written)), None
        elif char == ")":
            if group is None:
                raise _wrong(text, position, "a closing bracket without an opening one")
            last = "".join(written[group[1] :])
            del written[group[1] :]
            written.append(last)
            group = None
        elif char == "*":
            star = position
            count, position = _repetitions(text, star, last)
            length += len(last or "") * (count - 1)
            if length > LONGEST:
                raise _wrong(text, star, f"more than {LONGEST:,} characters written out")
            written[-1] = (last or "") * count
            last = None
            continue
        else:
            raise _wrong(text, position, f"{char!r}, which is none of E, t, m, L, |, ( ) and *")
        position += 1
    if group is not None:
        raise _wrong(text, group[0], "an opening bracket that is never closed")
    return "".join(written)


def _repetitions(text: str, position: int, last: str | None) -> tuple[int, int]:
    """The number after a `*`, and where the text goes on."""
    match = _REPEAT.match(text, position)
    if last is None or match is None:
        raise _wrong(text, position, "a * that follows neither a letter nor a group")
    digits = match[1].lstrip("0")
    if not digits:
        raise _wrong(text, position, "a * without a number of at least 1")
    if len(digits) > _MOST_DIGITS:
        raise _wrong(text, position, f"more than {LONGEST:,} characters written out")
    return int(digits), match.end()


def _wrong(text: str, position: int, what: str) -> FormatError:
    around = text[max(0, position - 8) : position + 8]
    return FormatError(f"layout: character {position + 1}: {what} (near {around!r}).")
