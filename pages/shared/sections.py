"""The parts of a page that show one simulated plan."""

import streamlit as st

from pages.shared import cached
from pages.shared.cached import Simulated
from pages.shared.pictures import page_theme, plot
from pages.shared.scenario import Scenario
from pages.shared.session import set_window, window
from pages.shared.text import literal
from sapp_core.charts.gantt import MAX_BLOCKS, blocks_in_view
from sapp_core.charts.numbers import memory_text, percent_text, time_text
from sapp_core.charts.plan import plan_table
from sapp_core.charts.scene import clipped_window, shifted_window

_TIMELINE = "timeline"


def timeline(simulated: Simulated) -> None:
    """The Gantt chart with its time window."""
    evaluation = simulated.evaluation
    pipeline = evaluation.schedule.pipeline
    plot(
        cached.timeline_chart(simulated, page_theme(), window()),
        _TIMELINE,
        f"{evaluation.profile.name}_{evaluation.schedule.name}_timeline",
        f"Timeline of {pipeline.num_stages} stages and {pipeline.num_micro_batches} micro-batches; one training step "
        f"takes {time_text(evaluation.step_time, evaluation.profile.time_unit)}.",
        on_select=_look_closer,
    )
    _window_controls(simulated)


def memory(simulated: Simulated, scenario: Scenario, reference: Simulated | None) -> None:
    """Peak memory of each stage, or why there is none to show."""
    if not scenario.profile.has_memory:
        st.info("The profile gives no memory, so there is none to show. Its times are balanced all the same.")
        return
    evaluation = simulated.evaluation
    peaks = ", ".join(memory_text(peak) for peak in evaluation.peak_memory_mb)
    plot(
        cached.memory_chart(simulated, page_theme(), scenario.request.memory_limit_mb, reference),
        "memory",
        f"{evaluation.profile.name}_{evaluation.schedule.name}_memory",
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


def _window_controls(simulated: Simulated) -> None:
    evaluation = simulated.evaluation
    unit = evaluation.profile.time_unit
    start, end = clipped_window(window(), evaluation.step_time)
    whole = window() is None
    blocks = blocks_in_view(evaluation, window())
    where = "the whole step" if whole else f"{time_text(start, unit)} to {time_text(end, unit)}"
    text = f"Shown: {literal(where)}, {blocks:,} blocks. **Drag across the chart to look closer.**"
    if blocks > MAX_BLOCKS:
        text += " Too many blocks for one view: every column shows what a stage does most of that moment."
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Whole step", key="window_whole", icon=":material/zoom_out_map:", disabled=whole,
            on_click=set_window, args=(None,),
        )  # fmt: skip
        st.button(
            "Earlier", key="window_earlier", icon=":material/chevron_left:", disabled=whole,
            on_click=_shift, args=(simulated, -0.5),
        )  # fmt: skip
        st.button(
            "Later", key="window_later", icon=":material/chevron_right:", icon_position="right", disabled=whole,
            on_click=_shift, args=(simulated, 0.5),
        )  # fmt: skip
        st.caption(text, width="stretch")


def _shift(simulated: Simulated, windows: float) -> None:
    step_time = simulated.evaluation.step_time
    set_window(shifted_window(clipped_window(window(), step_time), windows, step_time))


def _look_closer() -> None:
    """Take the box drawn in the timeline as the new time window."""
    boxes = st.session_state[_TIMELINE]["selection"]["box"]
    if boxes:
        first, last = sorted(boxes[-1]["x"])
        set_window((first, last))
