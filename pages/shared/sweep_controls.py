"""The sidebar of the Sweep page: lists and choices to a grid of points. The URL holds all but an uploaded file."""

from dataclasses import dataclass, replace

import streamlit as st

from pages.shared.amounts import amount
from pages.shared.choice import choose_profile
from pages.shared.pipeline_controls import input_gradient, overlap, weight_gradient_memory
from pages.shared.server_settings import settings
from pages.shared.sweep_jobs import Swept
from pages.shared.text import literal
from pages.shared.training_sizes import with_training_sizes
from pages.shared.turns import turns
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.result import Objective
from sapp_core.errors import SappError
from sapp_core.schedules.registry import SCHEDULES, ScheduleFamily, family
from sapp_core.sweep.crew import MOST_WORKERS
from sapp_core.sweep.estimate import usable_cores
from sapp_core.sweep.executor import Executor
from sapp_core.sweep.grid import Grid
from sapp_core.sweep.ranges import NO_LIMIT, Lists, read_lists
from sapp_core.sweep.run import executor_for

SIMULATE, BALANCE = "Simulate the even split", "Balance each point"
_LISTED, _FOLLOW = "A list", "From a global batch"
_RANGES = "Numbers and ranges with commas between: `4, 8, 16` or `4-16 step 4`."


@dataclass(frozen=True, slots=True)
class SweepControls:
    """What the sidebar says.

    Attributes:
        swept: grid and profile; None when there are problems.
        executor: who will work; None when there are problems.
        workers: processes on this machine; None on a cluster.
        problems: sentences.
    """

    swept: Swept | None
    executor: Executor | None
    workers: int | None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Batch:
    """How many samples a step has."""

    micro_batches: str
    global_batch: int | None
    micro_batch_size: int
    devices: int | None
    data_parallel: int


def sidebar() -> SweepControls:
    """Draw all controls and read them."""
    with st.sidebar:
        profile = choose_profile("sweep")
        families = _families()
        stages = _list("Stages", "sweep_stages", "4, 8, 16", "Pipeline ranks.")
        chunks = _list(
            "Interleave (chunks per stage)", "sweep_interleave", "1, 2", "Empty: what the schedule fixes, or 1.",
            empty="what the schedule fixes, or 1",
        )  # fmt: skip
        batch = _batch(profile)
        splits = ""
        if any(chosen.uses_splits for chosen in families):
            splits = _list("Sequence splits", "sweep_splits", "1, 2", "Slices of each micro-batch along the sequence.")
        limits = _limits(profile)
        seconds, objectives = _method()
        knobs, constant = _knobs(profile, families)
        address, workers = _workers()
        try:
            lists = read_lists(
                stages=stages, chunks=chunks, micro_batches=batch.micro_batches, sequence_splits=splits,
                memory_limits=limits,
            )  # fmt: skip
        except SappError as error:
            return SweepControls(None, None, None, error.problems)
        profile = with_training_sizes(profile, max(lists.sequence_splits, default=1))
    if problems := settings().scheduler_problems(address):
        return SweepControls(None, None, None, problems)
    try:
        grid = _grid(families, lists, batch, objectives, knobs, seconds)
        executor = executor_for(address, workers, turns())
    except SappError as error:
        return SweepControls(None, None, None, error.problems)
    return SweepControls(Swept(grid, replace(profile, constant_mb=constant)), executor, None if address else workers)


def _families() -> list[ScheduleFamily]:
    names = st.multiselect(
        "Schedules", [known.name for known in SCHEDULES], default=["1f1b", "vpp"], key="sweep_schedules",
        bind="query-params", persist_state="session",
        help="Orders of work to compare. " + " ".join(f"**{known.name}**: {known.title}." for known in SCHEDULES),
    )  # fmt: skip
    return [family(str(name)) for name in names]


def _list(label: str, key: str, default: str, text: str, empty: str | None = None) -> str:
    return str(
        st.text_input(
            label, default, key=key, bind="query-params", persist_state="session", placeholder=empty, max_chars=400,
            help=f"{text} {_RANGES}",
        )
        or ""
    )  # fmt: skip


def _batch(profile: ModelProfile) -> _Batch:
    how = st.segmented_control(
        "Micro-batches", [_LISTED, _FOLLOW], default=_LISTED, required=True, key="sweep_batch_mode",
        bind="query-params", persist_state="session",
        help="*From a global batch*: every point trains the same number of samples in a step; its micro-batches follow "
        "from the pipelines that share them.",
    )  # fmt: skip
    known = profile.training.batch_size if profile.training else None
    listed, global_batch = "", None
    if how == _LISTED:
        listed = _list("Micro-batches of a step", "sweep_micro_batches", "16, 32", "Of each pipeline.")
    else:
        global_batch = _count("Global batch (samples)", "sweep_global_batch", 128, "In a step of all pipelines.")
    devices, data_parallel = None, 1
    if st.toggle(
        "Same devices at every point", key="sweep_same_devices", bind="query-params", persist_state="session",
        help="With D devices and S stages, D ÷ S pipelines run beside each other (data-parallel degree), so that the "
        "time per sample compares what the same devices do. The profile's costs stay as they are: the exchange of "
        "gradients between pipelines is not part of the step.",
    ):  # fmt: skip
        devices = _count(
            "Devices", "sweep_devices", 16,
            "Of all pipelines together. Where a stage is a group of tensor-parallel ranks, count the group once.",
        )  # fmt: skip
    elif how == _FOLLOW:
        data_parallel = _count("Pipelines (data-parallel degree)", "sweep_data_parallel", 1, "They share the batch.")
    size = _count(
        "Micro-batch size (samples)", "sweep_micro_batch_size", known or 1,
        "What the times of the profile are for; it turns step times into times per sample.",
    )  # fmt: skip
    return _Batch(listed, global_batch, size, devices, data_parallel)


