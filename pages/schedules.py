"""Schedules: the order of work of any schedule, without a model."""

import streamlit as st

from pages.shared import sections
from pages.shared.cached import Simulated, ordered_anew
from pages.shared.front_door import require_entrance
from pages.shared.link import link_notices, remember_link
from pages.shared.order_controls import Order, sidebar
from pages.shared.order_files import downloads, jobs
from pages.shared.pictures import adapt_page
from pages.shared.schedule_choice import offer_nearest, summary
from pages.shared.sections import View
from pages.shared.session import SCHEDULES_VIEW
from pages.shared.text import bullets
from sapp_core.charts.in_flight import most_in_flight
from sapp_core.charts.numbers import count_text, percent_text, time_text

_TABS = ("In flight", "Jobs of each stage", "Download")


def page() -> None:
    """The whole page, from top to bottom."""
    require_entrance("pages/schedules.py")
    adapt_page()
    remember_link()
    st.title("Pipeline schedules", anchor=False)
    st.markdown("The order in which every stage works on its micro-batches, with simple times instead of a model.")
    orders = sidebar()
    link_notices()
    drawn = [order.simulated for order in orders if order.simulated]
    view = View(SCHEDULES_VIEW, max((simulated.evaluation.step_time for simulated in drawn), default=0.0))
    _shown(orders, view)


@st.fragment
def _shown(orders: tuple[Order, ...], view: View) -> None:
    # All charts of the view in one fragment: a closer look at one of them moves the others too.
    for order in orders:
        _order(order, view, orders[0])
    if view.step_time:
        _details(orders, view)


def _order(order: Order, view: View, first: Order) -> None:
    with st.container(key=f"{order.prefix}order"):
        summary(order.family)
        if order.problems:
            st.error(f"**These settings cannot run.**\n\n{bullets(order.problems)}", icon=":material/rule:")
            if order is first:
                offer_nearest(order.family)
    if order.simulated:
        _metrics(order.simulated)
        if ordered_anew(order.simulated):
            st.caption("Its planner looks at times: for these it found a shorter order than the one for equal ops.")
        sections.timeline(order.simulated, view, f"{order.prefix}timeline")


def _metrics(simulated: Simulated) -> None:
    evaluation = simulated.evaluation
    bubble = evaluation.bubble
    most = most_in_flight(evaluation)
    step, lost, alive, ops = st.columns(4)
    step.metric(
        "Step time", time_text(evaluation.step_time, evaluation.profile.time_unit), border=True,
        help="From the first forward to the end of the last backward.",
    )  # fmt: skip
    lost.metric(
        "Bubble", percent_text(bubble.total), border=True,
        delta=f"{percent_text(bubble.ideal)} ideal", delta_color="off", delta_arrow="off",
        help="Time of a stage beyond its own forwards and backwards, in percent of those. Recomputation and transfers "
        "come on top of what the order itself costs.",
    )  # fmt: skip
    alive.metric(
        "Most in flight", count_text(most.chunks), border=True,
        delta=f"= {count_text(most.micro_batches)} of a whole stage", delta_color="off", delta_arrow="off",
        help="Micro-batches of any chunk that the fullest stage keeps at a time, and to how many micro-batches of all "
        "that a stage holds of one model this comes.",
    )  # fmt: skip
    ops.metric("Ops", f"{evaluation.schedule.num_ops:,}", border=True, help="Of all stages together.")


def _details(orders: tuple[Order, ...], view: View) -> None:
    in_flight, listed, files = st.tabs(_TABS, key="order_details", on_change="rerun")
    for order in orders:
        simulated = order.simulated
        if simulated is None:
            continue
        if in_flight.open:
            with in_flight:
                sections.in_flight(simulated, view, f"{order.prefix}in_flight")
        if listed.open:
            with listed:
                jobs(simulated, order.prefix)
        if files.open:
            with files:
                downloads(simulated, order.prefix)


page()
