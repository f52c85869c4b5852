"""Names from files on every page: where Streamlit reads Markdown, none of their markup is left."""

import re
from collections.abc import Iterator

import pytest
from google.protobuf.message import Message

from tests.hostile import named
from tests.pages.opened import Opened

PLAIN = {
    "Dataframe.alt", "Dataframe.columns", "PlotlyChart.alt", "PlotlyChart.config", "PlotlyChart.spec",
    "Selectbox.options", "Selectbox.raw_value", "TextInput.value", "FileUploader.label",
}  # fmt: skip
"""Fields that Streamlit shows as they are (in Chromium: tests/browser/test_hostile.py); figures escape HTML themselves."""
MARKUP = re.compile(r"(?<!\\)(!\[|<img|<script|<a |\]\(|:red\[|\$x)")
HTML = re.compile(r"(<|\\u003c)(img|script|a )|%{hacked}")


def texts(message: Message, path: str) -> Iterator[tuple[str, str]]:
    """Every text of an element, with the path of its field."""
    for field, value in message.ListFields():
        for part in value if hasattr(value, "append") else (value,):
            if isinstance(part, Message):
                yield from texts(part, path)
            elif isinstance(part, str):
                yield f"{path}.{field.name}", part


def elements(block) -> Iterator[object]:
    for child in block.children.values():
        yield child
        if hasattr(child, "children"):
            yield from elements(child)


def check(opened: Opened) -> str:
    """No text of the page is markup from a file; all of them."""
    said = []
    for element in elements(opened.at._tree):
        message = getattr(element, "proto", None)
        if message is None:
            continue
        for path, text in texts(message, type(message).__name__):
            pattern = HTML if path.endswith("spec") else MARKUP
            assert path.endswith("spec") or path in PLAIN or not pattern.search(text), (path, text)
            assert not (path.endswith("spec") and pattern.search(text)), (path, pattern.search(text))
            said.append(text)
    return "\n".join(said)


@pytest.fixture
def shown():
    """The Balance page with the scenario."""
    opened = Opened(stages="2", micro_batches="2", limited="false").settled()
    return opened.upload(named.scenario_bytes(), named.FILE, "scenario_file")


def test_balance_and_its_tabs(shown):
    assert "by another solver" in check(shown) or "with another solver" in check(shown)
    for tab in ("Memory over time", "Plan", "Comparison", "Search", "Download"):
        check(shown.tab(tab))
    shown.tab("My plan").upload(named.plan_bytes(), named.FILE, "my_plan_file")
    assert "My plan: step time" in check(shown)
    shown.tab("Measured")
    shown.at.file_uploader(key="measured_upload").set_value([(named.FILE, named.measured_bytes(), "text/csv")])
    assert "The measured step takes" in check(shown.run())


def test_refused_files(shown):
    for key in ("profile_file", "settings_file", "scenario_file"):
        shown.upload(b"{", named.FILE, key)
    assert check(shown).count("cannot be") >= 3


def test_compare_and_profile():
    compare = Opened("pages/compare.py")
    files = [(named.FILE, data, "application/json") for data in (named.comparison_bytes(), b"{")]
    compare.at.file_uploader(key="kept_files_0").set_value(files)
    assert "What changed" in check(compare.run())
    profile = Opened("pages/profile.py").upload(named.profile_bytes(), named.FILE, "profile_page_file")
    assert "What a layer costs" in check(profile)
