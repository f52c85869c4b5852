"""Profile: what a model costs, from a file, its hyper-parameters, the peaks of a dry run, or a profiler's trace."""

import streamlit as st

from pages.shared import sources
from pages.shared.choice import uploaded_profile
from pages.shared.front_door import require_entrance
from pages.shared.link import remember_link
from pages.shared.pictures import adapt_page
from pages.shared.profile_dry_run import dry_run_section
from pages.shared.profile_estimate import estimate_section
from pages.shared.profile_table import profile_table
from pages.shared.profile_trace import trace_section
from pages.shared.sources import UPLOADED, Upload
from pages.shared.text import bullets, literal, shown_name
from sapp_core.documents.parse import MAX_BYTES
from sapp_core.domain.profile import ModelProfile
from sapp_core.profiles.load import LoadedProfile

_FROM_FILE, _FROM_SIZES, _FROM_PEAKS, _FROM_TRACE = (
    "Profile file",
    "Hyper-parameters",
    "Dry-run peaks",
    "Profiler trace",
)
_MADE = "profiles_made"
_UPLOAD = "profile_page_upload"
_CHOSEN = "profile_page_choice"
_FILE = "profile_page_file"


def page() -> None:
    """The whole page, from top to bottom."""
    require_entrance("pages/profile.py")
    adapt_page()
    remember_link()
    st.title("Profile", anchor=False)
    st.markdown(
        "Time and memory of each layer kind, which every plan rests on: check a file, estimate them from a model's "
        "sizes, compute them from measured peaks, or read them from a profiler's trace."
    )
    origins = (_FROM_FILE, _FROM_SIZES, _FROM_PEAKS, _FROM_TRACE)
    origin = st.segmented_control(
        "Where the numbers come from", origins, default=_FROM_FILE, required=True, key="profile_origin",
        persist_state="session",
        help="A file you have, published sizes of a model, measured memory peaks of stages, or measured times of ops.",
    )  # fmt: skip
    if origin == _FROM_FILE:
        loaded = _file_section()
    elif origin == _FROM_SIZES:
        loaded = estimate_section()
    elif origin == _FROM_PEAKS:
        loaded = dry_run_section()
    else:
        loaded = trace_section(_memories())
    if loaded is None:
        return
    shown = profile_table(loaded)
    if shown is not None and origin != _FROM_TRACE:
        st.session_state[_MADE] = {**st.session_state.get(_MADE, {}), origin: shown.profile}


def _memories() -> dict[str, tuple[str, ModelProfile]]:
    """Profiles whose memory a trace can take: made on this page, shown on Balance, samples."""
    made: dict[str, ModelProfile] = st.session_state.get(_MADE, {})
    own = uploaded_profile()
    return {
        **{origin: (f"{origin}: {profile.name}", profile) for origin, profile in made.items()},
        **({UPLOADED: (f"Brought to Balance: {own.profile.name}", own.profile)} if own else {}),
        **{f"sample {name}": (f"Sample: {name}", sources.sample(name).profile) for name in sources.sample_names()},
    }


def _file_section() -> LoadedProfile:
    upload = _upload()
    own = upload.profile or uploaded_profile()
    options = [*([UPLOADED] if own else []), *sources.sample_names()]
    chooser, uploader = st.columns(2)
    name = chooser.selectbox(
        "Profile", options, key=_CHOSEN, persist_state="session", help="A sample, or the profile that you brought."
    )
    chooser.download_button(
        "Commented template", sources.template_bytes, "profile_template.yaml", "text/yaml", icon=":material/download:",
        on_click="ignore", help="A profile with every key explained, to fill in.",
    )  # fmt: skip
    uploader.file_uploader(
        "Your own profile (JSON or YAML)", type=["json", "yaml", "yml"], key=_FILE, on_change=_uploaded,
        max_upload_size=MAX_BYTES // 2**20, help="It stays in this session.",
    )  # fmt: skip
    if upload.problems:
        kept = f" The profile before it, {literal(upload.profile.profile.name)}, stays." if upload.profile else ""
        st.error(f"**{literal(upload.rejected)} cannot be used.**{kept}\n\n{bullets(upload.problems)}")
    return own if name == UPLOADED and own else sources.sample(name)


def _upload() -> Upload:
    found: Upload = st.session_state.get(_UPLOAD, Upload())
    return found


def _uploaded() -> None:
    file = st.session_state[_FILE]
    if file is None:
        st.session_state[_UPLOAD] = Upload(_upload().profile)
        return
    upload = sources.read_profile(file.getvalue(), shown_name(file.name), _upload())
    st.session_state[_UPLOAD] = upload
    if upload.profile and not upload.problems:
        st.session_state[_CHOSEN] = UPLOADED


page()
