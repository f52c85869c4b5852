"""Quantities that are dragged or typed: a number with its slider; the URL holds the number."""

from collections.abc import Callable

import streamlit as st


def amount(label: str, key: str, *, default: float, top: float, step: float, text: str) -> float:
    """A number field with a slider beneath it; both always agree.

    Args:
        label: with the unit.
        key: of the number in session state and URL.
        default: where it starts.
        top: right end of the slider; larger numbers can be typed.
        step: of slider and field.
        text: help, with unit and effect.
    """
    number = float(
        st.number_input(
            label, min_value=0.0, max_value=1e9, value=default, step=step, format="%.12g", key=key, help=text,
            bind="query-params",
        )
    )  # fmt: skip
    slider = f"{key}_slider"
    st.session_state[slider] = min(number, top)
    st.slider(
        f"{label}, slider", min_value=0.0, max_value=top, step=step, key=slider, label_visibility="collapsed",
        format="%.12g", help=text,
        on_change=_copy(slider, key),
    )  # fmt: skip
    return number


def _copy(source: str, target: str) -> Callable[[], None]:
    def copy() -> None:
        st.session_state[target] = st.session_state[source]

    return copy
