"""The plan that a session holds beside the balanced one: its versions, and what is typed but not legal yet."""

from dataclasses import dataclass

import streamlit as st

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Plan
from sapp_core.domain.plan_rows import Counts, plan_from_counts
from sapp_core.domain.profile import ModelProfile
from sapp_core.errors import PlanError

EDITED = "edited by hand"

_SHELF, _DRAFT = "my_plans", "my_plan_draft"
_KEPT_PLANS, _KEPT_VERSIONS = 8, 100


@dataclass(frozen=True, slots=True)
class Version:
    """One state of my plan.

    Attributes:
        plan: fitted the settings it was made for.
        origin: where it comes from, for the reader.
        remarks: sentences on what its source left open.
    """

    plan: Plan
    origin: str
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """Numbers in the table that are no plan yet.

    Attributes:
        beside: the plan that stays simulated meanwhile; the draft belongs to it.
        counts: of the table.
        problems: sentences on why they are no plan.
    """

    beside: Plan
    counts: Counts
    problems: tuple[str, ...]


Versions = tuple[Version, ...]
"""The newest last."""


def my_plan(profile: ModelProfile, pipeline: Pipeline) -> Versions:
    """Versions of the latest plan that fits; none when there is no such plan."""
    return next((versions for versions in _shelf() if not _problems(versions, profile, pipeline)), ())


def why_aside(profile: ModelProfile, pipeline: Pipeline) -> tuple[str, ...]:
    """Sentences on why the latest plan does not fit; none when one fits or there is none at all."""
    shelf = _shelf()
    return _problems(shelf[0], profile, pipeline) if shelf and not my_plan(profile, pipeline) else ()


def take(version: Version, profile: ModelProfile, pipeline: Pipeline) -> None:
    """Make it my plan for these settings; plans for other settings are kept."""
    before = my_plan(profile, pipeline)
    others = tuple(versions for versions in _shelf() if versions != before)
    newest = (*before, version)[-_KEPT_VERSIONS:] if not before or before[-1] != version else before
    st.session_state[_SHELF] = (newest, *others)[:_KEPT_PLANS]
    st.session_state.pop(_DRAFT, None)


def undo(profile: ModelProfile, pipeline: Pipeline) -> None:
    """Back to the version before; what was typed but is no plan goes first."""
    if st.session_state.pop(_DRAFT, None) is None:
        before = my_plan(profile, pipeline)
        st.session_state[_SHELF] = tuple(
            rest for versions in _shelf() if (rest := versions[:-1] if versions == before else versions)
        )


def draft(beside: Plan) -> Draft | None:
    """What is typed on top of a plan, while it is no plan itself."""
    found: Draft | None = st.session_state.get(_DRAFT)
    return found if found and found.beside == beside else None


def edit(counts: Counts, beside: Plan, profile: ModelProfile, pipeline: Pipeline) -> None:
    """Take the numbers of the table: as my plan when they are one, else as a draft."""
    try:
        plan = plan_from_counts(counts, profile, pipeline)
    except PlanError as error:
        st.session_state[_DRAFT] = Draft(beside, counts, error.problems)
        return
    st.session_state.pop(_DRAFT, None)
    if plan != beside:
        take(Version(plan, EDITED), profile, pipeline)


def _shelf() -> tuple[Versions, ...]:
    """Plans for different settings, the latest first."""
    found: tuple[Versions, ...] = st.session_state.get(_SHELF, ())
    return found


def _problems(versions: Versions, profile: ModelProfile, pipeline: Pipeline) -> tuple[str, ...]:
    try:
        versions[-1].plan.check(profile, pipeline)
    except PlanError as error:
        return error.problems
    return ()
