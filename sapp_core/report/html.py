"""A study as one HTML file."""

from datetime import date

from sapp_core.advice import advice
from sapp_core.charts.gantt import NUM_BINS
from sapp_core.charts.lanes import MAX_STEPS
from sapp_core.domain.schedule import OP_KINDS
from sapp_core.errors import FormatError
from sapp_core.interchange.scenario import SCRIPT_ID, scenario_to_json
from sapp_core.pictures import PICTURES, Detail, Picture
from sapp_core.report import facts
from sapp_core.report.template import Chart, chart, drawing_script, rows, script_text, template
from sapp_core.schedules.registry import family
from sapp_core.sensitivity import USUAL_SHARE, sensitivity
from sapp_core.study import Study

LEFT_OUT = ("in-flight",)
"""Pictures a design review does not ask for: memory over time tells the same in MiB."""

_TEMPLATE = "report.html.jinja"
_BIN_CELLS = 70_000
"""Cells of all heat maps of a large timeline together; a cell takes 7 bytes in the file."""
_STEPS = 6_000
"""Changes of memory in all lanes together; one takes 65 bytes."""


def report_html(study: Study, made: date) -> str:
    """The report: one file of less than 6 MB, most of it the library that draws the charts.

    Args:
        study: what it is about.
        made: the date it carries.

    Raises:
        FormatError: a number is infinite, which the embedded scenario cannot say.
    """
    result = study.result
    plan = None if result is not None and result.plan is None else study.evaluation.plan
    return template(_TEMPLATE).render(
        title=study.scenario.profile.name,
        made=made.isoformat(),
        unit=study.scenario.profile.time_unit,
        schedule=study.scenario.schedule_name,
        headline=facts.headline(study),
        settings=facts.settings(study),
        summary=facts.summary(study),
        warnings=facts.warnings(study),
        certificate=facts.certificate(study),
        advice=advice(sensitivity(study.scenario, study.evaluation, USUAL_SHARE)),
        comparison=rows(facts.comparison(study)),
        stage_table=rows(facts.stage_table(study)),
        charts=_charts(study),
        script_id=SCRIPT_ID,
        # Both are scripts, which HTML does not unescape: what could end them is escaped in their own language.
        scenario=script_text(scenario_to_json(study.scenario, plan, result)),
        plotly=drawing_script(),
    )


def _charts(study: Study) -> dict[str, Chart]:
    found = {picture.name: _chart(picture, study) for picture in PICTURES if picture.name not in LEFT_OUT}
    return {name: chart for name, chart in found.items() if chart is not None}


def _chart(picture: Picture, study: Study) -> Chart | None:
    try:
        figure = picture.draw(study, _detail(study))
    except FormatError:  # there is nothing to draw, as a profile without memory
        return None
    return chart(figure, picture.name, picture.caption)


def _detail(study: Study) -> Detail:
    """As fine as the size of the file allows."""
    pipeline = study.scenario.pipeline
    kinds = len(OP_KINDS) if family(study.scenario.schedule_name).splits_backward else 2
    activities = kinds * pipeline.num_chunks
    return Detail(
        num_bins=min(NUM_BINS, max(1, _BIN_CELLS // (activities * pipeline.num_stages))),
        most_steps=min(MAX_STEPS, max(1, _STEPS // pipeline.num_stages)),
    )
