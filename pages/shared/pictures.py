"""Charts on a page: the right theme, a picture to download, labels that do not crowd a small screen."""

from collections.abc import Callable
from typing import Any, Literal

import streamlit as st

from pages.shared import chart_component
from pages.shared.text import file_stem
from sapp_core.charts.theme import DARK, LIGHT, Figure, Theme

_FORMAT = "picture_format"
_PICTURE_SCALE = 2
_UNUSED_BUTTONS = ["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "autoScale2d", "resetScale2d", "lasso2d", "select2d"]
# Labels inside blocks and bars are chosen for a wide screen; on a narrow one they would run into each other. Only in
# timelines that the browser draws itself they are chosen for the width there is.
_STYLE = """<style>
[data-testid="stMainBlockContainer"] { padding-top: 2.5rem; padding-bottom: 3rem; }
@media (max-width: 900px) {
  .stPlotlyChart .textpoint, .st-key-memory .textpoint, .st-key-my_memory .textpoint,
  .st-key-measured_timeline .textpoint, .st-key-kept_bubbles .bartext { display: none; }
  [class*="st-key-kept_row"] { flex-wrap: nowrap; }
  [class*="st-key-kept_row"] > .stElementContainer { min-width: 0; }
}
</style>"""


def page_theme() -> Theme:
    """Colours that go with the page the reader sees."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def adapt_page() -> None:
    """Once a page: more room at the top for what matters, fewer labels on narrow screens."""
    st.html(_STYLE)


def picture_format_control() -> None:
    """Which kind of file the charts' camera button saves."""
    st.segmented_control(
        "The camera button of each chart saves", ["PNG", "SVG"], default="PNG", required=True, key=_FORMAT,
        persist_state="session",
        help="The camera is at the top right of each chart. A PNG has twice the size on screen; an SVG scales freely.",
    )  # fmt: skip


def plot(
    figure: Figure,
    key: str,
    name: str,
    alt: str,
    on_select: Callable[[], None] | None = None,
    selects: Literal["box", "points"] = "box",
) -> None:
    """Draw a chart.

    Args:
        figure: to draw.
        key: of the element.
        name: of the picture file, without its ending.
        alt: what the chart says, for those who cannot see it.
        on_select: called after something was selected in the chart, where Streamlit draws it.
        selects: what can be: a box that is drawn, or points that are clicked; the latter are Streamlit's to draw.
    """
    config = chart_config(name)
    if chart_component.available() and selects == "box":
        chart_component.draw_figure(figure, key, config, alt)
        return
    st.plotly_chart(
        figure, theme=None, key=key, config=config, alt=alt, selection_mode=selects, on_select=on_select or "ignore"
    )


def chart_config(name: str) -> dict[str, Any]:
    """Plotly's settings for a chart whose picture file has this name."""
    return {
        "displaylogo": False,
        "displayModeBar": True,
        "modeBarButtonsToRemove": _UNUSED_BUTTONS,
        "doubleClick": False,
        "scrollZoom": False,
        # Plotly's own button for uploading a chart: data stays here.
        "showSendToCloud": False,
        "toImageButtonOptions": {
            "format": str(st.session_state.get(_FORMAT, "PNG")).lower(),
            "filename": file_stem(name),
            "scale": _PICTURE_SCALE,
        },
    }
