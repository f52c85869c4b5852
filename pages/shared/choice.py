"""Choosing or bringing a profile, and what that does to the other controls."""

from dataclasses import replace

import streamlit as st

from pages.shared import sources
from pages.shared.pipeline_controls import MAX_CHUNKS, MAX_MICRO_BATCHES, MAX_STAGES
from pages.shared.schedule_choice import forget_schedule_notice
from pages.shared.session import want_balance
from pages.shared.sources import UPLOADED, Upload
from pages.shared.text import bullets, literal, shown_name
from pages.shared.training_sizes import forget_training_sizes
from sapp_core.documents.parse import MAX_BYTES
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.result import Objective
from sapp_core.profiles.load import LoadedProfile
from sapp_core.profiles.settings import PipelineSettings

_LIMIT_WITHOUT_ADVICE_MB = 65_536.0
_UPLOAD = "upload"
_KEPT = "profile_kept"
_SCROLL_FROM = 8
"""So many sentences and more are scrolled, so that the controls stay in reach."""


def limit_default(profile: ModelProfile) -> float:
    """Where the memory limit starts, MiB."""
    return float(profile.memory_limit_mb or _LIMIT_WITHOUT_ADVICE_MB)


def uploaded_profile() -> LoadedProfile | None:
    """The last file of this session that could be read."""
    return _upload().profile


def choose_profile(page: str) -> ModelProfile:
    """The chooser and the upload; says what was odd about the chosen profile.

    Args:
        page: it is drawn on; a page that is entered starts with the profile of the page before.
    """
    options = [*([UPLOADED] if uploaded_profile() else []), *sources.sample_names()]
    before, kept = st.session_state.get(_KEPT, (page, None))
    if before != page and kept in options:
        st.session_state["profile"] = kept
    name = str(
        st.selectbox(
            "Profile", options, index=options.index(sources.FIRST_SAMPLE), key="profile", bind="query-params",
            on_change=_profile_chosen,
            help="The cost of each layer kind, in time and memory. Samples carry the shapes of real models; bring your "
            "own below.",
        )
    )  # fmt: skip
    st.session_state[_KEPT] = (page, name)
    loaded = _loaded(name)
    if name == UPLOADED:
        st.caption(f"Your file: **{literal(loaded.profile.name)}**. Links do not carry it.")
    with st.expander("Use your own profile", expanded=bool(_upload().problems)):
        _upload_widgets()
    if loaded.warnings:
        with st.expander(f"{len(loaded.warnings)} remarks on this profile", icon=":material/info:"):
            st.markdown(bullets(loaded.warnings))
    return loaded.profile


def _loaded(name: str) -> LoadedProfile:
    own = uploaded_profile()
    return own if name == UPLOADED and own else sources.sample(name)


def _upload() -> Upload:
    found: Upload = st.session_state.get(_UPLOAD, Upload())
    return found


def _upload_widgets() -> None:
    upload = _upload()
    st.file_uploader(
        "Profile (JSON or YAML)", type=["json", "yaml", "yml"], key="profile_file", on_change=_profile_uploaded,
        max_upload_size=MAX_BYTES // 2**20,
        help="The layer file SAPP and MindFormers users have, or an init file with dry-run peaks, up to 2 MB. It stays "
        "in this session: links do not carry it. The Profile page makes one from a model's sizes.",
    )  # fmt: skip
    if upload.problems:
        kept = f" The profile before it, {literal(upload.profile.profile.name)}, stays." if upload.profile else ""
        with st.container(height="content" if len(upload.problems) < _SCROLL_FROM else 360):
            st.error(f"**{literal(upload.rejected)} cannot be used.**{kept}\n\n{bullets(upload.problems)}")
    st.file_uploader(
        "Pipeline settings (YAML, optional)", type=["json", "yaml", "yml"], key="settings_file",
        on_change=_settings_uploaded, max_upload_size=MAX_BYTES // 2**20,
        help="A SAPP `pipeline_config` file; it moves the controls below.",
    )  # fmt: skip
    problems, remarks = st.session_state.get("settings_problems", ()), st.session_state.get("settings_remarks", ())
    if problems:
        st.error(f"**The settings cannot be used.**\n\n{bullets(problems)}")
    if remarks:
        st.info(bullets(remarks))
    st.download_button(
        "Commented template", sources.template_bytes, "profile_template.yaml", "text/yaml", icon=":material/download:",
        on_click="ignore", help="A profile with every key explained, to fill in.",
    )  # fmt: skip


