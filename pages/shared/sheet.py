"""Tables that are edited: the edits outlive the widget when another page is looked at."""

from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st


@dataclass(frozen=True, slots=True)
class Sheet:
    """What the widget was given and what it holds by now; edits lie on top of what it was given.

    Attributes:
        name: of the table; sheets of one name follow each other.
        given: what the table shows without edits.
        shown: the table that the widget was given.
        held: the table with all edits.
        number: of the sheet; another one is a widget of its own, without edits.
    """

    name: str
    given: object
    shown: pd.DataFrame
    held: pd.DataFrame
    number: int

    @property
    def key(self) -> str:
        """Of the widget."""
        return f"{self.name}_{self.number}"


def sheet_of(name: str, given: object, table: pd.DataFrame) -> Sheet:
    """The same sheet while what it shows and the widget are the same; edits of a lost widget are given to a new one."""
    sheet: Sheet | None = st.session_state.get(_place(name))
    if sheet is None or sheet.given != given:
        return Sheet(name, given, table, table, sheet.number + 1 if sheet else 0)
    if sheet.key not in st.session_state:
        return replace(sheet, shown=sheet.held, number=sheet.number + 1)
    return sheet


def hold(sheet: Sheet, edited: pd.DataFrame) -> None:
    """Keep what the widget holds now."""
    st.session_state[_place(sheet.name)] = replace(sheet, held=edited)


def start_over(name: str, table: pd.DataFrame) -> None:
    """Forget all edits of the sheet that is shown (for callbacks)."""
    sheet: Sheet = st.session_state[_place(name)]
    st.session_state[_place(name)] = Sheet(name, sheet.given, table, table, sheet.number + 1)


def _place(name: str) -> str:
    return f"{name}_sheet"
