"""Results of a sweep on the page: best points, chart of time against memory, heat map, table."""

from collections.abc import Sequence

import streamlit as st

from pages.shared import sweep_opening
from pages.shared.pictures import page_theme, plot
from pages.shared.sweep_jobs import SweepState, Swept
from pages.shared.text import bullets, literal
from sapp_core.charts.numbers import memory_text, time_text
from sapp_core.charts.sweep import (
    DIMENSIONS,
    MEASURES,
    PER_SAMPLE,
    STATUS_WORDS,
    STEP_TIME,
    Dimension,
    Measure,
    heat_map_figure,
    pareto_figure,
)
from sapp_core.charts.sweep_table import FRONT, REMARK, reasons, sweep_table
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.sweep import PointResult, best_first, pareto_front
from sapp_core.interchange.sweep import sweep_csv

_CHART, _HEAT_MAP, _ROWS = "sweep_chart", "sweep_heat_map", "sweep_rows"
_MOST_REASONS = 4
_TABS = ("Table", "Heat map")


def show(state: SweepState) -> None:
    """All that has been found so far."""
    results, profile = state.results, state.swept.profile
    if not results:
        return
    _metrics(results, profile)
    if any(result.step_time is not None for result in results):
        measure = _choose_measure("Time", (PER_SAMPLE, STEP_TIME), "sweep_time")
        plot(
            pareto_figure(results, profile, page_theme(), measure),
            _CHART,
            f"{profile.name}_sweep",
            f"{measure.name} of {len(results)} points against the peak memory of their fullest stage.",
            on_select=lambda: _open_point(state, _CHART),
            selects="points",
        )
        st.caption(
            "Click a point to open it in Balance. Crosses show the even split that needs least memory, where no plan "
            "fits."
        )
    _why_not(results)
    table, heat_map = st.tabs(_TABS, key="sweep_tabs", on_change="rerun")
    if table.open:
        with table:
            _table(state)
    if heat_map.open:
        with heat_map:
            _heat_map(state)
    # Below everything: nothing may move away under the pointer that has just clicked.
    if refused := sweep_opening.refusal():
        st.info(f"**This point cannot be opened.**\n\n{bullets(refused)}", icon=":material/block:")


def _metrics(results: Sequence[PointResult], profile: ModelProfile) -> None:
    unit = literal(profile.time_unit)
    fastest, lightest, fitting = st.columns(3)
    front = pareto_front(results)
    best, small = (front[-1], front[0]) if front else (None, None)
    fastest.metric(
        "Fastest that fits, per sample", "–" if best is None else time_text(best.time_per_sample or 0.0, unit, 4),
        delta=None if best is None else _short(best), delta_color="off", delta_arrow="off", border=True,
        help="Least time per sample of all points with a plan that fits.",
    )  # fmt: skip
    lightest.metric(
        "Least memory", "–" if small is None or not profile.has_memory else memory_text(small.highest_peak_mb or 0.0),
        delta=None if small is None else _short(small), delta_color="off", delta_arrow="off", border=True,
        help="Smallest peak of the fullest stage of all points with a plan that fits.",
    )  # fmt: skip
    count = sum(result.fits for result in results)
    fitting.metric(
        "Fit", f"{count:,} of {len(results):,}", border=True, delta=f"{len(front)} on the Pareto front",
        delta_color="off", delta_arrow="off",
        help="Points with a plan that keeps the limit. On the Pareto front: no other one is both faster and smaller.",
    )  # fmt: skip


def _short(result: PointResult) -> str:
    point = result.point
    return f"{point.schedule_name}, S {point.num_stages}, V {point.num_chunks}, M {point.num_micro_batches}"


def _choose_measure(label: str, measures: Sequence[Measure], key: str) -> Measure:
    name = st.segmented_control(
        label, [measure.name for measure in measures], default=measures[0].name, required=True, key=key,
        bind="query-params", persist_state="session",
        help="*Per sample* compares points with different batches; it counts all pipelines beside each other.",
    )  # fmt: skip
    return next(measure for measure in measures if measure.name == name)


def _why_not(results: Sequence[PointResult]) -> None:
    """Every reason why a point does not run or fit; open by itself where nothing does."""
    why = reasons(results)
    if not why:
        return
    count, none_fits = sum(number for _, number in why), not any(result.fits for result in results)
    listed = [f"{number:,} point{'' if number == 1 else 's'}: {words}" for words, number in why[:_MOST_REASONS]]
    if len(why) > _MOST_REASONS:
        listed.append(f"{len(why) - _MOST_REASONS:,} more reasons are in the table, in the column Remark.")
    if none_fits:
        smallest = min((peak for result in results if (peak := result.highest_peak_mb)), default=None)
        lack = "fits" if any(result.step_time is not None for result in results) else "can run"
        advice = "Change the lists on the left"
        if smallest is not None:
            advice += f"; the even split that needs least takes {memory_text(smallest)} on its fullest stage"
        st.warning(f"**None of the points so far {lack}.** {advice}.\n\n{bullets(listed)}", icon=":material/block:")
        return
    with st.expander(f"Why {count:,} point{' does' if count == 1 else 's do'} not run or fit", icon=":material/help:"):
        st.markdown(bullets(listed))


