"""The sidebar of the Schedules page: widgets to one or two orders of work."""

from dataclasses import dataclass

import streamlit as st

from pages.shared.cached import Simulated, order
from pages.shared.pipeline_controls import (
    check_size,
    chunks_and_splits,
    groups,
    input_gradient,
    overlap,
    stages_and_micro_batches,
)
from pages.shared.schedule_choice import choose_other_schedule, choose_schedule
from sapp_core.domain.pipeline import Pipeline, Remainder
from sapp_core.domain.unit_profile import UnitTimes
from sapp_core.errors import SappError
from sapp_core.schedules.registry import ScheduleFamily

OTHER = "other_"
"""Begins the keys of what belongs to the schedule that is compared."""

_OF_CHUNK, _OF_STAGE = "each chunk", "a whole stage"


@dataclass(frozen=True, slots=True)
class Order:
    """A schedule with its sizes, simulated, or the sentences on why it cannot run.

    Attributes:
        prefix: of the keys of its widgets.
        family: of schedules.
        simulated: None when there are problems.
        problems: sentences.
    """

    prefix: str
    family: ScheduleFamily
    simulated: Simulated | None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Own:
    """What each of two compared schedules has for itself."""

    prefix: str
    family: ScheduleFamily
    chunks: int
    splits: int
    group_size: int | None
    remainder: Remainder


def sidebar() -> tuple[Order, ...]:
    """Draw all controls and read them: the schedule, and the one it is compared with if there is one."""
    with st.sidebar:
        chosen = choose_schedule()
        stages, micro_batches = stages_and_micro_batches()
        owned = [_own(chosen, stages, "")]
        if st.toggle(
            "Compare with another schedule", key="compare", bind="query-params", on_change=_same_work,
            help="Both are drawn on one time axis, with the same stages, micro-batches and times.",
        ):  # fmt: skip
            with st.container(border=True):
                owned.append(_own(choose_other_schedule(), stages, OTHER))
        families = [own.family for own in owned]
        times, p2p_time, problems = _times()
        efficiency, share = overlap(*families), input_gradient(*families)
    if times is None:
        return tuple(Order(own.prefix, own.family, None, problems) for own in owned)
    return tuple(_order(own, stages, micro_batches, (p2p_time, efficiency, share), times) for own in owned)


def _own(chosen: ScheduleFamily, stages: int, prefix: str) -> _Own:
    chunks, splits = chunks_and_splits(chosen, prefix)
    return _Own(prefix, chosen, chunks, splits, *groups(chosen, stages, prefix))


def _times() -> tuple[UnitTimes | None, float, tuple[str, ...]]:
    """Times of ops, the time of a transfer, and what is wrong with the former."""
    columns = (*st.columns(2), *st.columns(2))
    wanted = (
        ("Forward", "unit_forward", 1.0, "F, time of a forward."),
        ("Backward", "unit_backward", 2.0, "B, time of a backward; I and W share it where it is split."),
        ("Recompute", "unit_recompute", 0.0, "What recomputation adds to a backward (or to its input gradient)."),
        ("Transfer", "unit_transfer", 0.0, "Delay of data that goes from one stage to another."),
    )
    forward, backward, recompute, transfer = (
        column.number_input(label, 0.0, 1e6, default, 0.5, format="%.12g", key=key, bind="query-params", help=text)
        for column, (label, key, default, text) in zip(columns, wanted, strict=True)
    )
    of = st.segmented_control(
        "Times of", [_OF_CHUNK, _OF_STAGE], default=_OF_CHUNK, required=True, key="times_of", bind="query-params",
        help="For one micro-batch. *A whole stage*: its chunks share the time, so schedules with different numbers of "
        "chunks do the same work.",
    )  # fmt: skip
    try:
        return UnitTimes(forward, backward, recompute, of_stage=of == _OF_STAGE), transfer, ()
    except SappError as error:
        return None, transfer, error.problems


def _same_work() -> None:
    """Schedules are compared at the same work, unless somebody wants it otherwise."""
    if st.session_state["compare"]:
        st.session_state["times_of"] = _OF_STAGE


def _order(own: _Own, stages: int, micro_batches: int, knobs: tuple[float, float, float], times: UnitTimes) -> Order:
    p2p_time, efficiency, share = knobs
    try:
        pipeline = Pipeline(
            num_stages=stages, num_micro_batches=micro_batches, num_chunks=own.chunks, num_sequence_splits=own.splits,
            placement=own.family.placement, group_size=own.group_size, remainder=own.remainder, p2p_time=p2p_time,
            overlap_efficiency=efficiency, input_gradient_share=share,
        )  # fmt: skip
        check_size(own.family, pipeline)
        return Order(own.prefix, own.family, order(own.family.name, pipeline, times))
    except SappError as error:
        return Order(own.prefix, own.family, None, error.problems)
