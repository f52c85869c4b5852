"""The parts of a page that show one simulated plan."""

from dataclasses import dataclass
from math import ceil

import streamlit as st

from pages.shared import cached, chart_component
from pages.shared.cached import Simulated
from pages.shared.chart_component import Timeline
from pages.shared.pictures import chart_config, page_theme, plot
from pages.shared.session import BALANCE_VIEW, set_window, window
from pages.shared.text import literal
from sapp_core.charts.gantt import MAX_BLOCKS
from sapp_core.charts.numbers import memory_text, percent_text, time_text
from sapp_core.charts.plan import plan_table
from sapp_core.charts.scene import clipped_window, shifted_window
from sapp_core.domain.result import Progress
from sapp_core.domain.scenario import Scenario
from sapp_core.pictures import search_figure


@dataclass(frozen=True, slots=True)
class View:
    """Charts that share one time axis.

    Attributes:
        name: of their time window in the session.
        step_time: where the axis ends: the longest step among them.
    """

    name: str
    step_time: float


def timeline(simulated: Simulated, view: View | None = None, key: str = "timeline") -> None:
    """The Gantt chart with its time window.

    Args:
        simulated: what to draw.
        view: of charts it is drawn with; None = it stands alone.
        key: of the chart.
    """
    evaluation = simulated.evaluation
    pipeline = evaluation.schedule.pipeline
    shared = view or View(BALANCE_VIEW, evaluation.step_time)
    name = f"{evaluation.profile.name}_{evaluation.schedule.name}_timeline"
    alt = (
        f"Timeline of {pipeline.num_stages} stages and {pipeline.num_micro_batches} micro-batches; one training step "
        f"takes {time_text(evaluation.step_time, evaluation.profile.time_unit)}."
    )
    if chart_component.available():
        look = cached.look(simulated, page_theme(), shared.step_time)
        drawn = Timeline(simulated.key, cached.packed(simulated), look, shared.name, window(shared.name))
        chart_component.draw_timeline(
            drawn, key, chart_config(name), alt, on_zoom=lambda chosen: set_window(chosen, shared.name)
        )
    else:
        figure = cached.timeline_chart(simulated, page_theme(), window(shared.name), shared.step_time)
        plot(figure, key, name, alt, on_select=lambda: _look_closer(key, shared))
    _window_controls(simulated, shared, key)


def in_flight(simulated: Simulated, view: View, key: str) -> None:
    """Micro-batches in flight over time and at most."""
    evaluation = simulated.evaluation
    plot(
        cached.in_flight_chart(simulated, page_theme(), window(view.name), view.step_time),
        key,
        f"{evaluation.schedule.name}_in_flight",
        "Micro-batches in flight on each stage as they rise and fall through the step.",
    )
    st.dataframe(cached.most_in_flight_table(simulated), hide_index=True)
    st.caption("Most micro-batches of each chunk in flight on a stage; a sequence split counts as its share of one.")


def search(trace: tuple[Progress, ...], seconds: float, scenario: Scenario) -> None:
    """How the search closes in on the best plan; nothing before there is anything to draw."""
    if not trace:
        return
    plot(
        # Redrawn at news and once a second, not at every look.
        search_figure(scenario, trace, float(ceil(seconds)), page_theme()),
        "search",
        f"{scenario.profile.name}_{scenario.schedule_name}_search",
        "Best value found and proven bound through the seconds of the run.",
    )


def memory(
    simulated: Simulated,
    scenario: Scenario,
    reference: Simulated | None,
    reference_name: str = "Even split",
    key: str = "memory",
) -> None:
    """Peak memory of each stage, or why there is none to show; the peaks of another plan as dashes."""
    if not scenario.profile.has_memory:
        st.info("The profile gives no memory, so there is none to show. Its times are balanced all the same.")
        return
    evaluation = simulated.evaluation
    peaks = ", ".join(memory_text(peak) for peak in evaluation.peak_memory_mb)
    plot(
        cached.memory_chart(simulated, page_theme(), scenario.request.memory_limit_mb, reference, reference_name),
        key,
        f"{evaluation.profile.name}_{evaluation.schedule.name}_{key}",
        f"Peak memory of the stages: {peaks}.",
    )


