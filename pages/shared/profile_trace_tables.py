"""Tables of what patterns match in a trace."""

import streamlit as st

from sapp_core.profiles.trace_measure import Measurement, NamedTime
from sapp_core.profiles.trace_table import (
    LOWER,
    MEDIAN,
    NESTED,
    SPREAD,
    TOTAL,
    UPPER,
    Row,
    match_rows,
    matched_rows,
    name_rows,
)


def preview(measured: Measurement, left: tuple[NamedTime, ...]) -> None:
    """What matches, and what is missed.

    Args:
        measured: with the patterns of the page.
        left: names that match nothing.
    """
    _table(match_rows(measured), "trace_matches")
    st.caption(
        "Of each layer kind the median of its layers. Of each layer, where a match is a layer, the median of its runs; "
        "where it is a part, Σ over parts of the median of each: a name that occurs k times in each run is k parts, "
        "one that occurs unevenly adds its mean. An event inside another match of the pattern, on the same thread, "
        "counts once. Quartiles and spread (upper − lower, of the median) likewise."
    )
    matched, missed = st.columns(2)
    with matched, st.expander("Names that match", icon=":material/check:"):
        _table(matched_rows(measured), "trace_matched")
    with missed, st.expander("Names that do not match", icon=":material/search:", expanded=bool(measured.problems)):
        _table(name_rows(left), "trace_left")
        st.caption("Longest first; events that run inside matching ones are not listed.")


def _table(rows: list[Row], key: str) -> None:
    if not rows:
        st.caption("None.")
        return
    number = st.column_config.NumberColumn
    formats = {
        **{column: number(format="%.6g") for column in (MEDIAN, LOWER, UPPER, TOTAL)},
        SPREAD: number(format="%.1f"),
        NESTED: number(help="Matching events that run inside other matches and are not counted."),
    }
    columns = {column: [row[column] for row in rows] for column in rows[0]}
    st.dataframe(columns, hide_index=True, column_config=formats, key=key)
