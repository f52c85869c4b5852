"""A profile as people check it: every resolved number in a table that can be edited, and as bars."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from pages.shared.choice import use_profile
from pages.shared.pictures import page_theme, plot
from pages.shared.sheet import hold, sheet_of, start_over
from pages.shared.text import bullets, file_stem, literal
from sapp_core.charts.profile import profile_memory, profile_times
from sapp_core.domain.profile import MAX_LAYERS, ModelProfile
from sapp_core.errors import ProfileError
from sapp_core.profiles.load import LoadedProfile
from sapp_core.profiles.save import profile_rows, profile_text, with_rows
from sapp_core.profiles.schema import MAX_NUMBER, MODE_KEYS

_TABLE = "profile_table"
_FIXED = ("name", "type")
_ROWS_IN_VIEW = 12
_STAYS_WARNED = 8
_USE = "Takes this profile to the Balance page, as if it had been uploaded there, and balances it."
_UNDO = "Brings back the numbers that the table began with."


def profile_table(loaded: LoadedProfile) -> LoadedProfile | None:
    """Table, warnings, bars, downloads and the way to the Balance page, all of the edited profile.

    Args:
        loaded: what a file or an estimate gave.

    Returns:
        The edited profile; None while the edits are no profile.
    """
    given = loaded.profile
    table = _numbers(given)
    sheet = sheet_of(_TABLE, loaded, table)
    st.subheader("What a layer costs", anchor=False)
    st.caption(
        f"**{literal(given.name)}**: times in {literal(given.time_unit)} of one layer and one micro-batch, memory in "
        "MB. Every number can be changed here; a backward time that is deleted follows from the forward time, a "
        "recompute mode without memory for a BODY kind is not offered."
    )
    edited = st.data_editor(
        sheet.shown, key=sheet.key, hide_index=True, num_rows="fixed", disabled=list(_FIXED),
        column_config=_columns(given),
        height="content" if len(table) <= _ROWS_IN_VIEW else 35 * (_ROWS_IN_VIEW + 1), placeholder="",
        alt="Times and memory of each layer kind, to be edited.",
    )  # fmt: skip
    hold(sheet, edited)
    is_edited = not edited.equals(table)
    shown = _checked(loaded, edited) if is_edited else loaded
    with st.container(horizontal=True):
        if shown is not None:
            _take_away(shown)
        if is_edited:
            st.button(
                "Undo all edits", icon=":material/undo:", on_click=start_over, args=(_TABLE, table), key="profile_undo",
                help=_UNDO,
            )  # fmt: skip
    if shown is None:
        return None
    if shown.warnings:
        with st.container(height="content" if len(shown.warnings) < _STAYS_WARNED else 240):
            st.warning(bullets(shown.warnings), icon=":material/info:")
    times, memory = st.columns(2)
    with times:
        alt = f"Forward and backward times of {len(given.layers)} layer kinds."
        plot(profile_times(shown.profile, page_theme()), "profile_times", f"{given.name}_times", alt)
    with memory:
        alt = f"Parameters and activations of {len(given.layers)} layer kinds."
        plot(profile_memory(shown.profile, page_theme()), "profile_memory", f"{given.name}_memory", alt)
    return shown


def _checked(loaded: LoadedProfile, edited: pd.DataFrame) -> LoadedProfile | None:
    """The profile of the edited table; None with the reasons on the page."""
    rows = [
        {key: None if pd.isna(value) else value for key, value in row.items()}
        for row in edited.astype(object).to_dict("records")
    ]
    whole = [_as_plain(row) for row in rows]
    try:
        return with_rows(loaded.profile, whole)
    except ProfileError as error:
        st.error(f"**These numbers are no profile.** The edits stay; change or undo them.\n\n{bullets(error.problems)}")
        return None


def _as_plain(row: Mapping[Any, Any]) -> dict[str, object]:
    return {str(key): value.item() if hasattr(value, "item") else value for key, value in row.items()}


def _take_away(shown: LoadedProfile) -> None:
    profile = shown.profile
    stem = file_stem(profile.name)
    if st.button("Use in Balance", type="primary", icon=":material/balance:", key="use_in_balance", help=_USE):
        use_profile(shown)
        st.switch_page("pages/balance.py")
    st.download_button(
        "Save as YAML", profile_text(profile), f"{stem}.yaml", "text/yaml", key="profile_yaml",
        icon=":material/download:", on_click="ignore", help="A profile file with these numbers, to keep and upload.",
    )  # fmt: skip
    st.download_button(
        "Save as JSON", profile_text(profile, as_json=True), f"{stem}.json", "application/json", key="profile_json",
        icon=":material/download:", on_click="ignore", help="The same profile file as JSON.",
    )  # fmt: skip


def _numbers(profile: ModelProfile) -> pd.DataFrame:
    """A row for each layer kind, with the keys of profile files as columns."""
    rows = profile_rows(profile)
    keys = dict.fromkeys(key for row in rows for key in row)
    # Modes that are not offered come last: their columns are there to be filled in.
    columns = sorted(keys, key=lambda key: all(row.get(key) is None for row in rows))
    table = pd.DataFrame([{key: row.get(key) for key in columns} for row in rows])
    types = {key: "Int64" if key == "nb_layer" else "Float64" for key in columns if key not in _FIXED}
    return table.astype(types)


def _columns(profile: ModelProfile) -> dict[str, Any]:
    number = st.column_config.NumberColumn
    unit = literal(profile.time_unit)
    columns: dict[str, Any] = {
        "name": st.column_config.TextColumn("Layer kind", pinned=True),
        "type": st.column_config.TextColumn("Place"),
        "nb_layer": number("Layers", min_value=1, max_value=MAX_LAYERS, step=1),
        "time": _amount("Forward", f"Forward time of one layer, {unit}."),
        "memory_parameter": _amount("Parameters MB", "Weights, gradients and optimizer of one layer, MB."),
    }
    for keys in MODE_KEYS:
        columns[keys.memory] = _amount(f"Act. {keys.mode} MB", f"Kept for one micro-batch under {keys.mode}, MB.")
        columns[keys.time] = _amount(f"Bwd. {keys.mode}", f"Backward time under {keys.mode}, {unit}.")
    return columns


def _amount(label: str, text: str) -> Any:  # noqa: ANN401  # Streamlit's own type has no public name.
    return st.column_config.NumberColumn(label, min_value=0.0, max_value=float(MAX_NUMBER), format="%.6g", help=text)
