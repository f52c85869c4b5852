"""What all reports are made with: templates that escape every text, charts, tables, scripts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template, select_autoescape
from markupsafe import Markup

from sapp_core.charts.files import figure_html, plotly_script
from sapp_core.charts.theme import Figure
from sapp_core.interchange.scenario import scenario_in_html

_PAGE_PX = 620
"""Height of a chart that a printed page has room for."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure of a report.

    Attributes:
        name: of its element.
        caption: how to read it.
        html: the figure itself.
        zoom: on paper, so that it fits on one page.
    """

    name: str
    caption: str
    html: Markup
    zoom: float


def template(name: str) -> Template:
    """A template of this folder."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def rows(table: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """A table by columns as its header, and a line for each row."""
    return [tuple(table), *zip(*table.values(), strict=True)]


def chart(figure: Figure, name: str, caption: str) -> Chart:
    """A figure with its caption."""
    zoom = min(1.0, _PAGE_PX / figure.layout.height)
    html = Markup(figure_html(figure, name))  # noqa: S704  plotly escapes what it writes
    return Chart(name, caption, html, round(zoom, 3))


def script_text(text: str) -> Markup:
    """JSON inside a script element, which HTML does not unescape: what could end it is escaped in JSON's own way."""
    return Markup(scenario_in_html(text))  # noqa: S704


def drawing_script() -> Markup:
    """The library that draws the figures."""
    return Markup(plotly_script())  # noqa: S704  a library's own file
