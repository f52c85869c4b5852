"""Figures as files: pictures, and parts of an HTML page that needs no network."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
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


def pictures(wanted: Sequence[tuple[Figure, PictureFormat]]) -> tuple[bytes, ...]:
    """Figures as pictures, drawn by the browser that the package kaleido finds: `BROWSER_PATH`, or one on the `PATH`.

    Args:
        wanted: figures, and what kind of file each becomes.

    Raises:
        FormatError: kaleido is not installed, or it finds no browser that works.
    """
    if not wanted:
        return ()
    try:
        import kaleido  # noqa: PLC0415  an extra that nothing else needs
    except ImportError as error:
        raise FormatError("picture: needs the package kaleido; install it with `pip install kaleido`.") from error

    async def draw() -> tuple[bytes, ...]:
        # One browser for all of them; without MathJax, which would be fetched from the network.
        async with kaleido.Kaleido(mathjax=False) as browser:
            return tuple([await browser.calc_fig(figure, opts=_options(figure, kind)) for figure, kind in wanted])

    try:
        # In a thread of its own: whoever calls this, a notebook for one, may have an event loop that runs already.
        with ThreadPoolExecutor(max_workers=1) as thread:
            return thread.submit(lambda: asyncio.run(draw())).result()
    except Exception as error:  # whatever goes wrong in a browser or on the way to it
        said = str(error.args[0] if error.args else type(error).__name__).strip(" .")
        raise FormatError(
            "picture: the browser could not draw it; install Chromium or Chrome, or name one in the environment "
            f"variable BROWSER_PATH ({said})."
        ) from error


def _options(figure: Figure, kind: PictureFormat) -> dict[str, str | int]:
    scale = PNG_SCALE if kind is PictureFormat.PNG else 1
    return {"format": str(kind), "width": PICTURE_WIDTH, "height": int(figure.layout.height), "scale": scale}


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
