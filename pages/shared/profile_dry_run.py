"""From the peaks of a dry run to a profile, and to the next dry run."""

from dataclasses import dataclass

import streamlit as st

from pages.shared.text import bullets, literal, shown_name
from sapp_core.charts.numbers import percent_text
from sapp_core.documents.parse import MAX_BYTES
from sapp_core.domain.profile import MAX_LAYERS, RecomputeMode
from sapp_core.errors import SappError
from sapp_core.profiles.dry_run import Decomposition, DryRun, Unsolvable
from sapp_core.profiles.dry_run_guide import FEWEST_STAGES, Proposal, proposal_text, propose
from sapp_core.profiles.dry_run_profile import LARGE_RESIDUAL, SolvedDryRun, solve_dry_run
from sapp_core.profiles.load import LoadedProfile, load_profile

_STATE = "dry_run"
_FILE = "dry_run_file"
_MOST_STAGES = 512
_STAGES = "Pipeline stages of the dry run; with fewer than 4 the peaks never tell everything."
_USUAL_STAGES, _USUAL_LAYERS = 8, 64


@dataclass(frozen=True, slots=True)
class _DryRun:
    """What the last upload gave.

    Attributes:
        name: of the file.
        solved: of the last one that could be read.
        loaded: its profile, if it determines one.
        problems: of the newest file.
    """

    name: str = ""
    solved: SolvedDryRun | None = None
    loaded: LoadedProfile | None = None
    problems: tuple[str, ...] = ()


def dry_run_section() -> LoadedProfile | None:
    """Upload, how well the answer fits, and the guide; the profile if there is one."""
    st.markdown(
        "Peak memory of whole stages, from a dry run that only compiles, gives the memory of one layer by least "
        "squares. Upload the SAPP init YAML with offsets, recompute counts, peaks and forward times, of one or several "
        "rounds."
    )
    st.file_uploader(
        "Dry-run file (YAML)", type=["yaml", "yml", "json"], key=_FILE, on_change=_uploaded,
        max_upload_size=MAX_BYTES // 2**20, help="Up to 2 MB. It stays in this session.",
    )  # fmt: skip
    shown: _DryRun = st.session_state.get(_STATE, _DryRun())
    if shown.problems:
        kept = f" The profile before it, {literal(shown.loaded.profile.name)}, stays." if shown.loaded else ""
        st.error(f"**{literal(shown.name)} gives no profile.**{kept}\n\n{bullets(shown.problems)}")
    if shown.solved and isinstance(shown.solved.answer, Decomposition):
        _fit(shown.solved.answer)
    _guide(shown.solved)
    return shown.loaded


def _uploaded() -> None:
    file = st.session_state[_FILE]
    before: _DryRun = st.session_state.get(_STATE, _DryRun())
    if file is None:
        st.session_state[_STATE] = _DryRun(before.name, before.solved, before.loaded)
        return
    data, name = file.getvalue(), shown_name(file.name)
    solved, loaded = before.solved, before.loaded
    try:
        solved = solve_dry_run(data, name)
        loaded = load_profile(data, name)
        problems: tuple[str, ...] = ()
    except SappError as error:
        problems = error.problems
    st.session_state[_STATE] = _DryRun(name, solved, loaded, problems)


def _fit(answer: Decomposition) -> None:
    worst = max((residual.share for residual in answer.residuals), default=0.0)
    stages, condition, constant, largest = st.columns(4)
    stages.metric("Stages measured", f"{len(answer.residuals):,}", border=True)
    condition.metric(
        "Condition number", f"{answer.condition:,.3g}", border=True,
        help="How much errors of the peaks can grow in the answer: 10 is good, 1,000 is not.",
    )  # fmt: skip
    said = "not told" if answer.constant_mb is None else f"{answer.constant_mb:,.0f} MB"
    constant.metric("Constant", said, border=True, help="Memory on every stage whatever it holds.")
    largest.metric("Largest residual", percent_text(worst), border=True, help="Of the measured peak.")
    with st.expander("How well each stage is explained", expanded=worst > LARGE_RESIDUAL):
        st.dataframe(
            {
                "Round": [residual.measured.round for residual in answer.residuals],
                "Stage": [residual.measured.stage for residual in answer.residuals],
                "Layers": [residual.measured.num_layers for residual in answer.residuals],
                "Measured MB": [residual.measured.peak_mb for residual in answer.residuals],
                "By the answer MB": [residual.predicted_mb for residual in answer.residuals],
                "Difference MB": [residual.difference_mb for residual in answer.residuals],
                "Difference %": [100 * residual.share for residual in answer.residuals],
            },
            hide_index=True,
            column_config={
                key: st.column_config.NumberColumn(format="%.1f")
                for key in ("Measured MB", "By the answer MB", "Difference MB", "Difference %")
            },
        )


def _guide(solved: SolvedDryRun | None) -> None:
    """A next dry run: of the uploaded model, or of one described here."""
    refused = solved is not None and isinstance(solved.answer, Unsolvable)
    with st.expander("The next dry run", icon=":material/explore:", expanded=refused or solved is None):
        st.markdown(
            "Offsets and recompute counts whose peaks determine every number well. Run them, fill the peaks into the "
            "file, and upload it here."
        )
        dry_run = solved.file.dry_run if solved else DryRun(_USUAL_STAGES, ())
        stages, layers, modes = st.columns([1, 1, 3])
        # Another upload starts them over at its own sizes.
        known = f"_{solved.file.num_layers}_{'_'.join((str(dry_run.num_stages), *dry_run.modes))}" if solved else ""
        start = min(max(dry_run.num_stages, FEWEST_STAGES), _MOST_STAGES)
        num_stages = stages.number_input(
            "Stages", FEWEST_STAGES, _MOST_STAGES, start, key=f"guide_stages{known}", help=_STAGES
        )
        num_layers = layers.number_input(
            "Layers", 1, MAX_LAYERS, solved.file.num_layers if solved else _USUAL_LAYERS, key=f"guide_layers{known}",
            help="Body layers of the model.",
        )  # fmt: skip
        chosen = modes.multiselect(
            "Recompute modes to measure", [str(mode) for mode in RecomputeMode],
            default=[str(mode) for mode in dry_run.modes or (RecomputeMode.NONE, RecomputeMode.FULL)],
            key=f"guide_modes{known}", help="The activation memory of each is one number to find.",
        )  # fmt: skip
        proposal = _proposal(int(num_stages), int(num_layers), tuple(sorted(chosen)))
        if proposal is None:
            st.warning("The model has too few layers for any dry run to tell; 6 layers on 4 stages are the fewest.")
            return
        rounds = f"{len(proposal.rounds)} rounds" if len(proposal.rounds) > 1 else "One round"
        st.caption(
            f"{rounds} on {proposal.num_stages} stages; condition number {proposal.condition:.3g}."
            + (f" {num_stages} stages would hold too few layers each." if proposal.num_stages < num_stages else "")
        )
        st.code(proposal_text(proposal), language="yaml")
        st.download_button(
            "Download the next dry run", proposal_text(proposal), "next_dry_run.yaml", "text/yaml",
            key="next_dry_run", icon=":material/download:", on_click="ignore",
            help="The file above, with empty places for the peaks.",
        )  # fmt: skip


@st.cache_data(max_entries=64, show_spinner=False)
def _proposal(num_stages: int, num_layers: int, modes: tuple[str, ...]) -> Proposal | None:
    return propose(num_stages, num_layers, tuple(mode for mode in RecomputeMode if mode in modes))
