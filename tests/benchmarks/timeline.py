"""How long a timeline takes in Chromium, by its number of blocks: other data, a closer look, the whole step again."""

from collections.abc import Callable
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.dashboard import Dashboard
from tests.browser.server import CHROMIUM, FLAGS, PROJECT, Server

REPEATS = 5
SIZES = {
    512: "schedule=1f1b&stages=8&micro_batches=32",
    6_144: "schedule=vpp&stages=16&interleave=3&micro_batches=64",
    24_576: "schedule=vpp&stages=16&interleave=4&micro_batches=192",
    98_304: "schedule=vpp&stages=32&interleave=4&micro_batches=384",
}

# In the page: from the end of a click or a drag to the first frame in which the timeline is painted anew.
WATCH = """
() => {
  const graph = () => document.querySelector(".st-key-timeline .js-plotly-plot");
  const state = () => { const g = graph(); return g && g.layout && g.layout.title.text + g.layout.xaxis.range; };
  const before = state();
  window.repainted = null;
  let begun = null;
  const begin = event => {
    if (begun !== null || (event.type === "keydown" && event.key !== "Enter")) return;
    begun = performance.now();
    const look = () => {
      const now = state();
      if (now && now !== before && graph().querySelector(".cartesianlayer path, .cartesianlayer image"))
        requestAnimationFrame(() => setTimeout(() => { window.repainted = performance.now() - begun; }, 0));
      else requestAnimationFrame(look);
    };
    look();
  };
  for (const type of ["pointerup", "keydown"]) addEventListener(type, begin, {capture: true});
}
"""


def main() -> None:
    """Print a table: medians, seconds."""
    print("| blocks | what | median, s | all, s |")
    print("| --- | --- | --- | --- |")
    server = Server(PROJECT / "app.py")
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            for blocks, link in SIZES.items():
                _measure(browser, f"{server.url}schedules?{link}", blocks)
            browser.close()
    finally:
        server.stop()


def _measure(browser: Browser, address: str, blocks: int) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(120_000)
    page.goto(address)
    dashboard = Dashboard(page)
    dashboard.wait_for_title("stages")
    page.get_by_text(f"{blocks:,} blocks").wait_for()
    dashboard.settle()
    field = page.locator(".st-key-unit_backward input")

    def set_time(value: float) -> float:
        field.fill(str(value))
        return repaint(page, lambda: field.press("Enter"))

    whole = page.get_by_role("button", name="Whole step")
    unknown, known = [], []
    for run in range(REPEATS):
        unknown.append(set_time(2.1 + run / 10))
        known.append(set_time(2.0))
    _print(blocks, "times changed → simulated, drawn, painted", unknown)
    _print(blocks, "times changed back → drawn, painted", known)
    for name, first, last in (("a tenth", 0.45, 0.55), ("a half", 0.25, 0.75)):
        closer, button, click = [], [], []
        for _ in range(REPEATS):
            for back, act in ((button, whole.click), (click, lambda: _double_click(page))):
                closer.append(repaint(page, lambda first=first, last=last: dashboard.drag_across(first, last)))
                back.append(repaint(page, act))
        _print(blocks, f"drag across {name} → painted", closer)
        _print(blocks, f"button: whole step again, from {name} → painted", button)
        _print(blocks, f"double click: whole step again, from {name} → painted", click)
    page.close()


def repaint(page: Page, act: Callable[[], None]) -> float:
    """Seconds from the end of a click or drag until the timeline has changed and is painted."""
    page.evaluate(WATCH)
    act()
    page.wait_for_function("() => window.repainted !== null")
    milliseconds: float = page.evaluate("window.repainted")
    Dashboard(page).settle()
    page.wait_for_timeout(300)
    return milliseconds / 1000


def _double_click(page: Page) -> None:
    page.locator(".st-key-timeline .nsewdrag").first.dblclick()


def _print(blocks: int, what: str, seconds: list[float]) -> None:
    print(
        f"| {blocks:,} | {what} | {median(seconds):.3f} | {', '.join(f'{value:.3f}' for value in seconds)} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
