"""Files to take a plan away with: all that the command line can export."""

import streamlit as st

from pages.shared.cached import EvenSplit, Simulated
from pages.shared.pictures import picture_format_control
from pages.shared.session import Outcome
from pages.shared.text import bullets, file_stem
from sapp_core.errors import FormatError
from sapp_core.exports import EXPORTS, Export, Group
from sapp_core.study import Reference, Study


def study_of(shown: Outcome, simulated: Simulated, even: EvenSplit) -> Study:
    """What exports are made from."""
    reference = Reference(even.mode, even.fits, even.simulated.evaluation)
    return Study(shown.scenario, simulated.evaluation, reference, shown.result if shown.was_balanced else None)


def downloads(study: Study) -> None:
    """Buttons for every format, group by group."""
    for group in Group:
        st.markdown(f"**{group}**")
        with st.container(horizontal=True):
            problems = {export.title: _button(study, export) for export in EXPORTS if export.group is group}
        for title, sentences in problems.items():
            if sentences:
                st.info(f"**{title}** cannot say this plan.\n\n{bullets(sentences)}")
    st.markdown("**Pictures**")
    picture_format_control()


def _button(study: Study, export: Export) -> tuple[str, ...]:
    """The button, or why there is none; files that take long are written when their button is pressed."""
    stem = file_stem(study.scenario.profile.name)
    try:
        content = (lambda: export.write(study).encode()) if export.is_slow else export.write(study)
    except FormatError as error:
        return error.problems
    st.download_button(
        export.title, content, f"{stem}_{export.ending}", export.mime, key=f"download_{export.name}",
        icon=":material/download:", on_click="ignore", help=export.tip,
    )  # fmt: skip
    return ()