def choose_saved_profile(profile: ModelProfile) -> None:
    """Choose the profile of a scenario (for callbacks): the sample it is, or else it becomes the user's own.

    Its constant memory belongs to a control of its own and makes no other profile of it.
    """
    name = sources.sample_named_like(profile)
    if name is None:
        st.session_state[_UPLOAD] = Upload(LoadedProfile(profile, ()))
    st.session_state["profile"] = name or UPLOADED
    forget_training_sizes()


def use_profile(loaded: LoadedProfile) -> None:
    """Choose a profile that another page made, as if it had been uploaded, and balance it there."""
    st.session_state[_UPLOAD] = Upload(loaded)
    st.session_state["profile"] = UPLOADED
    _start_from(loaded.profile)
    want_balance()


def _profile_chosen() -> None:
    _start_from(_loaded(st.session_state["profile"]).profile)


def _profile_uploaded() -> None:
    file = st.session_state["profile_file"]
    if file is None:
        # The file was taken out of the uploader: its complaint goes with it, the profile read before stays.
        st.session_state[_UPLOAD] = replace(_upload(), problems=(), rejected="")
        return
    upload = sources.read_profile(file.getvalue(), shown_name(file.name), _upload())
    st.session_state[_UPLOAD] = upload
    if upload.profile and not upload.problems:
        st.session_state["profile"] = UPLOADED
        _start_from(upload.profile.profile)


def _start_from(profile: ModelProfile) -> None:
    """Amounts that belong to a profile start over with a new one; the sizes of the pipeline stay."""
    st.session_state["limited"] = profile.memory_limit_mb is not None
    st.session_state["memory_limit"] = limit_default(profile)
    st.session_state["constant_memory"] = float(profile.constant_mb)
    st.session_state["p2p_time"] = 0.0
    forget_training_sizes()


def _settings_uploaded() -> None:
    file = st.session_state["settings_file"]
    st.session_state["settings_problems"] = st.session_state["settings_remarks"] = ()
    if file is None:
        return
    settings = sources.read_settings(file.getvalue(), shown_name(file.name))
    if isinstance(settings, PipelineSettings):
        st.session_state["settings_remarks"] = (*settings.warnings, *_apply(settings))
    else:
        st.session_state["settings_problems"] = settings


def _apply(settings: PipelineSettings) -> list[str]:
    """Move the controls to a settings file; returns sentences on what the page cannot do."""
    remarks = []
    sizes = (
        ("stages", "pipeline_num", settings.num_stages, MAX_STAGES),
        ("interleave", "num_of_interleave", settings.num_chunks, MAX_CHUNKS),
        ("micro_batches", "micro_batch_num", settings.num_micro_batches, MAX_MICRO_BATCHES),
    )
    for key, path, value, most in sizes:
        if value is not None and value > most:
            remarks.append(f"{path}: this page goes up to {most}, found {value}; the control stays where it was.")
        elif value is not None:
            st.session_state[key] = value
    amounts = (
        ("memory_limit", settings.memory_limit_mb),
        ("constant_memory", settings.constant_mb),
        ("p2p_time", settings.p2p_time),
    )
    st.session_state.update({key: float(value) for key, value in amounts if value is not None})
    if settings.memory_limit_mb is not None:
        st.session_state["limited"] = True
    if settings.optimization_level is not None:
        st.session_state["objective"] = Objective(f"sapp-{settings.optimization_level}")
    if settings.num_chunks is not None or settings.less_memory is not None:
        interleaved = "vpp-less-memory" if settings.less_memory else "vpp"
        forget_schedule_notice()
        st.session_state["schedule"] = interleaved if (settings.num_chunks or 1) > 1 else "1f1b"
    layers = _loaded(st.session_state["profile"]).profile.num_body_layers
    if settings.num_layers is not None and settings.num_layers != layers:
        remarks.append(f"num_layer: the profile has {layers} body layers, the settings say {settings.num_layers}.")
    return remarks
