"""Files to take a comparison away with."""

from collections.abc import Sequence
from datetime import UTC, datetime

import streamlit as st

from pages.shared import saved
from pages.shared.pictures import picture_format_control
from sapp_core.comparison.candidate import Candidate
from sapp_core.comparison.table import differences_csv
from sapp_core.interchange.comparison import comparison_to_json
from sapp_core.report.comparison import comparison_html


def downloads(candidates: Sequence[Candidate], base: Candidate) -> None:
    """A button for each kind of file; each is written when its button is pressed."""

    def report() -> bytes:
        return comparison_html(candidates, base, datetime.now(tz=UTC).astimezone().date()).encode()

    with st.container(horizontal=True):
        st.download_button(
            "Comparison report (HTML)", report, "comparison_report.html", "text/html", key="comparison_report",
            icon=":material/download:", on_click="ignore",
            help="Words, tables and charts of the scenarios shown on one page for a design review. It needs no "
            "network, prints well, and this page can open it.",
        )  # fmt: skip
        st.download_button(
            "All kept scenarios (JSON)", lambda: comparison_to_json(saved.as_named(saved.shelf())).encode(),
            "comparison.json", "application/json", key="comparison_file",
            icon=":material/download:", on_click="ignore",
            help="Profiles, settings, plans and results of all kept scenarios in one file that this page opens again.",
        )  # fmt: skip
        st.download_button(
            "Differences (CSV)", lambda: differences_csv(candidates, base).encode(), "differences.csv", "text/csv",
            key="comparison_csv", icon=":material/download:", on_click="ignore",
            help="One line for each number of each scenario: value, and difference from the one compared with.",
        )  # fmt: skip
    picture_format_control()
