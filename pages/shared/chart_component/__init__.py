"""Charts as a component of our own, drawn by the plotly.js that comes with plotly.

Figures are drawn as they are. Of a timeline the browser gets the blocks once and draws any window of time by itself:
`traces.js` decides what there is to see, `component.js` draws it and lets the reader zoom. Where this can't run (no
files served, no plotly.js in the browser), pages use Streamlit's own charts and the figure of `gantt_figure`.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from os import getpid
from pathlib import Path
from typing import Any

import streamlit as st

from sapp_core.charts.theme import Figure
from sapp_core.charts.timeline_parts import plotly_script

Range = tuple[float, float]

_FOLDER = Path(__file__).parent
_SERVED = Path(__file__).parents[3] / "static"
"""What Streamlit serves as it is; our copy of plotly.js goes there."""
_FAILED, _SAID_SO = "charts_failed", "charts_failed_now"
_HEARD = "heard"

_mount = st.components.v2.component(
    "sapp_chart",
    css=(_FOLDER / "component.css").read_text(encoding="utf-8"),
    js="\n".join((_FOLDER / name).read_text(encoding="utf-8") for name in ("traces.js", "component.js")),
    isolate_styles=False,
)


@dataclass(frozen=True, slots=True)
class Timeline:
    """What the browser draws a timeline from.

    Attributes:
        name: of the blocks; other blocks have another name.
        blocks: `packed_blocks` under that name.
        look: `timeline_look` of them.
        view: charts of the same view show the same window.
        window: visible time; None = the whole step.
    """

    name: str
    blocks: bytes
    look: str
    view: str
    window: Range | None


def available() -> bool:
    """Whether this session's browser can be asked to draw; draws the whole page anew once it said that it can't."""
    if st.session_state.pop(_SAID_SO, False):
        st.rerun()
    return not st.session_state.get(_FAILED) and _library() is not None


def fetch_library() -> None:
    """Let the browser load and read the drawing library while Python still works on the first charts."""
    if available():
        _mount(key="chart_library", data={"only": "library", "library": _library()})


def draw_figure(figure: Figure, key: str, config: dict[str, Any], alt: str) -> None:
    """Draw a figure.

    Args:
        figure: to draw.
        key: of the element.
        config: of Plotly.
        alt: what the chart says, for those who cannot see it.
    """
    _mount(key=key, data=_frame(config, alt) | {"figure": figure.to_json()}, on_failed_change=_give_up)


def draw_timeline(
    timeline: Timeline, key: str, config: dict[str, Any], alt: str, on_zoom: Callable[[Range | None], None]
) -> None:
    """Draw a timeline.

    Args:
        timeline: what to draw.
        key: of the element.
        config: of Plotly.
        alt: what the chart says, for those who cannot see it.
        on_zoom: called with the new window after the reader zoomed.
    """

    def zoomed() -> None:
        event = st.session_state[key]["zoom"]
        st.session_state[_heard(timeline.view)] = event["sent"]
        first, last = event["range"] or (0.0, 0.0)
        on_zoom((float(first), float(last)) if event["range"] else None)

    data = _frame(config, alt) | {
        "blocks": timeline.name,
        "look": timeline.look,
        "view": timeline.view,
        "range": timeline.window,
        "heard": st.session_state.get(_heard(timeline.view)),
    }
    with st.container(gap=None):
        # In a message of its own, which is only sent when the blocks change.
        _mount(key=f"{key}_blocks", data=timeline.blocks, height=1)
        _mount(key=key, data=data, on_zoom_change=zoomed, on_failed_change=_give_up)


def _frame(config: dict[str, Any], alt: str) -> dict[str, Any]:
    return {"library": _library(), "config": config, "alt": alt}


def _heard(view: str) -> str:
    """Key of the time stamp of the latest zoom that was heard of."""
    return f"{view}_{_HEARD}"


def _give_up() -> None:
    st.session_state[_FAILED] = st.session_state[_SAID_SO] = True


def _library() -> str | None:
    """Address of plotly.js on this server, None where it can't be served."""
    if not st.get_option("server.enableStaticServing"):
        return None
    served = _served_library()
    return f"app/static/{served}" if served else None


@st.cache_resource(show_spinner=False)
def _served_library() -> str | None:
    """Copy the plotly.js that came with plotly to where it is served from; None if that is not allowed."""
    script = plotly_script()
    name = f"plotly-{script.version}.min.js"
    with suppress(OSError):
        if not (_SERVED / name).exists():
            _SERVED.mkdir(exist_ok=True)
            # Another server may be at it too; whoever is last puts the same whole file in place.
            half = _SERVED / f"{name}.{getpid()}"
            half.write_text(script.text, encoding="utf-8")
            half.replace(_SERVED / name)
        return name
    return None
