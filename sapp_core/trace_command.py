"""`python -m sapp_core trace`: patterns of the command line, a profiler's trace, a profile."""

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from sapp_core.command_files import read_file
from sapp_core.domain.profile import LayerKind, RecomputeMode
from sapp_core.errors import SappError
from sapp_core.interchange.text import aligned, number
from sapp_core.profiles.load import LoadedProfile, load_profile, name_of
from sapp_core.profiles.schema import KINDS
from sapp_core.profiles.trace import Trace
from sapp_core.profiles.trace_kinds import KindPatterns
from sapp_core.profiles.trace_measure import Measurement, measure
from sapp_core.profiles.trace_profile import trace_profile
from sapp_core.profiles.trace_proposal import propose
from sapp_core.profiles.trace_reader import read_trace
from sapp_core.profiles.trace_table import match_rows, name_rows
from sapp_core.profiles.trace_times import Match, Reading

_NAMES_TOLD = 10


def profile_of_trace(options: argparse.Namespace) -> tuple[LoadedProfile, Measurement]:
    """The profile, and what the patterns match.

    Raises:
        SappError: with all that is wrong with options, files and patterns; names that match nothing help to write
            better ones.
    """
    memory = load_profile(read_file(options.memory_from), options.memory_from).profile if options.memory_from else None
    given = _given(options)
    trace = _trace(options.files)
    measured = measure(trace, given or _counted(propose(trace), options), Reading(options.runs, options.skipped))
    name = name_of(options.files[0].removesuffix(".gz"))
    try:
        return trace_profile(measured, name, memory, RecomputeMode(options.recomputed)), measured
    except SappError as error:
        raise SappError(*error.problems, *_ways_out(measured)) from error


def matches_text(measured: Measurement) -> str:
    """The patterns and what they match, as lines for a terminal."""
    rows = match_rows(measured)
    patterns = [
        f"{kind.patterns.kind} {kind.patterns.name}, {direction}: {pattern}"
        for kind in measured.kinds
        for direction, pattern, _ in kind.directions
        if pattern
    ]
    cells = [[number(value) if isinstance(value, float) else str(value) for value in row.values()] for row in rows]
    return "\n".join((*patterns, "", *aligned([key.lower() for key in rows[0]], cells))) + "\n\n"


def _trace(files: Sequence[str]) -> Trace:
    with ExitStack() as opened:
        try:
            streams = [(file, opened.enter_context(Path(file).open("rb"))) for file in files]
        except OSError as error:
            raise SappError(f"{error.filename}: cannot be read: {error.strerror}.") from error
        return read_trace(streams)


def _given(options: argparse.Namespace) -> tuple[KindPatterns, ...]:
    """The kinds of `--kind`; none = a proposal is wanted."""
    problems = [
        f"--kind {' '.join(words)}: must be a place of {', '.join(KINDS)}, a name, a pattern of the forward, and "
        f"perhaps one of the backward."
        for words in options.kinds
        if not 3 <= len(words) <= 4 or words[0] not in KINDS
    ]
    if problems:
        raise SappError(*problems)
    kinds = tuple(KindPatterns(words[1], LayerKind(words[0]), *words[2:]) for words in options.kinds)
    return _counted(kinds, options) if kinds else ()


def _counted(kinds: Sequence[KindPatterns], options: argparse.Namespace) -> tuple[KindPatterns, ...]:
    """The kinds with what `--parts` and `--layers` say about them."""
    names = [kind.name for kind in kinds]
    counts = dict(options.layers)
    if unknown := [name for name in (*options.parts, *counts) if name not in names]:
        raise SappError(f"--parts, --layers: must name a layer kind of {', '.join(names)}, found {unknown[0]!r}.")
    return tuple(
        replace(
            kind,
            match=Match.PART if kind.name in options.parts else kind.match,
            num_layers=counts.get(kind.name, kind.num_layers),
        )
        for kind in kinds
    )


def _ways_out(measured: Measurement) -> list[str]:
    left = name_rows(measured.left()[:_NAMES_TOLD])
    if not left:
        return []
    return [f"names that match nothing, longest first: {'; '.join(str(row['Name']) for row in left)}."]
