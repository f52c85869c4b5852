"""Bringing a plan from elsewhere: pasted, or as a file."""

from dataclasses import dataclass

import streamlit as st

from pages.shared import my_plan_state
from pages.shared.my_plan_state import Version
from pages.shared.text import bullets, literal, shown_name
from sapp_core.documents.parse import MAX_BYTES
from sapp_core.domain.timeline import Evaluation
from sapp_core.errors import SappError
from sapp_core.interchange.plan_text import plan_from_text

_TEXT, _FILE, _REFUSED = "my_plan_text", "my_plan_file", "my_plan_refused"
_PASTED = "pasted text"


@dataclass(frozen=True, slots=True)
class _Refused:
    """The latest text or file that is no plan.

    Attributes:
        name: of the file.
        problems: sentences.
    """

    name: str
    problems: tuple[str, ...]


def bring(evaluation: Evaluation) -> None:
    """A field and an upload for plans of any kind; one that cannot be read changes nothing.

    Args:
        evaluation: any of the profile and pipeline the plan is for.
    """
    refused: _Refused | None = st.session_state.get(_REFUSED)
    with st.expander("Paste or upload a plan", expanded=refused is not None, icon=":material/content_paste:"):
        with st.form("my_plan_form", border=False):
            st.text_area(
                "Plan", key=_TEXT, persist_state="session", height=140,
                placeholder="Et*2|(t*2|)*6t*2L",
                help="The kind is seen from the content: a Megatron-Core layout "
                "(`--pipeline-model-parallel-layout`) or launch command, MindFormers settings (YAML), or a plan or "
                "result as JSON.",
            )  # fmt: skip
            st.form_submit_button(
                "Use as my plan",
                key="my_plan_use",
                icon=":material/input:",
                on_click=_pasted,
                args=(evaluation,),
                help="Reads the pasted text and simulates it beside the shown plan; what cannot be read is explained.",
            )
        st.file_uploader(
            "Plan file (JSON, YAML or text)", type=["json", "yaml", "yml", "txt", "sh"], key=_FILE,
            on_change=_uploaded, args=(evaluation,), max_upload_size=MAX_BYTES // 2**20,
            help="The same kinds; what *Download* and the command line's `--export` write can be read back.",
        )  # fmt: skip
        if refused:
            st.error(
                f"**{literal(refused.name).capitalize()} cannot be used.** My plan stays as it was.\n\n"
                f"{bullets(refused.problems)}"
            )


def _pasted(evaluation: Evaluation) -> None:
    _read((st.session_state[_TEXT] or "").encode(errors="surrogatepass"), _PASTED, evaluation)


def _uploaded(evaluation: Evaluation) -> None:
    file = st.session_state[_FILE]
    if file is None:
        st.session_state.pop(_REFUSED, None)
    else:
        _read(file.getvalue(), shown_name(file.name), evaluation)


def _read(data: bytes, name: str, evaluation: Evaluation) -> None:
    profile, pipeline = evaluation.profile, evaluation.schedule.pipeline
    try:
        read = plan_from_text(data, name, profile, pipeline)
    except SappError as error:
        st.session_state[_REFUSED] = _Refused(name, error.problems)
        return
    st.session_state.pop(_REFUSED, None)
    source = read.kind if name == _PASTED else f"{read.kind} {name}"
    my_plan_state.take(Version(read.plan, source, read.remarks), profile, pipeline)
