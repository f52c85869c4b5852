"""Every field that takes a file, a text or a part of a link, as its page calls it, and a legal content to begin with.

The functions run inside a session. To add a field, add an entry to `FIELDS`.
"""

import base64
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from types import SimpleNamespace

import streamlit as st
import yaml

from pages.shared import choice, kept, measured, my_plan_sources, profile_dry_run, profile_estimate, saved, sources
from pages.shared import scenario_file as scenarios
from pages.shared.cached import Simulated
from pages.shared.pins import pins_from_text
from pages.shared.sources import Upload
from pages.shared.text import shown_name
from sapp_core.documents.parse import MAX_BYTES
from sapp_core.domain.plan import even_split
from sapp_core.domain.request import BalanceRequest, Pin
from sapp_core.domain.result import BalanceResult, Objective, Progress, Status
from sapp_core.domain.scenario import Scenario
from sapp_core.errors import SappError
from sapp_core.interchange.comparison import NamedScenario, comparison_as_object
from sapp_core.interchange.scenario import SavedScenario, scenario_as_object
from sapp_core.profiles.load import name_of
from sapp_core.profiles.trace_measure import measure
from sapp_core.profiles.trace_profile import trace_profile
from sapp_core.profiles.trace_proposal import propose
from sapp_core.profiles.trace_reader import read_trace
from sapp_core.profiles.trace_times import Reading
from sapp_core.sweep.ranges import memory_limits_of, read_lists
from tests.charts.scenes import evaluation
from tests.hostile.contents import ANYWHERE, Hostile, planted
from tests.pages.opened import profile_file
from tests.profiles.configs import CONFIGS
from tests.profiles.dry_runs import CASES, TIMES

STATE = st.session_state
LAYER_TRACE = {
    "traceEvents": [
        {"ph": "X", "cat": "gpu_user_annotation", "pid": 0, "tid": 7, "ts": 100 * number, "dur": 50, "name": name}
        for number, name in enumerate([f"layers/{i}-DecoderLayer" for i in range(4)] * 3)
    ]
}


@dataclass(frozen=True, slots=True)
class Field:
    """One field.

    Attributes:
        name: of the field.
        legal: a content that it takes, as JSON has it; a text stands for itself.
        bring: gives it a content and a file name, as the page does.
        had: what the session has of it by now.
        problems: what the page says about the last content.
        mebibytes: of the largest content; what is larger, the field itself keeps out.
        wrap: puts a content into what the field takes apart, such as the packing of a link.
    """

    name: str
    legal: object
    bring: Callable[[bytes, str], None]
    had: Callable[[], object]
    problems: Callable[[], tuple[str, ...]]
    mebibytes: float = 2
    wrap: Callable[[bytes], bytes] | None = None

    def contents(self, every: int = 1) -> Iterator[Hostile]:
        """All that is tried, first the legal content.

        Args:
            every: so manieth one of those with a hostile value in a legal document, of which there are hundreds.
        """
        wrap = self.wrap or bytes
        legal = self.legal if isinstance(self.legal, str) else json.dumps(self.legal)
        yield Hostile("legal", lambda _: wrap(legal.encode()))
        yield from ANYWHERE
        places = () if isinstance(self.legal, str) else islice(planted(self.legal), 0, None, every)
        for hostile in (*(ANYWHERE if self.wrap else ()), *places):
            yield Hostile(f"{hostile.name}, wrapped", lambda n, make=hostile.make: wrap(make(min(n, MAX_BYTES))))