def _count(label: str, key: str, default: int, text: str) -> int:
    return int(
        st.number_input(
            label, 1, 1_000_000, default, key=key, bind="query-params", persist_state="session", help=text
        )
    )  # fmt: skip


def _limits(profile: ModelProfile) -> str:
    if not profile.has_memory:
        st.caption("This profile gives no memory, so nothing limits it.")
        return NO_LIMIT
    own = NO_LIMIT if profile.memory_limit_mb is None else f"{profile.memory_limit_mb:g}"
    typed = _list(
        "Memory limits per stage (MiB)", "sweep_limits", "",
        f"What one device may use; 80 GiB are 81920 MiB, `{NO_LIMIT}` is no limit. Empty: the profile's own.",
        empty=f"the profile's: {own}",
    )  # fmt: skip
    return typed if typed.strip() else own


def _method() -> tuple[float | None, tuple[Objective, ...]]:
    method = st.segmented_control(
        "At each point", [SIMULATE, BALANCE], default=SIMULATE, required=True, key="sweep_method",
        bind="query-params", persist_state="session",
        help="*Simulate*: milliseconds a point; the even split with the least recomputation that fits the limit. "
        "*Balance*: the best plan found in the time given to each point.",
    )  # fmt: skip
    if method != BALANCE:
        return None, (Objective.EXACT,)
    seconds = st.slider(
        "Time limit of a point (s)", 5, 300, 5, step=5, key="sweep_seconds", bind="query-params",
        persist_state="session", help="Points that are proven optimal end earlier.",
    )  # fmt: skip
    names = st.multiselect(
        "Objectives", list(Objective), default=[Objective.EXACT], key="sweep_objectives", bind="query-params",
        persist_state="session", help="*exact* is the simulated step time itself; the others are classic stand-ins.",
    )  # fmt: skip
    return float(seconds), tuple(Objective(str(name)) for name in names)


def _knobs(profile: ModelProfile, families: list[ScheduleFamily]) -> tuple[Pipeline, float]:
    efficiency, share, kept = overlap(*families), input_gradient(*families), weight_gradient_memory(*families)
    with st.expander("Constant memory, transfers"):
        constant = amount(
            "Constant memory (MiB)", "sweep_constant_memory", default=float(profile.constant_mb),
            top=max(8192.0, 2 * profile.constant_mb), step=256.0,
            text="Memory that every stage needs whatever it holds.",
        )  # fmt: skip
        longest = max(layer.forward_time for layer in profile.body)
        p2p_time = amount(
            f"Transfer time ({literal(profile.time_unit)})", "sweep_p2p_time", default=0.0, top=float(longest) or 1.0,
            step=float(longest) / 20 or 0.1, text="Delay of data that goes from one stage to another.",
        )  # fmt: skip
    knobs = Pipeline(
        num_stages=1, num_micro_batches=1, p2p_time=p2p_time, overlap_efficiency=efficiency,
        input_gradient_share=share, weight_gradient_memory_share=kept,
    )  # fmt: skip
    return knobs, constant


def _workers() -> tuple[str | None, int]:
    with st.expander("Where to work"):
        address = st.text_input(
            "Dask scheduler address (optional)", key="sweep_scheduler", bind="query-params", persist_state="session",
            placeholder="tcp://127.0.0.1:8786", max_chars=200,
            help="Points are worked on by that cluster instead of by this server. Its workers need the same "
            "environment. Schedulers on other machines have to be allowed by whoever runs the server.",
        )  # fmt: skip
        workers = st.number_input(
            "Worker processes on this machine", 1, MOST_WORKERS, usable_cores(), key="sweep_workers",
            bind="query-params", persist_state="session", disabled=bool(address),
            help="Points worked on at a time.",
        )  # fmt: skip
    return (str(address).strip() or None) if address else None, int(workers)


def _grid(
    families: list[ScheduleFamily],
    lists: Lists,
    batch: _Batch,
    objectives: tuple[Objective, ...],
    knobs: Pipeline,
    seconds: float | None,
) -> Grid:
    return Grid(
        schedules=tuple(chosen.name for chosen in families),
        stages=lists.stages,
        micro_batches=lists.micro_batches,
        chunks=lists.chunks,
        sequence_splits=lists.sequence_splits,
        memory_limits_mb=lists.memory_limits_mb,
        objectives=objectives,
        devices=batch.devices,
        global_batch=batch.global_batch,
        data_parallel=batch.data_parallel,
        micro_batch_size=batch.micro_batch_size,
        knobs=knobs,
        seconds=seconds,
    )