def memory_over_time(simulated: Simulated, scenario: Scenario) -> None:
    """Memory of each stage through the time window of the timeline."""
    if not scenario.profile.has_memory:
        st.info("The profile gives no memory, so there is none to show.")
        return
    evaluation = simulated.evaluation
    plot(
        cached.memory_over_time_chart(simulated, page_theme(), scenario.request.memory_limit_mb, window()),
        "memory_over_time",
        f"{evaluation.profile.name}_{evaluation.schedule.name}_memory_over_time",
        "Memory of each stage as it rises and falls through the step.",
    )
    st.caption("Each lane is as high as the limit (or the highest peak). It follows the time window of the timeline.")


def bubbles(named: tuple[tuple[str, Simulated], ...]) -> None:
    """Where time is lost, plan by plan."""
    evaluation = named[-1][1].evaluation
    plot(
        cached.bubble_chart(named, page_theme()),
        "bubbles",
        f"{evaluation.profile.name}_{evaluation.schedule.name}_bubbles",
        f"Bubble of the plan: {percent_text(evaluation.bubble.total)} of the model's own work.",
    )
    st.caption(
        "In percent of one stage's share of the model's own work. **Schedule itself**: the bubble with perfectly even "
        "stages. **Uneven stages**: what uneven cells add. **Recomputation** and **transfers**: what they add on top."
    )


def plan(simulated: Simulated) -> None:
    """Layers of each stage, as a picture and as a table."""
    evaluation = simulated.evaluation
    plot(
        cached.plan_chart(simulated, page_theme()),
        "plan",
        f"{evaluation.profile.name}_{evaluation.schedule.name}_plan",
        "Layers of each stage by recompute mode; the table below has the numbers.",
    )
    st.dataframe(plan_table(evaluation), hide_index=True)


def _window_controls(simulated: Simulated, view: View, key: str) -> None:
    evaluation = simulated.evaluation
    unit = evaluation.profile.time_unit
    start, end = clipped_window(window(view.name), view.step_time)
    whole = window(view.name) is None
    blocks = cached.blocks(simulated).count_within((start, end))
    where = "the whole step" if whole else f"{time_text(start, unit)} to {time_text(end, unit)}"
    text = f"Shown: {literal(where)}, {blocks:,} blocks. **Drag across the chart to look closer.**"
    if blocks > MAX_BLOCKS:
        text += " Too many blocks for one view: every column shows what a stage does most of that moment."
    prefix = "window" if key == "timeline" else f"{key}_window"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Whole step", key=f"{prefix}_whole", icon=":material/zoom_out_map:", disabled=whole,
            on_click=set_window, args=(None, view.name), help="Shows the step from its start to its end again.",
        )  # fmt: skip
        st.button(
            "Earlier", key=f"{prefix}_earlier", icon=":material/chevron_left:", disabled=whole,
            on_click=_shift, args=(view, -0.5), help="Moves the view by half of its width towards the step's start.",
        )  # fmt: skip
        st.button(
            "Later", key=f"{prefix}_later", icon=":material/chevron_right:", icon_position="right", disabled=whole,
            on_click=_shift, args=(view, 0.5), help="Moves the view by half of its width towards the step's end.",
        )  # fmt: skip
        st.caption(text, width="stretch")


def _shift(view: View, windows: float) -> None:
    set_window(shifted_window(clipped_window(window(view.name), view.step_time), windows, view.step_time), view.name)


def _look_closer(key: str, view: View) -> None:
    """Take the box drawn in a timeline as the new time window."""
    boxes = st.session_state[key]["selection"]["box"]
    if boxes:
        first, last = sorted(boxes[-1]["x"])
        set_window((first, last), view.name)