def _packed(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(zlib.compress(data, 9)).rstrip(b"=")


def _in_report(data: bytes) -> bytes:
    return (
        b'<!DOCTYPE html><script type="application/json" id="scenario">' + data.replace(b"<", b"\\u003c") + b"</script>"
    )


def _evaluation():
    return evaluation(layers=24, stages=4)


def _scenario() -> SavedScenario:
    shown = _evaluation()
    pipeline = shown.schedule.pipeline
    plan = even_split(shown.profile, pipeline)
    request = BalanceRequest((40_000.0,) * 4, pinned=(Pin(0, 1, 6),), start=plan)
    result = BalanceResult(
        Status.FEASIBLE, plan, shown.step_time, shown.step_time / 2, 0.5, Objective.EXACT, None, None, "highs", 1.5,
        notes=("a note",), trace=(Progress(0.5, shown.step_time, None),),
    )  # fmt: skip
    return SavedScenario(Scenario(shown.profile, "1f1b", pipeline, request), plan, result)


SAVED = _scenario()
SCENARIO = scenario_as_object(SAVED.scenario, SAVED.plan, SAVED.result)
LINKED = {
    "comparison_version": 1,
    "scenarios": [
        {key: value for key, value in SCENARIO.items() if key not in ("result", "plan")}
        | {"name": "linked", "shown": True, "profile": {"sample": "small32", "constant_mb": 1.0}}
        | {"settings": {"memory_limit_mb": 40_000.0}}
    ],
}
COMPARISON = comparison_as_object([NamedScenario("first", SAVED)])
PROFILE = yaml.safe_load(profile_file(time_unit="ms", training={"seq_length": 4096}))
SETTINGS = {"pipeline_config": {"pipeline_num": 4, "micro_batch_num": 8, "num_layer": 24, "num_of_interleave": 1,
                                "vpp_less_memory": False, "optimization_level": 1, "memory_limit": 4000,
                                "constant_memory": 1, "sim_comm_time": 0.5}}  # fmt: skip
DRY_RUN = next(case["yaml"] for case in CASES.values() if "yaml" in case) | {"time_config": TIMES}
TRACE = {
    "traceEvents": [
        {"ph": "X", "name": "stage 0 F0.0", "ts": 1.5, "dur": 2, "cat": "gpu_user_annotation"},
        {"ph": "X", "name": "x", "ts": 1, "dur": 2,
         "args": {"stage": 1, "kind": "F", "chunk": 0, "micro_batch": 0, "sequence_split": 0}},
    ],
    "baseTimeNanoseconds": 12,
}  # fmt: skip


def _file(data: bytes, name: str) -> SimpleNamespace:
    return SimpleNamespace(name=name, getvalue=lambda: data)


def _through(key: str, uploaded: Callable[[], None]) -> Callable[[bytes, str], None]:
    """What an uploader does: its file stands under its key, and its function is called."""

    def bring(data: bytes, name: str) -> None:
        STATE[key] = _file(data, name)
        uploaded()

    return bring


def _state(key: str, of: Callable[[object], object], default: object = None) -> Callable[[], object]:
    return lambda: of(STATE.get(key, default))


def _profile_page(data: bytes, name: str) -> None:
    STATE["profile_page_upload"] = sources.read_profile(
        data, shown_name(name), STATE.get("profile_page_upload", Upload())
    )


def _comparison(data: bytes, name: str) -> None:
    saved.add_files([(shown_name(name), data)])
    _make_room()


def _link(data: bytes, _: str) -> None:
    STATE["kept_notices"] = ()
    saved.change(lambda before: saved._with_link(before, data.decode(errors="replace")))
    _make_room()


def _make_room() -> None:
    if len(saved.shelf()) == kept.MOST_KEPT:
        STATE["kept_scenarios"] = saved.shelf()[:1]


def _not_added() -> tuple[str, ...]:
    """Other notices are about what was ignored in a file that was added."""
    return tuple(notice for notice in saved.notices() if "not added" in notice)


def _settings(data: bytes, name: str) -> None:
    STATE["profile"] = sources.FIRST_SAMPLE
    _through("settings_file", choice._settings_uploaded)(data, name)


def _pasted(data: bytes, _: str) -> None:
    STATE["my_plan_text"] = data.decode(errors="replace")
    my_plan_sources._pasted(_evaluation())


def _trace(data: bytes, name: str) -> None:
    """As `profile_trace` does once the files are there: its uploader is read, not called back."""
    STATE["trace_problems"] = ()
    try:
        trace = read_trace([(shown_name(name), io.BytesIO(data))])
        made = propose(trace)
        measured = measure(trace, made, Reading())
        STATE["trace"] = trace.names, measured.left()[:1]
        trace_profile(measured, name_of(shown_name(name)), None)
    except SappError as error:
        STATE["trace_problems"] = error.problems


def _measured(data: bytes, name: str) -> None:
    STATE["measured_upload"] = [_file(data, name)]
    measured._keep()
    found = measured._compared(Simulated("scene", _evaluation()), STATE["measured_files"])
    STATE["measured_problems"] = found if isinstance(found, tuple) else ()


def _typed(*readers: Callable[[str], object]) -> Callable[[bytes, str], None]:
    def bring(data: bytes, _: str) -> None:
        said: list[str] = []
        for read in readers:
            try:
                read(data.decode(errors="replace"))
            except SappError as error:
                said += error.problems
        STATE["typed_problems"] = tuple(said)

    return bring


def _nothing() -> None:
    """A typed text stays in its field."""


FIELDS: tuple[Field, ...] = (
    Field("profile", PROFILE, _through("profile_file", choice._profile_uploaded),
          _state("upload", lambda upload: upload.profile, Upload()), _state("upload", lambda upload: upload.problems)),
    Field("profile page", PROFILE, _profile_page,
          _state("profile_page_upload", lambda upload: upload.profile, Upload()),
          _state("profile_page_upload", lambda upload: upload.problems)),
    Field("settings", SETTINGS, _settings,
          lambda: tuple(STATE.get(key) for key in ("stages", "micro_batches", "memory_limit", "objective")),
          _state("settings_problems", tuple)),
    Field("scenario", SCENARIO, _through("scenario_file", scenarios._open), _state("outcome", lambda shown: shown),
          _state("scenario_said", lambda said: said.problems)),
    Field("comparison", COMPARISON, _comparison, saved.shelf, _not_added),
    Field("config.json", CONFIGS["llama"], _through("config_file", profile_estimate._uploaded),
          _state("config_read", lambda read: read), _state("config_problems", tuple)),
    Field("dry run", DRY_RUN, _through("dry_run_file", profile_dry_run._uploaded),
          _state("dry_run", lambda read: read and read.solved), _state("dry_run", lambda read: read.problems)),
    Field("my plan, file", SAVED.plan.as_dict(),
          _through("my_plan_file", lambda: my_plan_sources._uploaded(_evaluation())),
          _state("my_plans", lambda plans: plans), _state("my_plan_refused", lambda said: said.problems if said else ())),
    Field("my plan, pasted", SAVED.plan.as_dict(), _pasted, _state("my_plans", lambda plans: plans),
          _state("my_plan_refused", lambda said: said.problems if said else ())),
    Field("measured times", TRACE, _measured, _nothing, _state("measured_problems", tuple), 10),
    Field("trace", LAYER_TRACE, _trace, _nothing, _state("trace_problems", tuple), 10, gzip.compress),
    Field("report", SCENARIO, _comparison, saved.shelf, _not_added, 8, _in_report),
    Field("link to kept scenarios", LINKED, _link, saved.shelf, _not_added, 2, _packed),
    Field("pins", "0.1:2, 1.2=3", _typed(pins_from_text), _nothing, _state("typed_problems", tuple), 0.1),
    Field("lists of a sweep", "4, 8-16 step 4",
          _typed(lambda text: read_lists(stages=text), lambda text: memory_limits_of("memory_limit_mb", text)),
          _nothing, _state("typed_problems", tuple), 0.1),
)  # fmt: skip
