"""Figures as files."""

import asyncio
import builtins
from concurrent.futures import ThreadPoolExecutor

import pytest

from sapp_core.charts.files import PictureFormat, figure_html, pictures
from sapp_core.charts.gantt import gantt_figure
from sapp_core.charts.theme import LIGHT
from sapp_core.errors import FormatError
from tests.charts import scenes

FIGURE = gantt_figure(scenes.evaluation(stages=2, micro_batches=2), LIGHT)


@pytest.mark.browser
def test_a_picture_says_what_it_shows_and_in_which_units():
    png, svg = pictures([(FIGURE, PictureFormat.PNG), (FIGURE, PictureFormat.SVG)])
    assert png.startswith(b"\x89PNG")
    width, height = (int.from_bytes(png[at : at + 4]) for at in (16, 20))
    assert (width, height) == (2 * 1280, 2 * FIGURE.layout.height)
    text = svg.decode()
    for words in ("Pipeline timeline", "model · 1f1b · 2 stages · 2 micro-batches · step", "Time (ms)", "Stage"):
        assert words in text


@pytest.mark.browser
def test_pictures_are_drawn_where_an_event_loop_runs_already():
    async def inside() -> bytes:
        return pictures([(FIGURE, PictureFormat.SVG)])[0]

    # In a thread, as other tests may have left a loop that runs in this one.
    with ThreadPoolExecutor(max_workers=1) as thread:
        assert thread.submit(lambda: asyncio.run(inside())).result().startswith(b"<svg")


def test_without_kaleido_the_sentence_says_how_to_get_it(monkeypatch):
    real = builtins.__import__

    def absent(name, *args, **kwargs):
        if name == "kaleido":
            raise ModuleNotFoundError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(FormatError, match="pip install kaleido"):
        pictures([(FIGURE, PictureFormat.PNG)])
    assert pictures([]) == ()


def test_a_browser_that_does_not_work_is_a_sentence(monkeypatch):
    monkeypatch.setenv("BROWSER_PATH", "/bin/false")
    with pytest.raises(FormatError, match="picture: the browser could not draw it; install Chromium or Chrome"):
        pictures([(FIGURE, PictureFormat.SVG)])


def test_a_figure_in_a_page_brings_no_library_along():
    html = figure_html(FIGURE, "timeline")
    assert 'id="timeline"' in html
    assert len(html) < 100_000
