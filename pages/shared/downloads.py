"""Files to take a plan away with."""

import streamlit as st

from pages.shared.cached import Simulated
from pages.shared.pictures import picture_format_control
from pages.shared.text import bullets
from sapp_core.errors import FormatError
from sapp_core.interchange.exports import EXPORTS
from sapp_core.interchange.plan_file import plan_to_json
from sapp_core.interchange.tables import memory_csv, ops_csv, plan_csv

_FRAMEWORKS = {
    "mindformers": (
        "MindFormers YAML", "mindformers.yaml", "text/yaml",
        "Offsets and recomputation per stage, for `model_config` of MindFormers and SAPP.",
    ),
    "megatron": (
        "Megatron flags", "megatron.txt", "text/plain",
        "`--pipeline-model-parallel-layout` of Megatron-Core and the flags that go with it.",
    ),
    "torch-csv": (
        "PyTorch schedule (CSV)", "torch.csv", "text/csv",
        "The order of work as PyTorch pipelining loads it (compute only).",
    ),
}  # fmt: skip
"""Name of an export → label, end of the file's name, MIME type, tip."""


def downloads(simulated: Simulated) -> None:
    """Buttons for every format; a file is written when its button is pressed."""
    evaluation = simulated.evaluation
    plan, pipeline = evaluation.plan, evaluation.schedule.pipeline
    stem = "".join(c if c.isalnum() or c in "._-" else "_" for c in evaluation.profile.name)
    unsayable = []
    with st.container(horizontal=True):
        for name, (label, ending, mime, tip) in _FRAMEWORKS.items():
            try:
                text = EXPORTS[name](evaluation)
            except FormatError as error:
                unsayable.append(f"**{label}** cannot say this plan.\n\n{bullets(error.problems)}")
            else:
                _button(label, text, f"{stem}_{ending}", mime, tip)
        _button("Plan (JSON)", plan_to_json(plan), f"{stem}_plan.json", "application/json",
                "Layers of each kind, mode, chunk and stage; the command line reads it with `--plan`.")  # fmt: skip
        _button("Plan (CSV)", plan_csv(plan, pipeline), f"{stem}_plan.csv", "text/csv", "A row for each cell.")
        _button("Memory (CSV)", memory_csv(evaluation), f"{stem}_memory.csv", "text/csv", "Peak of each stage, in MiB.")
        st.download_button(
            "Timeline (CSV)", lambda: ops_csv(evaluation).encode(), f"{stem}_ops.csv", "text/csv",
            icon=":material/download:", on_click="ignore", help="Every op with its start and end.",
        )  # fmt: skip
        st.download_button(
            "Trace (Perfetto)", lambda: EXPORTS["chrome-trace"](evaluation).encode(), f"{stem}_trace.json",
            "application/json", icon=":material/download:", on_click="ignore",
            help="The step as a Chrome trace with transfers and memory; open it on ui.perfetto.dev or chrome://tracing.",
        )  # fmt: skip
    for sentence in unsayable:
        st.info(sentence)
    picture_format_control()


def _button(label: str, text: str, file_name: str, mime: str, tip: str) -> None:
    st.download_button(label, text, file_name, mime, icon=":material/download:", on_click="ignore", help=tip)
