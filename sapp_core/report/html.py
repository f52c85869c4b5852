"""A study as one HTML file."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from sapp_core.charts.files import figure_html, plotly_script
from sapp_core.charts.gantt import NUM_BINS
from sapp_core.charts.lanes import MAX_STEPS
from sapp_core.domain.schedule import OP_KINDS
from sapp_core.errors import FormatError
from sapp_core.interchange.scenario import SCRIPT_ID, scenario_in_html, scenario_to_json
from sapp_core.pictures import PICTURES, Detail, Picture
from sapp_core.report import facts
from sapp_core.schedules.registry import family
from sapp_core.study import Study

LEFT_OUT = ("in-flight",)
"""Pictures a design review does not ask for: memory over time tells the same in MiB."""

_TEMPLATE = "report.html.jinja"
_BIN_CELLS = 70_000
"""Cells of all heat maps of a large timeline together; a cell takes 7 bytes in the file."""
_STEPS = 6_000
"""Changes of memory in all lanes together; one takes 65 bytes."""
_PAGE_PX = 620
"""Height of a chart that a printed page has room for."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure of the report.

    Attributes:
        name: of its picture.
        caption: how to read it.
        html: the figure itself.
        zoom: on paper, so that it fits on one page.
    """

    name: str
    caption: str
    html: Markup
    zoom: float


def report_html(study: Study, made: date) -> str:
    """The report: one file of less than 6 MB, most of it the library that draws the charts.

    Args:
        study: what it is about.
        made: the date it carries.

    Raises:
        FormatError: a number is infinite, which the embedded scenario cannot say.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    result = study.result
    plan = None if result is not None and result.plan is None else study.evaluation.plan
    return environment.get_template(_TEMPLATE).render(
        title=study.scenario.profile.name,
        made=made.isoformat(),
        unit=study.scenario.profile.time_unit,
        schedule=study.scenario.schedule_name,
        headline=facts.headline(study),
        settings=facts.settings(study),
        summary=facts.summary(study),
        warnings=facts.warnings(study),
        certificate=facts.certificate(study),
        comparison=_rows(facts.comparison(study)),
        stage_table=_rows(facts.stage_table(study)),
        charts=_charts(study),
        script_id=SCRIPT_ID,
        # Both are scripts, which HTML does not unescape: what could end them is escaped in their own language.
        scenario=Markup(scenario_in_html(scenario_to_json(study.scenario, plan, result))),  # noqa: S704
        plotly=Markup(plotly_script()),  # noqa: S704  a library's own file
    )


def _rows(table: facts.Table) -> list[tuple[str, ...]]:
    """The header, and a line for each row."""
    return [tuple(table), *zip(*table.values(), strict=True)]


def _charts(study: Study) -> dict[str, Chart]:
    found = {picture.name: _chart(picture, study) for picture in PICTURES if picture.name not in LEFT_OUT}
    return {name: chart for name, chart in found.items() if chart is not None}


def _chart(picture: Picture, study: Study) -> Chart | None:
    try:
        figure = picture.draw(study, _detail(study))
    except FormatError:  # there is nothing to draw, as a profile without memory
        return None
    zoom = min(1.0, _PAGE_PX / figure.layout.height)
    html = Markup(figure_html(figure, picture.name))  # noqa: S704  plotly escapes what it writes
    return Chart(picture.name, picture.caption, html, round(zoom, 3))


def _detail(study: Study) -> Detail:
    """As fine as the size of the file allows."""
    pipeline = study.scenario.pipeline
    kinds = len(OP_KINDS) if family(study.scenario.schedule_name).splits_backward else 2
    activities = kinds * pipeline.num_chunks
    return Detail(
        num_bins=min(NUM_BINS, max(1, _BIN_CELLS // (activities * pipeline.num_stages))),
        most_steps=min(MAX_STEPS, max(1, _STEPS // pipeline.num_stages)),
    )
