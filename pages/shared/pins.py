"""Cells that must hold a given number of layers: a control of the sidebar, written as the link has it."""

import re
from collections.abc import Iterable

import streamlit as st

from pages.shared.text import literal
from sapp_core.documents.report import quoted
from sapp_core.domain.request import Pin
from sapp_core.errors import PipelineError

KEY = "pins"
_NOTICE, _WANTED = "pins_notice", "pins_wanted"
# The command line's `--pin` has an equals sign; both are read.
_PIN = re.compile(r"(\d{1,6})\.(\d{1,6})[:=](\d{1,6})", re.ASCII)
_LONGEST = 20_000
"""Characters: a pin on each cell that the page can have."""


def pins_text(pins: Iterable[Pin]) -> str:
    """`0.3:3, 1.2:4`: chunk 0 of stage 3 keeps 3 layers, and so on."""
    return ",".join(map(str, pins))


def pins_from_text(text: str) -> tuple[Pin, ...]:
    """The pins that a text says, in the order of the text.

    Raises:
        PipelineError: with a sentence for each part that says none.
    """
    if len(text) > _LONGEST:
        raise PipelineError(f"pins: may have up to {_LONGEST:,} characters, found {len(text):,}.")
    parts = [part.strip() for part in text.split(",") if part.strip()]
    found = [(part, _PIN.fullmatch(part)) for part in parts]
    problems = [
        "pins: each must be chunk.stage:layers, such as 0.3:4 for 4 layers in chunk 0 of stage 3, "
        f"found {quoted(part)}."
        for part, match in found
        if match is None
    ]
    if problems:
        raise PipelineError(*problems)
    return tuple(Pin(*map(int, match.groups())) for _, match in found if match)


def pin_control(stages: int, chunks: int) -> str:
    """The control; returns its text, less the pins on cells that the sizes do not have (which is said)."""
    text = st.session_state.pop(_WANTED, None)
    if text is not None:
        st.session_state[KEY] = text
        forget_pin_notice()
    text = st.session_state.get(KEY, "")
    fitting = _fitting(text, stages, chunks)
    if fitting != text:
        st.session_state[KEY] = fitting
    with st.expander("Pinned layers", expanded=bool(text)):
        text = str(
            st.text_input(
                "Pins (chunk.stage:layers)", key=KEY, bind="query-params", persist_state="session", max_chars=_LONGEST,
                on_change=forget_pin_notice, placeholder="0.3:4, 1.0:2",
                help="Cells that must hold exactly so many layers when a plan is balanced: `0.3:4` keeps 4 layers in "
                "chunk 0 of stage 3. The column *Keep* under *My plan* writes here.",
            )
            or ""
        )  # fmt: skip
        # What a link asked for is known only now.
        fitting = _fitting(text, stages, chunks)
        if notice := st.session_state.get(_NOTICE):
            st.info(literal(notice), icon=":material/keep_off:")
    return fitting


def want_pins(pins: Iterable[Pin]) -> None:
    """Pin these cells and no others from the next run of the page on."""
    st.session_state[_WANTED] = pins_text(pins)


def forget_pin_notice() -> None:
    """What was dropped is known by now."""
    st.session_state.pop(_NOTICE, None)


def _fitting(text: str, stages: int, chunks: int) -> str:
    """The text without pins on cells that are not there; a text that cannot be read stays as it is."""
    try:
        pins = pins_from_text(text)
    except PipelineError:
        return text
    kept = tuple(pin for pin in pins if pin.stage < stages and pin.chunk < chunks)
    if kept == pins:
        return text
    dropped = pins_text(pin for pin in pins if pin.stage >= stages or pin.chunk >= chunks)
    st.session_state[_NOTICE] = (
        f"Pins dropped: {dropped}. With these settings there are stages 0 to {stages - 1} and "
        f"{'only chunk 0' if chunks == 1 else f'chunks 0 to {chunks - 1}'}."
    )
    return pins_text(kept)
