"""Choosing a schedule; what it cannot run is moved to the nearest legal setting, and the page says what moved."""

from dataclasses import replace

import streamlit as st

from pages.shared.text import literal
from sapp_core.domain.pipeline import Pipeline
from sapp_core.errors import PipelineError
from sapp_core.schedules.nearest import nearest_legal
from sapp_core.schedules.registry import SCHEDULES, ScheduleFamily, family

FIRST_SCHEDULE = "1f1b"
DEFAULTS = {"stages": 8, "micro_batches": 32, "interleave": 2, "sequence_splits": 2, "group_size": None}
"""Key of a control of sizes → where it starts, and what it means while it is hidden."""

_WORDS = {
    "num_stages": "stages",
    "num_chunks": "chunks per stage",
    "num_micro_batches": "micro-batches",
    "num_sequence_splits": "sequence splits",
    "group_size": "group size",
}
_KEYS = {"num_stages": "stages", "num_micro_batches": "micro_batches", "num_sequence_splits": "sequence_splits"}


def choose_schedule() -> ScheduleFamily:
    """The chooser with the family's own words, and what the last choice changed elsewhere."""
    chosen = family(_select("Schedule", "schedule", FIRST_SCHEDULE))
    st.session_state["schedule_before"] = chosen.name
    if changed := st.session_state.get("schedule_notice"):
        st.info(changed, icon=":material/swap_horiz:")
    return chosen


def choose_other_schedule() -> ScheduleFamily:
    """The schedule to compare with; it shares the sizes of the first one, so nothing is moved for it."""
    return family(_select("Compare with", "other_schedule", "vpp"))


def forget_schedule_notice() -> None:
    """What the last choice moved is known by now."""
    st.session_state.pop("schedule_notice", None)


def offer_nearest(chosen: ScheduleFamily) -> None:
    """A button to the nearest sizes that a schedule runs, where it cannot run the chosen ones."""
    wanted = _as_run(chosen, _wanted())
    try:
        changes = _changes(wanted, nearest_legal(chosen, wanted))
    except PipelineError:
        return
    if changes:
        st.button(
            f"Use the nearest that run: {', '.join(changes)}", key="use_nearest", on_click=_move_what_is_illegal,
            icon=":material/swap_horiz:", help="Moves these controls; all others stay as they are.",
        )  # fmt: skip


def summary(chosen: ScheduleFamily) -> None:
    """What a schedule is for, and where that comes from."""
    st.markdown(f"**{chosen.title}.** {literal(chosen.summary)}")
    st.caption(f"Source: {literal(chosen.source)}")


def _select(label: str, key: str, default: str) -> str:
    names = [known.name for known in SCHEDULES]
    return str(
        st.selectbox(
            label, names, index=names.index(default), key=key, bind="query-params",
            on_change=_move_what_is_illegal if key == "schedule" else None,
            help="In which order a stage works on its micro-batches: "
            + " ".join(f"**{known.name}**: {known.title}." for known in SCHEDULES),
        )
    )  # fmt: skip


def _move_what_is_illegal() -> None:
    """Keep every setting that the new schedule can run, and say what had to change."""
    state = st.session_state
    before, chosen = family(state.get("schedule_before", FIRST_SCHEDULE)), family(state["schedule"])
    wanted = _wanted()
    try:
        found = nearest_legal(chosen, wanted)
    except PipelineError:
        state.pop("schedule_notice", None)  # Nothing near is legal: the page says why, in place.
        return
    for field, key in _KEYS.items():
        if (
            key in state
            and getattr(found, field) != getattr(wanted, field)
            and (key != "sequence_splits" or chosen.uses_splits)
        ):
            state[key] = getattr(found, field)
    if chosen.uses_groups and found.group_size != wanted.group_size:
        state["group_size"] = found.group_size
    changes = _changes(_as_run(before, wanted), found)
    state["schedule_notice"] = f"For {chosen.title}: {literal(', '.join(changes))}." if changes else None


def _wanted() -> Pipeline:
    """What the controls say."""
    sizes = {key: st.session_state.get(key, default) for key, default in DEFAULTS.items()}
    return Pipeline(
        num_stages=sizes["stages"], num_micro_batches=sizes["micro_batches"], num_chunks=sizes["interleave"],
        num_sequence_splits=sizes["sequence_splits"], group_size=sizes["group_size"],
    )  # fmt: skip


def _changes(old: Pipeline, found: Pipeline) -> list[str]:
    return [
        f"{word} {_value(old, field)} → {_value(found, field)}"
        for field, word in _WORDS.items()
        if getattr(old, field) != getattr(found, field)
    ]


def _as_run(chosen: ScheduleFamily, wanted: Pipeline) -> Pipeline:
    """What the controls meant under a family, whether or not it could run that."""
    return replace(
        wanted,
        num_chunks=wanted.num_chunks if chosen.fixed_chunks is None else chosen.fixed_chunks,
        num_sequence_splits=wanted.num_sequence_splits if chosen.uses_splits else 1,
        group_size=wanted.group_size if chosen.uses_groups else None,
    )


def _value(pipeline: Pipeline, field: str) -> str:
    value = getattr(pipeline, field)
    return "one per stage" if value is None else str(value)
