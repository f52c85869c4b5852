"""A plan as a table of numbers to edit: a row for each cell and layer kind, in model order."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from pages.shared import my_plan_state
from pages.shared.pins import KEY as PINS
from pages.shared.pins import pins_from_text, want_pins
from sapp_core.balancer.request import Pin
from sapp_core.domain.plan import Plan
from sapp_core.domain.plan_rows import Counts, RowPlace, plan_counts, row_places
from sapp_core.domain.profile import ModelProfile, RecomputeMode
from sapp_core.domain.timeline import Evaluation
from sapp_core.errors import PipelineError

_SHEET = "my_plan_sheet"
_LAYERS, _KEEP = "Layers", "Keep"
_ROWS_IN_VIEW = 16
_NARROW, _WIDE = 64, 84
"""Widths of columns in pixels."""

Kept = tuple[int | None, ...]
"""`[row]`, layers that its cell must hold when a plan is balanced; None = as the balancer likes."""

Edits = Mapping[int, Mapping[str, int | None]]
"""Row → column → typed number, None where a number was deleted."""


@dataclass(frozen=True, slots=True)
class _Numbers:
    counts: Counts
    kept: Kept


@dataclass(frozen=True, slots=True)
class _Sheet:
    """What the widget was given and what it holds by now: edits lie on top of what it was given.

    Attributes:
        places: of the rows.
        given: numbers without edits.
        held: numbers with all edits.
        number: of the sheet; another one is a widget of its own, without edits.
    """

    places: tuple[RowPlace, ...]
    given: _Numbers
    held: _Numbers
    number: int

    @property
    def key(self) -> str:
        """Of the widget."""
        return f"my_plan_table_{self.number}"


def take_edits(evaluation: Evaluation, plan: Plan) -> None:
    """Take what was typed into the table since the last run; before anything is drawn that shows my plan.

    Args:
        evaluation: any of the same profile and pipeline.
        plan: that the table was drawn for.
    """
    profile, pipeline = evaluation.profile, evaluation.schedule.pipeline
    places = row_places(profile, pipeline)
    sheet: _Sheet | None = st.session_state.get(_SHEET)
    edits = _edits(sheet)
    if sheet is None or edits is None or sheet.places != places:
        return
    now = _with_edits(sheet.given, edits, profile.modes)
    if now == sheet.held:
        return
    pins = _pins()
    for place, layers, before in zip(places, now.kept, sheet.held.kept, strict=True):
        if layers != before:
            pins = tuple(pin for pin in pins if (pin.chunk, pin.stage) not in place.cells)
            pins += () if layers is None else (Pin(*place.cells[0], layers),)
    st.session_state[_SHEET] = replace(sheet, held=now)
    if now.counts != sheet.held.counts:
        my_plan_state.edit(now.counts, plan, profile, pipeline)
    if now.kept != sheet.held.kept:
        want_pins(pins)
        st.rerun()  # Pins belong to the settings in the sidebar.


def plan_editor(evaluation: Evaluation, plan: Plan) -> None:
    """The table of a plan, or of what is typed on top of it.

    Args:
        evaluation: any of the same profile and pipeline.
        plan: that stays simulated until the numbers are another one.
    """
    profile, pipeline = evaluation.profile, evaluation.schedule.pipeline
    places = row_places(profile, pipeline)
    typed = my_plan_state.draft(plan)
    wanted = _Numbers(typed.counts if typed else plan_counts(plan, profile, pipeline), _kept(places))
    sheet = _sheet(wanted, places, profile.modes)
    columns: dict[str, Any] = {
        "Virtual stage": [place.virtual_stage for place in places],
        "Stage": [_either(stage for _, stage in place.cells) for place in places],
        "Chunk": [_either(chunk for chunk, _ in place.cells) for place in places],
    }
    if pipeline.num_chunks == 1:
        columns = {"Stage": columns["Stage"]}
    if len(profile.body) > 1:
        columns["Layer kind"] = [place.layer for place in places]
    fixed = [*columns, _LAYERS]
    columns |= {str(mode): [row[i] for row in sheet.given.counts] for i, mode in enumerate(profile.modes)}
    # The sums are those of the numbers as they are by now.
    columns[_LAYERS] = [sum(row) for row in wanted.counts]
    columns[_KEEP] = pd.array(list(sheet.given.kept), dtype="Int64")
    st.data_editor(
        pd.DataFrame(columns), key=sheet.key, hide_index=True, num_rows="fixed", disabled=fixed,
        height="content" if len(places) <= _ROWS_IN_VIEW else 35 * (_ROWS_IN_VIEW + 1),
        column_config=_column_config(profile), placeholder="",
        alt="Layers of each cell and recompute mode, to be edited.",
    )  # fmt: skip


def _either(numbers: Iterable[int]) -> int | str:
    """One number, or those of both copies of a virtual stage."""
    first, *others = numbers
    return " and ".join(map(str, (first, *others))) if others else first


def _column_config(profile: ModelProfile) -> dict[str, Any]:
    column, number, most = st.column_config.Column, st.column_config.NumberColumn, profile.num_body_layers
    return {
        "Virtual stage": column(width=_WIDE, help="Number of the cell in model order."),
        "Stage": column(width=_NARROW),
        "Chunk": column(width=_NARROW),
        **{
            str(mode): number(
                min_value=0, max_value=most, step=1, width=_WIDE, help=f"Layers with recompute mode {mode}."
            )
            for mode in profile.modes
        },
        _LAYERS: number(width=_NARROW, help="Layers in all modes: the sum of the row."),
        _KEEP: number(
            min_value=0, max_value=most, step=1, width=_WIDE,
            help="Layers of all kinds that *Balance* must keep in this cell; empty: as many as it likes.",
        ),
    }  # fmt: skip


def _sheet(wanted: _Numbers, places: tuple[RowPlace, ...], modes: tuple[RecomputeMode, ...]) -> _Sheet:
    """The same sheet while given numbers and edits make what is wanted; else a new one, without edits."""
    sheet: _Sheet | None = st.session_state.get(_SHEET)
    if sheet is not None and sheet.places == places and wanted == sheet.held:
        # Edits are lost with the table when another tab is looked at.
        edits = _edits(sheet) or {}
        # A blank stands for 0, and a pin in one row of a cell for all: then blanks must not cover the numbers.
        blank = any(value is None for edit in edits.values() for column, value in edit.items() if column != _KEEP)
        if not blank and _with_edits(sheet.given, edits, modes) == wanted:
            return sheet
    fresh = _Sheet(places, wanted, wanted, sheet.number + 1 if sheet else 0)
    st.session_state[_SHEET] = fresh
    return fresh


def _edits(sheet: _Sheet | None) -> Edits | None:
    """What the widget holds; None while there is no widget."""
    state: Mapping[str, Edits] | None = st.session_state.get(sheet.key) if sheet else None
    return None if state is None else state["edited_rows"]


def _with_edits(given: _Numbers, edits: Edits, modes: tuple[RecomputeMode, ...]) -> _Numbers:
    counts = tuple(
        tuple(int(edits.get(row, {}).get(str(mode), count) or 0) for mode, count in zip(modes, counts, strict=True))
        for row, counts in enumerate(given.counts)
    )
    return _Numbers(counts, tuple(edits.get(row, {}).get(_KEEP, layers) for row, layers in enumerate(given.kept)))


def _kept(places: tuple[RowPlace, ...]) -> Kept:
    pins = {(pin.chunk, pin.stage): pin.layers for pin in _pins()}
    return tuple(next((pins[cell] for cell in place.cells if cell in pins), None) for place in places)


def _pins() -> tuple[Pin, ...]:
    """Those of the settings; none while their text cannot be read."""
    try:
        return pins_from_text(st.session_state.get(PINS, "") or "")
    except PipelineError:
        return ()
