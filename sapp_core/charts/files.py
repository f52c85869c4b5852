"""Figures as files: pictures, and parts of an HTML page that needs no network."""

from enum import StrEnum

import plotly.io
from plotly.offline import get_plotlyjs

from sapp_core.charts.theme import Figure
from sapp_core.errors import FormatError

PICTURE_WIDTH = 1280
"""px; a PNG has `PNG_SCALE` times as many pixels in each direction."""
PNG_SCALE = 2


class PictureFormat(StrEnum):
    """Kinds of picture files."""

    PNG = "png"
    SVG = "svg"


def picture(figure: Figure, file_format: PictureFormat, width: int = PICTURE_WIDTH) -> bytes:
    """A figure as a picture, drawn by the browser that the package kaleido finds: `BROWSER_PATH`, or one on the `PATH`.

    Raises:
        FormatError: kaleido is not installed, or it finds no browser that works.
    """
    try:
        import kaleido  # noqa: PLC0415  an extra that nothing else needs
    except ImportError as error:
        raise FormatError("picture: needs the package kaleido; install it with `pip install kaleido`.") from error
    options = {
        "format": str(file_format),
        "width": width,
        "height": int(figure.layout.height),
        "scale": PNG_SCALE if file_format is PictureFormat.PNG else 1,
    }
    try:
        drawn: bytes = kaleido.calc_fig_sync(figure, opts=options, kopts={"mathjax": False})
    except Exception as error:
        said = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise FormatError(
            "picture: the browser could not draw it; install Chromium or Chrome, or name one in the environment "
            f"variable BROWSER_PATH ({said})."
        ) from error
    return drawn


def figure_html(figure: Figure, name: str) -> str:
    """A figure as a part of an HTML page that holds `plotly_script` once.

    Args:
        figure: to draw; as wide as its place.
        name: of the element, unique in the page.
    """
    config = {"displaylogo": False, "responsive": True, "displayModeBar": False}
    html: str = plotly.io.to_html(figure, config=config, include_plotlyjs=False, full_html=False, div_id=name)
    return html


def plotly_script() -> str:
    """The library that draws the figures, as JavaScript (4.8 MB)."""
    script: str = get_plotlyjs()
    return script
