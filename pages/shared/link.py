"""What a copied link asked for and the page cannot show."""

import streamlit as st

from pages.shared.sources import UPLOADED
from pages.shared.text import bullets

_BEFORE, _NOTICES = "link", "link_notices"
_OF_CONTROLS = (bool, int, float, str, list)
"""Types of what controls hold; a session keeps other things too, which no link can ask for."""
_SHOWN = 60


def remember_link() -> None:
    """Keep what the address said when the session began; widgets drop values they cannot take."""
    if _BEFORE not in st.session_state:
        st.session_state[_BEFORE] = st.query_params.to_dict()


def came_by_link() -> bool:
    """Whether the address asked for something when the session began."""
    return bool(st.session_state.get(_BEFORE))


def link_notices() -> None:
    """After all widgets: say what the link asked for in vain."""
    if _NOTICES not in st.session_state:
        st.session_state[_NOTICES] = tuple(
            _sentence(key, wanted)
            for key, wanted in st.session_state[_BEFORE].items()
            if isinstance(st.session_state.get(key), _OF_CONTROLS) and not _same(st.session_state[key], wanted)
        )
    if st.session_state[_NOTICES]:
        st.warning(bullets(st.session_state[_NOTICES]), icon=":material/link_off:")


def forget_link() -> None:
    """The page has moved on from the link: no more remarks on it."""
    st.session_state[_NOTICES] = ()


def _sentence(key: str, wanted: str) -> str:
    if key == "profile" and wanted == UPLOADED:
        return (
            "This link was made with an uploaded profile, which a link cannot carry. Upload the file on the left to "
            "see the same numbers; what you see now is a sample."
        )
    asked = wanted if len(wanted) <= _SHOWN else f"{wanted[:_SHOWN]}…"
    return f"The link asks for {key}={asked}, which is not possible here; the page uses {st.session_state[key]}."


def _same(value: object, wanted: str) -> bool:
    if isinstance(value, bool):
        return str(value).lower() == wanted.lower()
    if isinstance(value, list):
        return wanted in map(str, value)
    if isinstance(value, int | float):
        try:
            return float(wanted) == value
        except ValueError:
            return False
    return str(value) == wanted
