"""How long the page takes: our own Python at opening, opening in Chromium, drawing the largest timeline."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, sync_playwright

from sapp_core.charts.gantt import gantt_figure
from sapp_core.charts.theme import LIGHT
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import even_split
from sapp_core.domain.timeline import Evaluation
from sapp_core.profiles.load import load_profile
from sapp_core.schedules.registry import make_schedule
from sapp_core.study import evaluate
from tests.benchmarks.timeline import repaint
from tests.browser.dashboard import Dashboard
from tests.browser.server import CHROMIUM, FLAGS, PROJECT, Server

REPEATS = 5

BARE = """
import plotly.graph_objects as go
import streamlit as st
with st.container(key="timeline"):
    st.plotly_chart(go.Figure(go.Bar(x=[1, 2], y=[2, 3])))
"""

OWN_PYTHON = """
import time
from streamlit.testing.v1 import AppTest
AppTest.from_string({bare!r}).run()
begun = time.perf_counter()
page = AppTest.from_file("app.py").run(timeout=60)
assert not page.exception
print(time.perf_counter() - begun)
"""

LARGEST = "?profile=sim192&schedule=vpp&stages=16&interleave=3&micro_batches=64"


def main() -> None:
    """Print a table: medians of five, seconds."""
    print("| what | median of 5, s | all, s |")
    print("| --- | --- | --- |")
    _row("our own Python at opening (imports, controls, even split, its timeline)", _own_python)
    evaluation = _largest()
    _row("figure of 16×3×64, whole step (bins)", lambda: _timed(lambda: gantt_figure(evaluation, LIGHT)))
    closer = (0.3 * evaluation.step_time, 0.8 * evaluation.step_time)
    _row("figure of 16×3×64, half of it (blocks)", lambda: _timed(lambda: gantt_figure(evaluation, LIGHT, closer)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        _openings(browser)
        _largest_in_chromium(browser)
        browser.close()


def _openings(browser: Browser) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare.py"
        bare.write_text(BARE)
        with _serving(bare) as server:
            _row("opening a bare page with one chart", lambda: _opening(browser, server.url, "timeline"))
    _row("opening on a fresh server: solved live, timeline and memory painted", lambda: _first_opening(browser))
    with _serving(PROJECT / "app.py") as server:
        _opening(browser, server.url, "memory")
        _row("opening again on the same server", lambda: _opening(browser, server.url, "memory"))


def _largest_in_chromium(browser: Browser) -> None:
    with _serving(PROJECT / "app.py") as server:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(120_000)
        # An impossible group size keeps the page from solving; without it the even split is drawn as it is.
        page.goto(f"{server.url}{LARGEST}&group_size=1")
        page.get_by_text("These settings cannot run").wait_for()
        page.get_by_text("Constant memory, transfers").click()
        field = page.locator(".st-key-group_size input")
        field.fill("16")
        field.press("Enter")
        page.wait_for_selector(".st-key-timeline .cartesianlayer image")
        dashboard = Dashboard(page)
        more = page.locator(".st-key-p2p_time button[data-testid=stNumberInputStepUp]")
        whole = page.get_by_role("button", name="Whole step")
        _row("16×3×64: control changed → simulated, drawn, painted (bins)", lambda: repaint(page, more.click))
        closer, back = [], []
        for _ in range(REPEATS):
            closer.append(repaint(page, lambda: dashboard.drag_across(0.3, 0.8)))
            back.append(repaint(page, whole.click))
        _print("16×3×64: box drawn → half of the step painted (blocks)", closer)
        _print("16×3×64: back to the whole step, painted (bins)", back)
        page.close()


def _own_python() -> float:
    """In a fresh interpreter in which Streamlit has already drawn a bare page."""
    code = OWN_PYTHON.format(bare=BARE)
    ended = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    return float(ended.stdout.split()[-1])


def _largest() -> Evaluation:
    profile = load_profile((PROJECT / "sample_profiles" / "sim192.yaml").read_bytes(), "sim192").profile
    pipeline = Pipeline(16, 64, 3)
    return evaluate(profile, make_schedule("vpp", pipeline), even_split(profile, pipeline))


def _first_opening(browser: Browser) -> float:
    with _serving(PROJECT / "app.py") as server:
        return _opening(browser, server.url, "memory")


def _opening(browser: Browser, url: str, key: str) -> float:
    """From the address to the chart painted, the timeline above it too; in a browser profile of its own."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    begun = time.perf_counter()
    page.goto(url)
    for name in {"timeline", key}:
        page.wait_for_selector(f".st-key-{name} .barlayer .point path")
    seconds = time.perf_counter() - begun
    context.close()
    return seconds


@contextmanager
def _serving(app: Path) -> Iterator[Server]:
    server = Server(app)
    try:
        yield server
    finally:
        server.stop()


def _timed(run: Callable[[], object]) -> float:
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def _row(what: str, measure: Callable[[], float]) -> None:
    _print(what, [measure() for _ in range(REPEATS)])


def _print(what: str, seconds: list[float]) -> None:
    print(f"| {what} | {median(seconds):.3f} | {', '.join(f'{value:.3f}' for value in seconds)} |", flush=True)


if __name__ == "__main__":
    main()
