"""A page under test, without a browser."""

import json
import re
import time
from pathlib import Path

import yaml
from streamlit.testing.v1 import AppTest

APP = Path(__file__).parents[2] / "app.py"


class Opened:
    """One session.

    Args:
        page: script of the page; None = the one that opens first.
        link: what the address says after the question mark.
    """

    def __init__(self, page: str | None = None, **link: str) -> None:
        self.at = AppTest.from_file(str(APP), default_timeout=60)
        if page:
            self.at.switch_page(page)
        for key, value in link.items():
            self.at.query_params[key] = value
        self.run()

    def run(self) -> "Opened":
        """One rerun; a traceback is a failure."""
        self.at.run()
        assert not self.at.exception, self.at.exception[0].message
        return self

    def settled(self, seconds: float = 60) -> "Opened":
        """Rerun until nothing is being balanced."""
        end = time.monotonic() + seconds
        while self.running:
            assert time.monotonic() < end
            time.sleep(0.15)
            self.run()
        return self

    def balance(self) -> "Opened":
        self.at.button(key="balance").click()
        return self.run().settled()

    def upload(self, data: bytes, name: str = "profile.yaml", key: str = "profile_file") -> "Opened":
        self.at.file_uploader(key=key).upload(name, data, "application/yaml")
        return self.run()

    @property
    def running(self) -> bool:
        return any(button.key == "cancel" for button in self.at.button)

    @property
    def numbers(self) -> dict[str, str]:
        """Headline numbers."""
        return {metric.label: metric.value for metric in self.at.metric}

    @property
    def said(self) -> str:
        """All errors, warnings, infos and paragraphs, without the backslashes that keep Markdown out."""
        texts = [
            element.value for kind in ("error", "warning", "info", "markdown") for element in getattr(self.at, kind)
        ]
        return unescaped("\n".join(texts))

    def figure(self, number: int = 0) -> dict:
        """The figure of a chart: 0 is the timeline."""
        return json.loads(self.at.get("plotly_chart")[number].proto.spec)

    @property
    def figures(self) -> list[dict]:
        """All figures, in the order of the page."""
        return [json.loads(chart.proto.spec) for chart in self.at.get("plotly_chart")]

    def tab(self, name: str) -> "Opened":
        self.at.session_state["details"] = name
        return self.run()


def unescaped(markdown: str) -> str:
    """What a reader sees of escaped Markdown."""
    return re.sub(r"\\(.)", r"\1", markdown).replace("\u2060", "")


def profile_file(**changes) -> bytes:
    """A small profile that can be balanced in no time; a change to None leaves a key out."""
    document = {
        "name": "mine",
        "memory_limit": 4000,
        "layers_description": [
            {"name": "Head", "type": "HEAD", "nb_layer": 1, "time": 5, "memory_parameter": 300},
            {
                "name": "Body",
                "type": "BODY",
                "nb_layer": 24,
                "time": 10,
                "memory_parameter": 100,
                "memory_activation": 60,
                "memory_recompute": 5,
            },
            {"name": "Tail", "type": "TAIL", "nb_layer": 1, "time": 12, "memory_parameter": 200},
        ],
    }
    merged = {key: value for key, value in (document | changes).items() if value is not None}
    return yaml.safe_dump(merged).encode()
