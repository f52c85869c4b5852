"""From a profiler's trace to a profile: read once, then patterns say which events are which layer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from pages.shared.profile_trace_guide import labels_guide
from pages.shared.profile_trace_tables import preview
from pages.shared.sheet import hold, sheet_of
from pages.shared.text import bullets, literal, shown_name
from sapp_core.domain.profile import MAX_LAYERS, LayerKind, ModelProfile, RecomputeMode
from sapp_core.errors import SappError
from sapp_core.profiles.load import LoadedProfile, name_of
from sapp_core.profiles.trace import Trace
from sapp_core.profiles.trace_kinds import KindPatterns
from sapp_core.profiles.trace_measure import Measurement, NamedTime, measure
from sapp_core.profiles.trace_profile import trace_profile
from sapp_core.profiles.trace_proposal import propose
from sapp_core.profiles.trace_reader import MAX_FILE_BYTES, read_trace
from sapp_core.profiles.trace_times import Match, Reading

_STATE, _SHOWN = "trace_state", "trace_shown"
_FILES, _TABLE = "trace_files", "trace_kinds"
_NO_MEMORY = "none"
_MOST_RUNS, _MOST_SKIPPED = 100_000, 1000
_COLUMNS = ("Layer kind", "Place", "Layers", "A match is", "Forward", "Backward")


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """What the last upload gave; the events in columns, not the file.

    Attributes:
        files: identities of the files that were read.
        name: of the trace.
        trace: of the last files that could be read.
        proposal: first patterns for it.
        problems: of the newest files.
        rejected: their names.
    """

    files: tuple[str, ...] = ()
    name: str = ""
    trace: Trace | None = None
    proposal: tuple[KindPatterns, ...] = ()
    problems: tuple[str, ...] = ()
    rejected: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class _Shown:
    """The last measurement and what it was made from."""

    trace: Trace
    kinds: tuple[KindPatterns, ...]
    reading: Reading
    measured: Measurement
    left: tuple[NamedTime, ...]


def trace_section(memories: dict[str, tuple[str, ModelProfile]]) -> LoadedProfile | None:
    """Upload, patterns, what they match; the profile if they make one.

    Args:
        memories: profiles that memory can be taken from: key → what it is called, and the profile.
    """
    st.markdown(
        "Measured forward and backward times of layers, from a trace of PyTorch's profiler or MindSpore's "
        "`trace_view.json`. Say how the events of head, body and tail are called; a trace holds **no memory**, which "
        "comes from another profile or is typed into the table."
    )
    read = _read_upload()
    if read.problems:
        kept = f" The trace before it, {literal(read.name)}, stays." if read.trace else ""
        st.error(f"**{literal(read.rejected)} cannot be used.**{kept}\n\n{bullets(read.problems)}")
    labels_guide(expanded=read.trace is None)
    if read.trace is None:
        return None
    trace = read.trace
    st.caption(
        f"Read: **{literal(read.name)}**. Timed events: {trace.num_events:,}; different names: {len(trace.names):,}; "
        f"threads and streams: {len(trace.tracks):,}."
    )
    if trace.notes:
        st.info(bullets(trace.notes), icon=":material/info:")
    kinds = _kinds(read.proposal)
    reading, run_under = _reading(trace)
    memory = _memory(memories)
    shown = _measured(trace, kinds, reading)
    made = None
    try:
        made = trace_profile(shown.measured, name_of(read.name.removesuffix(".gz")), memory, run_under)
    except SappError as error:
        st.error(f"**These patterns make no profile yet.**\n\n{bullets(error.problems)}", icon=":material/rule:")
    preview(shown.measured, shown.left)
    return made


def _read_upload() -> _Read:
    """What the newest files give; each is read once, in the rerun that it arrives with."""
    uploaded = st.file_uploader(
        "Traces (JSON, also packed with gzip)", type=["json", "gz"], accept_multiple_files=True, key=_FILES,
        max_upload_size=MAX_FILE_BYTES // 2**20,
        help="Chrome traces of one run, up to 200 MB each: one file, or one a rank when no rank has all layers. They "
        "are read once, as a stream; what was read stays when they are removed, which frees their memory.",
    )  # fmt: skip
    before: _Read = st.session_state.get(_STATE, _Read())
    files = tuple(file.file_id for file in uploaded)
    if files == before.files:
        return before
    if not files:
        now = replace(before, files=(), problems=())
    else:
        names = [shown_name(file.name) for file in uploaded]
        bar = st.progress(0.0, text="Reading the trace")
        try:
            trace = read_trace(list(zip(names, uploaded, strict=True)), lambda share: _tell(bar, share))
            now = _Read(files, names[0], trace, propose(trace))
        except SappError as error:
            now = replace(before, files=files, problems=error.problems, rejected=", ".join(names))
        bar.empty()
    st.session_state[_STATE] = now
    return now


def _tell(bar: Any, share: float) -> None:  # noqa: ANN401  # Streamlit's own type has no public name.
    bar.progress(min(share, 1.0), text=f"Reading the trace: {100 * share:.0f} %")


def _kinds(proposal: Sequence[KindPatterns]) -> tuple[KindPatterns, ...]:
    """The table of patterns."""
    st.subheader("Which events are which layer", anchor=False)
    st.caption(
        "One row for each layer kind. In a pattern, `*` is any text, `#` the layer's number, ` | ` stands between "
        "patterns that mean the same, and `A > B` is an event B that runs during an A of its process; all else is "
        "meant letter by letter, and a pattern is a whole name. An event belongs to the first pattern that matches it, "
        "those with `>` first. The proposal comes from the names of the trace; rows can be added or removed."
    )
    given = pd.DataFrame([_row(kind) for kind in proposal], columns=list(_COLUMNS)).astype({"Layers": "Int64"})
    sheet = sheet_of(_TABLE, tuple(proposal), given)
    edited = st.data_editor(
        sheet.shown, key=sheet.key, hide_index=True, num_rows="dynamic", column_config=_columns(), placeholder="",
        alt="Patterns of forward and backward events of each layer kind, to be edited.",
    )  # fmt: skip
    hold(sheet, edited)
    rows = ({key: None if pd.isna(value) else value for key, value in row.items()} for row in edited.to_dict("records"))
    return tuple(_kind(row) for row in rows if any(value is not None for value in row.values()))


def _row(kind: KindPatterns) -> tuple[object, ...]:
    return kind.name, str(kind.kind), kind.num_layers, str(kind.match), kind.forward, kind.backward


def _kind(row: dict[Any, Any]) -> KindPatterns:
    name, place, layers, match, forward, backward = (row[column] for column in _COLUMNS)
    return KindPatterns(
        name=str(name or ""),
        kind=LayerKind(place or LayerKind.BODY),
        forward=str(forward or ""),
        backward=str(backward or ""),
        match=Match(match or Match.LAYER),
        num_layers=None if layers is None else int(layers),
    )


def _columns() -> dict[str, Any]:
    text, chosen = st.column_config.TextColumn, st.column_config.SelectboxColumn
    return {
        "Layer kind": text(required=True, max_chars=100, help="What the profile calls it; unique."),
        "Place": chosen(
            options=[str(kind) for kind in LayerKind], required=True, default=str(LayerKind.BODY),
            help="HEAD before, BODY among, TAIL after the layers that are cut into stages.",
        ),
        "Layers": st.column_config.NumberColumn(
            min_value=1, max_value=MAX_LAYERS, step=1,
            help="Layers of this kind in the model; empty = as many as the trace has.",
        ),
        "A match is": chosen(
            options=[str(match) for match in Match], required=True, default=str(Match.LAYER),
            help="A layer: each matching event is one run of a layer. A part: the events of a run are added up.",
        ),
        "Forward": text(help="Pattern for names of forward events; empty = not in this trace."),
        "Backward": text(help="Pattern for names of backward events; empty = twice the forward."),
    }  # fmt: skip


def _reading(trace: Trace) -> tuple[Reading, RecomputeMode]:
    """How events are counted, and what the run recomputed."""
    runs, skipped, mode, where = st.columns(4)
    num_runs = runs.number_input(
        "Runs of a layer in the trace", 0, _MOST_RUNS, 0, key="trace_runs", persist_state="session",
        help="Steps × micro-batches; needed only where a match is a part of a layer. 0 = seen from how often names "
        "occur.",
    )  # fmt: skip
    num_skipped = skipped.number_input(
        "First runs to leave out", 0, _MOST_SKIPPED, 0, key="trace_skipped", persist_state="session",
        help="Of each layer: the warm-up, in which kernels are compiled and memory is first allocated.",
    )  # fmt: skip
    run_under = mode.selectbox(
        "Recomputed in the run", [str(known) for known in RecomputeMode], key="trace_mode", persist_state="session",
        help="Recompute mode of the traced run, whose backward time has that recomputation in it. The other modes "
        "follow from it.",
    )  # fmt: skip
    chosen = where.multiselect(
        "Threads and streams", range(len(trace.tracks)), format_func=lambda track: trace.tracks[track],
        key=f"trace_tracks_{len(trace.tracks)}_{trace.num_events}", persist_state="session", placeholder="All",
        help="Events elsewhere do not count. Choose the device's where the same work is on several.",
    )  # fmt: skip
    return Reading(int(num_runs) or None, int(num_skipped), tuple(sorted(chosen))), RecomputeMode(run_under)


def _memory(memories: dict[str, tuple[str, ModelProfile]]) -> ModelProfile | None:
    key = st.selectbox(
        "Memory from", [_NO_MEMORY, *memories], key="trace_memory", persist_state="session",
        format_func=lambda key: memories[key][0] if key in memories else "Nowhere: 0 until it is typed into the table",
        help="A kind takes parameters and activations of the kind with its name, or else of the one at its place. "
        "What you made on this page, what Balance shows and the samples can be chosen.",
    )  # fmt: skip
    return memories[key][1] if key in memories else None


def _measured(trace: Trace, kinds: tuple[KindPatterns, ...], reading: Reading) -> _Shown:
    """Only what changed is measured again."""
    shown: _Shown | None = st.session_state.get(_SHOWN)
    if shown is None or (shown.trace, shown.kinds, shown.reading) != (trace, kinds, reading):
        measured = measure(trace, kinds, reading)
        shown = _Shown(trace, kinds, reading, measured, measured.left())
        st.session_state[_SHOWN] = shown
    return shown
