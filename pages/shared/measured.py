"""Measured op times against the simulated ones: upload, overlay, differences."""

import streamlit as st

from pages.shared.cached import Simulated, content
from pages.shared.pictures import page_theme, plot
from pages.shared.remembered import remembered
from pages.shared.session import window
from pages.shared.text import bullets, literal, shown_name
from sapp_core.charts.measured import difference_table, idle_table, measured_figure
from sapp_core.charts.numbers import signed_percent_text, time_text
from sapp_core.charts.theme import Figure, Theme
from sapp_core.domain.measured import MeasuredComparison
from sapp_core.errors import SappError
from sapp_core.interchange.measured import MAX_BYTES, read_measured
from sapp_core.interchange.tables import measured_csv
from sapp_core.simulator.measured import compare

Files = tuple[tuple[str, bytes], ...]
"""Name and content of each uploaded file."""

_FILES = "measured_files"
_UPLOADER = "measured_upload"
_WINDOW = tuple[float, float] | None


def measured_tab(simulated: Simulated) -> None:
    """The upload, and what it shows about the plan; the files stay in the session when another tab is open."""
    st.file_uploader(
        "Measured op times", ["csv", "json"], accept_multiple_files=True, key=_UPLOADER, on_change=_keep,
        max_upload_size=MAX_BYTES // (1024 * 1024),
        help="A CSV with the columns stage, kind, chunk, micro_batch, sequence_split, start, and end or duration, in "
        "the profile's time unit; or Chrome traces, one a rank or all in one. The README says how to get them from "
        "PyTorch's profiler and from Megatron's timers.",
    )  # fmt: skip
    files: Files = st.session_state.get(_FILES, ())
    if not files:
        st.caption(
            "Compares a run of this plan with its simulation: the trace or the timeline of the Download tab have the "
            "right form. Files stay in this session and are not part of the link."
        )
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        names = ", ".join(literal(name) for name, _ in files)
        st.markdown(f"Compared with: {names}.", width="content")
        st.button(
            "Remove", key="measured_remove", icon=":material/delete:", on_click=_forget,
            help="Forgets the measured times; the plan and its simulation stay.",
        )  # fmt: skip
    with st.spinner("Reading the measured times"):
        found = _compared(simulated, files)
    if isinstance(found, tuple):
        st.error(f"**These times cannot be compared with this plan.**\n\n{bullets(found)}", icon=":material/rule:")
        return
    _differences(simulated, found, files)


def _keep() -> None:
    uploaded = st.session_state[_UPLOADER]
    if uploaded:
        st.session_state[_FILES] = tuple((shown_name(file.name), file.getvalue()) for file in uploaded)
    else:
        _forget()


def _forget() -> None:
    st.session_state.pop(_FILES, None)


@remembered(content)
def _compared(simulated: Simulated, files: Files) -> MeasuredComparison | tuple[str, ...]:
    """The comparison, or the sentences on why there is none."""
    evaluation = simulated.evaluation
    try:
        read = read_measured(files, evaluation.schedule, evaluation.profile.time_unit)
        return compare(evaluation, read.samples, read.notes)
    except SappError as error:
        return error.problems


@remembered(content)
def _chart(simulated: Simulated, files: Files, theme: Theme, shown: _WINDOW) -> Figure | None:
    found = _compared(simulated, files)
    if isinstance(found, tuple) or found.step is None:
        return None
    return measured_figure(simulated.evaluation, found.step, theme, shown)


def _differences(simulated: Simulated, found: MeasuredComparison, files: Files) -> None:
    evaluation = simulated.evaluation
    unit = evaluation.profile.time_unit
    if found.step_time is not None:
        st.markdown(_step_words(found, unit))
    if found.notes:
        st.info(bullets(found.notes), icon=":material/info:")
    figure = _chart(simulated, files, page_theme(), window())
    if figure is not None:
        plot(
            figure,
            "measured_timeline",
            f"{evaluation.profile.name}_{evaluation.schedule.name}_measured",
            "Simulated and measured timeline of every stage, one above the other; the table below has the differences.",
        )
        st.caption(
            "It follows the time window of the timeline above. Of very many ops in view, every column shows what a "
            "stage does most of that moment."
        )
    st.dataframe(difference_table(found, unit), hide_index=True, column_config=_formats(unit))
    st.caption(
        "Durations are medians over all runs of the ops of one kind on one stage, measured and simulated; where a file "
        "does not say which ops they are, the simulated one is the mean."
    )
    if idle := idle_table(found, unit):
        st.dataframe(idle, hide_index=True, column_config=_formats(unit))
        st.caption("Time of the step in which a stage runs no op.")
    st.download_button(
        "Differences (CSV)", measured_csv(found), "measured_differences.csv", "text/csv", key="measured_csv",
        icon=":material/download:", on_click="ignore", help="The first table, with all digits.",
    )  # fmt: skip


def _step_words(found: MeasuredComparison, unit: str) -> str:
    measured = found.step_time or 0.0
    words = f"The measured step takes **{literal(time_text(measured, unit))}**, "
    if found.simulated_step_time:
        words += f"{signed_percent_text(measured / found.simulated_step_time - 1)} against the simulated one with "
    else:
        words += "the simulated one "
    words += literal(time_text(found.simulated_step_time, unit))
    if found.num_steps > 1:
        words += f". Of {found.num_steps:,} measured steps it is the one of median length"
    return f"{words}."


def _formats(unit: str) -> dict[str, object]:
    columns = ("Measured", "Simulated", "Difference", "Idle, measured", "Idle, simulated")
    return {
        **{f"{name} ({unit})": st.column_config.NumberColumn(format="%.6g") for name in columns},
        "Difference (%)": st.column_config.NumberColumn(format="%+.1f"),
    }
