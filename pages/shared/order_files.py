"""A schedule's jobs in the words of a framework, on the page and as files."""

import streamlit as st

from pages.shared.cached import Simulated
from pages.shared.pictures import picture_format_control
from pages.shared.text import bullets
from sapp_core.errors import FormatError
from sapp_core.interchange.orders import ORDER_FORMATS, OrderFormat, job_columns, order_format
from sapp_core.interchange.result import to_json
from sapp_core.interchange.tables import ops_csv
from sapp_core.schedules.in_flight import peak_in_flight


def jobs(simulated: Simulated, prefix: str) -> None:
    """What each stage does, job after job."""
    schedule = simulated.evaluation.schedule
    titles = {known.name: known.title for known in ORDER_FORMATS}
    name = st.selectbox(
        f"Jobs of {schedule.name}, in the words of", list(titles), format_func=titles.__getitem__, key=f"{prefix}words",
        help="Chunk and micro-batch (and split) follow the kind of work: `F0.3` is the forward of chunk 0 and "
        "micro-batch 3.",
    )  # fmt: skip
    try:
        columns = job_columns(order_format(str(name)).words(schedule))
    except FormatError as error:
        st.info(bullets(error.problems), icon=":material/rule:")
    else:
        st.dataframe(columns, hide_index=True)


def downloads(simulated: Simulated, prefix: str) -> None:
    """Buttons for every format that has words for the schedule."""
    evaluation = simulated.evaluation
    st.markdown(f"**{evaluation.schedule.name}**")
    with st.container(horizontal=True):
        for known in ORDER_FORMATS:
            _json_button(simulated, known, prefix)
        st.download_button(
            "Ops with times (CSV)", ops_csv(evaluation), f"{evaluation.schedule.name}_ops.csv", "text/csv",
            key=f"{prefix}ops_csv", icon=":material/download:", on_click="ignore",
            help="Every op with its start and end.",
        )  # fmt: skip
    if not prefix:
        picture_format_control()


def _json_button(simulated: Simulated, known: OrderFormat, prefix: str) -> None:
    schedule = simulated.evaluation.schedule
    try:
        content = to_json(known.as_json(schedule, peak_in_flight(schedule)))
    except FormatError:
        return  # The list of jobs says why.
    st.download_button(
        f"{known.title} (JSON)", content, f"{schedule.name}_{known.name}.json", "application/json",
        key=f"{prefix}{known.name}_json", icon=":material/download:", on_click="ignore",
        help=f"The same file as `schedule {schedule.name} --format {known.name} --json` writes.",
    )  # fmt: skip