def _open_point(state: SweepState, chart: str) -> None:
    points = st.session_state[chart]["selection"]["points"]
    if points:
        chosen = points[0].get("customdata")
        number = chosen[0] if isinstance(chosen, list) else chosen
        if number is not None:
            sweep_opening.want(state.swept, state.results[int(number)])


def _heat_map(state: SweepState) -> None:
    results, profile = state.results, state.swept.profile
    varied = [each for each in DIMENSIONS if len({each.value(result.point) for result in results}) > 1]
    if len(varied) < 2:
        st.info("A heat map needs two lists with more than one value each.", icon=":material/grid_on:")
        return
    first, second, third = st.columns(3)
    with first:
        across = _choose_dimension("Across", varied, 0, "sweep_across")
    with second:
        down = _choose_dimension("Down", [each for each in varied if each is not across], 0, "sweep_down")
    with third:
        name = st.selectbox(
            "Number", [measure.name for measure in MEASURES], key="sweep_number", persist_state="session",
            help="The smallest one of all points that share the two values and fit.",
        )  # fmt: skip
    measure = next(each for each in MEASURES if each.name == name)
    plot(
        heat_map_figure(results, profile, page_theme(), across, down, measure),
        _HEAT_MAP,
        f"{profile.name}_sweep_heat_map",
        f"Best {measure.name} for each {across.name} and {down.name}.",
        on_select=lambda: _open_point(state, _HEAT_MAP),
        selects="points",
    )
    st.caption("Click a cell to open its point in Balance. ×: none of its points fits; its label says why.")


def _choose_dimension(label: str, offered: Sequence[Dimension], index: int, key: str) -> Dimension:
    names = [each.name for each in offered]
    if st.session_state.get(key) not in names:
        st.session_state.pop(key, None)
    name = st.selectbox(label, names, index=index, key=key, help="Which list runs along this axis.")
    return offered[names.index(str(name))]


def _table(state: SweepState) -> None:
    results, profile = state.results, state.swept.profile
    ordered = best_first(results)
    words = list(dict.fromkeys(STATUS_WORDS[result.status] for result in ordered))
    names = sorted({result.point.schedule_name for result in ordered})
    status, schedule, front_only = st.columns([2, 2, 1], vertical_alignment="bottom")
    kept_status = status.multiselect(
        "Status", words, key="sweep_filter_status", placeholder="all", help="Rows to keep; empty: all."
    )
    kept_names = schedule.multiselect(
        "Schedule", names, key="sweep_filter_schedule", placeholder="all", help="Rows to keep; empty: all."
    )
    only = front_only.toggle(
        "Pareto front only", key="sweep_filter_front", help="No other point is faster and smaller."
    )
    front = {result.point for result in pareto_front(results)}
    kept = tuple(
        result
        for result in ordered
        if (not kept_status or STATUS_WORDS[result.status] in kept_status)
        and (not kept_names or result.point.schedule_name in kept_names)
        and (not only or result.point in front)
    )
    table = sweep_table(kept, profile)
    number = st.column_config.NumberColumn
    times = f"({profile.time_unit})"
    st.dataframe(
        table, key=_ROWS, hide_index=True, on_select=lambda: _open_row(state.swept, kept), selection_mode="single-row",
        column_config={
            FRONT: st.column_config.CheckboxColumn(FRONT, help="On the Pareto front of time and memory."),
            REMARK: st.column_config.TextColumn(
                REMARK, width="medium", help="Why it does not run or fit, and what to know of it; click for all of it."
            ),
            **{name: number(name, format="%.1f") for name in table if str(name).endswith(("(%)", "(GiB)"))},
            **{name: number(name, format="localized") for name in table if str(name).endswith((times, "(MiB)"))},
        },
        alt="Every point with its status, times, memory and why it does not run or fit.",
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "All points (CSV)", lambda: sweep_csv(results), f"sweep_{len(results)}_points.csv", "text/csv",
            icon=":material/download:", on_click="ignore", key="sweep_csv",
            help="Every point with all numbers, the best first.",
        )  # fmt: skip
        st.caption("Tick a row to open its point in Balance.")


def _open_row(swept: Swept, kept: Sequence[PointResult]) -> None:
    rows = st.session_state[_ROWS]["selection"]["rows"]
    if rows:
        sweep_opening.want(swept, kept[rows[0]])
