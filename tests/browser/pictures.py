"""The pictures of the README, taken anew: `make pictures`."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, expect, sync_playwright

from sapp_core.balancer.balance import balance
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.scenario import Scenario
from sapp_core.interchange.comparison import NamedScenario, comparison_to_json
from sapp_core.interchange.scenario import SavedScenario
from sapp_core.profiles.load import load_profile
from sapp_core.schedules.registry import family, make_schedule
from tests.browser.dashboard import Dashboard
from tests.browser.server import CHROMIUM, FLAGS, PROJECT, Server

DOCS = PROJECT / "docs"
COMPARED = (("1f1b", 1), ("vpp", 3), ("zbv", 2))
"""Schedules and their interleave."""


def balance_page(dashboard: Dashboard, link: str) -> None:
    dashboard.page.goto(f"{link}?profile=llama2_70b&memory_limit=56000&schedule=1f1b&stages=8&micro_batches=32")
    dashboard.wait_for_title("8 stages").wait_for_title("8 stages", key="memory").wait_until_balanced()


def profile_page(dashboard: Dashboard, link: str) -> None:
    page = dashboard.page
    page.goto(f"{link}profile")
    dashboard.settle()
    page.get_by_text("Hyper-parameters", exact=True).click()
    expect(page.get_by_text("Llama-3 8B").or_(page.get_by_text("Llama 3 8B")).first).to_be_visible()
    dashboard.settle()
    page.get_by_test_id("stMain").hover()
    page.mouse.wheel(0, 1040)


def compare_page(dashboard: Dashboard, link: str) -> None:
    page = dashboard.page
    page.goto(f"{link}compare")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "comparison.json"
        file.write_text(comparison_to_json(compared()), encoding="utf-8")
        page.get_by_test_id("stFileUploader").locator("input").set_input_files(file)
        dashboard.wait_for_title("step", key="kept_timeline_3")
    dashboard.settle()
    page.get_by_text("Kept scenarios (3").click()


def compared() -> list[NamedScenario]:
    """One profile under three schedules, balanced for ten seconds each."""
    profile = load_profile((PROJECT / "sample_profiles" / "sim192.yaml").read_bytes(), "sim192.yaml").profile
    entries = []
    for name, chunks in COMPARED:
        pipeline = Pipeline(8, 32, chunks, placement=family(name).placement)
        request = BalanceRequest(53_000.0, time_limit=10.0)
        result = balance(profile, make_schedule(name, pipeline), request)
        saved = SavedScenario(Scenario(profile, name, pipeline, request), result.plan, result)
        entries.append(NamedScenario(family(name).title, saved))
    return entries


def sweep_page(dashboard: Dashboard, link: str) -> None:
    schedules = "&".join(f"sweep_schedules={name}" for name in ("1f1b", "vpp", "zb-1p", "v-half"))
    dashboard.page.goto(f"{link}sweep?profile=llama2_70b&{schedules}")
    dashboard.page.get_by_role("button", name="Start", exact=True).click()
    dashboard.wait_for_title("of 48 points fit", key="sweep_chart")
    expect(dashboard.page.get_by_role("button", name="Cancel")).to_have_count(0)


def schedules_page(dashboard: Dashboard, link: str) -> None:
    dashboard.page.goto(f"{link}schedules?schedule=dualpipe-v&stages=4&micro_batches=10")
    dashboard.wait_for_title("dualpipe-v")


PICTURES: dict[str, tuple[Callable[[Dashboard, str], None], int]] = {
    "balance": (balance_page, 1500),
    "profile": (profile_page, 900),
    "compare": (compare_page, 900),
    "sweep": (sweep_page, 900),
    "schedules": (schedules_page, 900),
}
"""File → how to get there, and the height of the window."""


def take(page: Page, name: str, link: str) -> None:
    PICTURES[name][0](Dashboard(page), link)
    page.mouse.move(1435, 500)
    Dashboard(page).settle()
    # Menus and hovers fade.
    page.wait_for_timeout(1000)
    page.screenshot(path=DOCS / f"{name}.png")


def main() -> None:
    expect.set_options(timeout=60_000)
    server = Server()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            for name, (_, height) in PICTURES.items():
                page = browser.new_page(viewport={"width": 1440, "height": height}, color_scheme="light")
                page.set_default_timeout(60_000)
                take(page, name, server.url)
                page.close()
            browser.close()
    finally:
        server.stop()


if __name__ == "__main__":
    main()
