"""A visitor without a browser: speaks Streamlit's own protocol on a real websocket, so twenty of them fit anywhere."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Self
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import connect

from pages.shared.sources import sample
from sapp_core.charts.numbers import time_text
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.request import BalanceRequest
from sapp_core.schedules.registry import make_schedule
from sapp_core.study import reference_for
from tests.pages.opened import unescaped


class Visitor:
    """One open tab.

    Args:
        url: of the server.
        link: what the address says after the question mark.
    """

    def __init__(self, url: str, **link: str) -> None:
        self._closing = ExitStack()
        opening = connect(
            f"{url.replace('http', 'ws', 1)}_stcore/stream",
            subprotocols=["streamlit"],
            max_size=None,
            open_timeout=60,
            ping_interval=None,
        )
        self._socket = self._closing.enter_context(opening)
        self._query = dict(link)
        self._widgets: dict[str, WidgetState] = {}
        self._page: dict[tuple[int, ...], tuple[str, str, object]] = {}
        self._run = ""
        self._timers: dict[str, tuple[float, float]] = {}
        self._script_runs = False
        self._rerun()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.leave()

    def leave(self) -> None:
        """Close the tab."""
        self._closing.close()

    def slide(self, label: str, value: float) -> None:
        """Move a slider."""
        slider = self._find("slider", label)
        self._widgets[slider.id] = WidgetState(id=slider.id)
        self._widgets[slider.id].double_array_value.data.append(value)
        if slider.query_param_key:
            self._query[slider.query_param_key] = f"{value:g}"
        self._rerun()

    def press(self, label: str) -> None:
        """Press a button."""
        self._rerun(WidgetState(id=self._find("button", label).id, trigger_value=True))

    def until(self, seen: Callable[[], bool], seconds: float = 60) -> None:
        """Go on like a browser until there is something to see."""
        end = time.monotonic() + seconds
        while not seen():
            self._listen(0.05)
            assert time.monotonic() < end, f"not seen for {seconds:.0f} s; the page says: {self.said}"

    def until_balanced(self, seconds: float = 60) -> None:
        """Go on until nothing runs and nothing is stale."""
        self.until(
            lambda: not (self._script_runs or self.waits) and "Stale" not in self.said and bool(self.numbers), seconds
        )

    @property
    def waits(self) -> bool:
        """Whether a run of this visitor works or queues."""
        return any(button.label == "Cancel" for button in self._all("button"))

    @property
    def numbers(self) -> dict[str, str]:
        """Headline numbers."""
        return {metric.label: metric.body for metric in self._all("metric")}

    @property
    def said(self) -> str:
        """All paragraphs and notices."""
        texts = [*self._all("markdown"), *self._all("alert")]
        return unescaped("\n".join(text.body for text in texts))

    def _all(self, kind: str) -> list:
        return [getattr(element, kind) for *_, element in self._page.values() if element.WhichOneof("type") == kind]

    def _find(self, kind: str, label: str):
        """A widget, as soon as it is there."""
        self.until(lambda: any(element.label == label for element in self._all(kind)))
        return next(element for element in self._all(kind) if element.label == label)

    def _rerun(self, trigger: WidgetState | None = None, fragment: str = "") -> None:
        message = BackMsg()
        state = message.rerun_script
        state.query_string = urlencode(self._query)
        state.fragment_id = fragment
        state.is_auto_rerun = bool(fragment)
        state.widget_states.widgets.extend([*self._widgets.values(), *([trigger] if trigger else [])])
        self._script_runs = True
        self._socket.send(message.SerializeToString())

    def _listen(self, seconds: float) -> None:
        """Take what comes, and let fragments rerun themselves when it is their time."""
        try:
            message = ForwardMsg.FromString(self._socket.recv(timeout=seconds))
        except TimeoutError:
            now = time.monotonic()
            for fragment, (interval, due) in tuple(self._timers.items()):
                if due <= now and not self._script_runs:
                    self._timers[fragment] = interval, now + interval
                    self._rerun(fragment=fragment)
            return
        self._take(message)

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        assert kind != "ref_hash", "nothing was said to be known"
        if kind == "new_session":
            self._script_runs, self._run = True, message.metadata.run.script_run_id
            if not message.metadata.run.fragment_ids:
                self._timers.clear()
        elif kind == "delta":
            self._draw(message)
        elif kind == "auto_rerun":
            interval = message.auto_rerun.interval
            self._timers[message.auto_rerun.fragment_id] = interval, time.monotonic() + interval
        elif kind == "script_finished":
            self._finished(message)

    def _draw(self, message: ForwardMsg) -> None:
        path, delta = tuple(message.metadata.delta_path), message.delta
        if delta.WhichOneof("type") != "new_element":
            self._page.pop(path, None)
            return
        element = delta.new_element
        assert element.WhichOneof("type") != "exception", element.exception.message
        self._page[path] = self._run, delta.fragment_id, element

    def _finished(self, message: ForwardMsg) -> None:
        """What the run has not drawn again is gone: of the whole page, or of the fragments that ran."""
        if message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            return
        self._script_runs = False
        assert message.script_finished != ForwardMsg.FINISHED_WITH_COMPILE_ERROR
        run = message.metadata.run
        self._page = {
            path: (drawn_by, fragment, element)
            for path, (drawn_by, fragment, element) in self._page.items()
            if drawn_by == run.script_run_id or (run.fragment_ids and fragment not in run.fragment_ids)
        }


def even_split_sentence(micro_batches: int) -> str:
    """What the page says about four stages of small32 with so many micro-batches, and about nothing else."""
    profile, pipeline = sample("small32").profile, Pipeline(4, micro_batches)
    limits = BalanceRequest(profile.memory_limit_mb).limits(4)
    reference = reference_for(profile, make_schedule("1f1b", pipeline), limits)
    return f"The {reference.words} takes {time_text(reference.evaluation.step_time, profile.time_unit)}."
