"""What the browser gets to draw; that it draws it, tests/browser says."""

import json

import pytest
import streamlit as st

from pages.shared import chart_component
from tests.pages.opened import Opened

PAGE = "pages/schedules.py"


@pytest.fixture
def drawn_by_the_browser(figures_from_python):
    st.config.set_option("server.enableStaticServing", True)


def components(opened):
    return [element.proto for element in opened.at.get("bidi_component") if '"only"' not in element.proto.json]


def test_the_library_is_fetched_first_of_all(drawn_by_the_browser):
    first = Opened(PAGE, schedule="1f1b").at.get("bidi_component")[0].proto
    assert json.loads(first.json) == {"only": "library", "library": f"app/static/{chart_component._served_library()}"}


def test_the_blocks_are_sent_once_and_a_window_apart_from_them(drawn_by_the_browser):
    opened = Opened(PAGE, schedule="1f1b", stages="4", micro_batches="8")
    blocks, timeline, in_flight = components(opened)
    assert not opened.figures
    opened.at.session_state["order_window"] = (3.0, 7.0)
    opened.run()
    same, closer, _ = components(opened)
    assert same.SerializeToString() == blocks.SerializeToString()
    before, after = json.loads(timeline.json), json.loads(closer.json)
    assert (before.pop("range"), after.pop("range")) == (None, [3.0, 7.0])
    assert before == after
    assert json.loads(in_flight.json)["figure"].startswith('{"data"')


def test_other_times_are_other_blocks_under_another_name(drawn_by_the_browser):
    opened = Opened(PAGE, schedule="1f1b", stages="4", micro_batches="8")
    blocks, timeline, _ = components(opened)
    opened.at.number_input(key="unit_backward").set_value(3.0)
    opened.run()
    others, other, _ = components(opened)
    assert others.bytes != blocks.bytes
    assert json.loads(other.json)["blocks"] != json.loads(timeline.json)["blocks"]
    assert others.id == blocks.id
    assert other.id == timeline.id


def test_a_chart_says_what_it_shows_and_how_its_picture_is_called(drawn_by_the_browser):
    _, timeline, in_flight = (json.loads(proto.json or "{}") for proto in components(Opened(PAGE, schedule="zbv")))
    for chart in (timeline, in_flight):
        assert chart["alt"].endswith(".")
        assert "zbv" in chart["config"]["toImageButtonOptions"]["filename"]
        assert chart["config"]["showSendToCloud"] is False


def test_where_no_file_can_be_written_streamlit_draws(drawn_by_the_browser, tmp_path, monkeypatch):
    occupied = tmp_path / "static"
    occupied.write_text("not a folder")
    monkeypatch.setattr(chart_component, "_SERVED", occupied)
    opened = Opened(PAGE, schedule="1f1b")
    assert not opened.at.get("bidi_component")
    assert len(opened.figures) == 2


def test_plotly_is_copied_once_to_where_it_is_served(drawn_by_the_browser, tmp_path, monkeypatch):
    monkeypatch.setattr(chart_component, "_SERVED", tmp_path / "static")
    _, timeline, _ = components(Opened(PAGE, schedule="1f1b"))
    (copied,) = (tmp_path / "static").iterdir()
    assert json.loads(timeline.json)["library"] == f"app/static/{copied.name}"
    assert copied.stat().st_size > 1_000_000
