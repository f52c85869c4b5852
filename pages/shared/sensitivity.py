"""Which numbers of the profile matter for this plan, and which are worth measuring again."""

from collections.abc import Sequence

import streamlit as st

from pages.shared import cached
from pages.shared.balanced_again import balanced_again, known_regrets
from pages.shared.cached import Simulated
from pages.shared.pictures import page_theme, plot
from pages.shared.text import literal
from sapp_core.advice import Advice, advice, listed
from sapp_core.charts.numbers import percent_text
from sapp_core.charts.tornado import drawn, sensitivity_rows
from sapp_core.domain.scenario import Scenario
from sapp_core.domain.sensitivity import Sensitivity
from sapp_core.schedules.zero_bubble import PLANNED
from sapp_core.sensitivity import LARGEST_SHARE, SMALLEST_SHARE, USUAL_SHARE, most_regret

_TIME, _MEMORY = "Step time", "Peak memory"
_PROVEN = 0.02
"""A plan proven to be closer than this to the best one may be kept."""
_ORDER_HELD = "This schedule plans its order for the times of its ops; here the order of this plan is held. "


def sensitivity_tab(scenario: Scenario, simulated: Simulated, lower_bound: float | None) -> None:
    """The tornado chart, what it says in words, and the plan balanced again with other numbers.

    Args:
        scenario: whose numbers change.
        simulated: the plan.
        lower_bound: proven for every plan of the scenario; None when nothing is.
    """
    share, memory = _controls(scenario)
    found = cached.reactions(scenario, simulated, share)
    said = advice(found, known_regrets(scenario, simulated, found))
    proven = _proven(scenario, found, lower_bound)
    st.markdown(_spoken((*said, proven) if proven else said))
    if memory and not found.memory:
        st.info("No memory number of the profile changes the highest peak.")
    else:
        plot(
            cached.tornado_chart(scenario, simulated, share, page_theme(), memory),
            "tornado",
            f"{scenario.profile.name}_{scenario.schedule_name}_sensitivity",
            " ".join(f"{piece.head}: {piece.sentence}" for piece in said),
        )
    st.caption(
        "Each number of the profile, as resolved, changes alone; plan and order of work stay as they are. "
        "A recompute time is what the mode adds to the backward time. "
        f"{_ORDER_HELD if scenario.schedule_name in PLANNED else ''}"
        f"{_more(found, memory)}"
    )
    balanced_again(scenario, simulated, found, lower_bound)
    with st.expander("All numbers"):
        shares = {
            name: st.column_config.NumberColumn(format="percent") for name in ("Change if smaller", "Change if larger")
        }
        st.dataframe(sensitivity_rows(found, scenario.profile.time_unit), hide_index=True, column_config=shares)


def _controls(scenario: Scenario) -> tuple[float, bool]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        percent = st.number_input(
            "Change of each number (%)", min_value=int(100 * SMALLEST_SHARE), max_value=int(100 * LARGEST_SHARE),
            value=int(100 * USUAL_SHARE), step=1, key="sensitivity_share", persist_state="session", width=220,
            help="How much smaller and larger each number of the profile is made: about as much as it may be wrong.",
        )  # fmt: skip
        shown = _TIME
        if scenario.profile.has_memory:
            shown = st.segmented_control(
                "Shows", [_TIME, _MEMORY], default=_TIME, required=True, key="sensitivity_shown",
                persist_state="session",
                help="Times move the step time; memory moves the highest peak of all stages, and may make the plan not "
                "fit. Hatched bars no longer fit the limit.",
            )  # fmt: skip
    return percent / 100, shown == _MEMORY


def _spoken(said: Sequence[Advice]) -> str:
    """Advice as a Markdown list."""
    return "\n".join(f"- **{piece.head}:** {literal(piece.sentence)}" for piece in said)


def _proven(scenario: Scenario, found: Sensitivity, lower_bound: float | None) -> Advice | None:
    """What the proven bound alone says about keeping the plan."""
    if lower_bound is None or found.excess:
        return None
    known = [(reaction.number, most_regret(scenario, found, reaction, lower_bound)) for reaction in found.times]
    capped = [(number, most) for number, most in known if most is not None and most < _PROVEN]
    if not capped:
        return None
    most = max(most for _, most in capped)
    return Advice(
        "Proven without balancing again",
        f"{listed([number for number, _ in capped])}: whichever way one of them is wrong by "
        f"{percent_text(found.share, 0)}, no plan is more than {percent_text(most, 2)} quicker than this one.",
    )


def _more(found: Sensitivity, memory: bool) -> str:  # noqa: FBT001
    left = len(found.memory if memory else found.times) - len(drawn(found, memory=memory)) + len(found.idle)
    return f"{left} more move it too little to be seen, or not at all: see the table below." if left else ""
