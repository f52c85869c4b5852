"""Files with hostile names in Chromium: nothing of them runs, becomes a link or a picture, or leaves the machine."""

import pytest
from playwright.sync_api import expect

from tests.hostile import named

LINK = "?stages=2&micro_batches=4&limited=false"
RUN_OR_LINKED = """() => {
    const all = [document, ...[...document.querySelectorAll('*')].map(e => e.shadowRoot).filter(Boolean)];
    const bad = "img[src*='out.invalid'], [href*='out.invalid'], a[href^='javascript'], [onerror]";
    const found = all.flatMap(root => [...root.querySelectorAll(bad)]).map(e => e.outerHTML);
    return [window.__hacked ?? null, found];
}"""


@pytest.fixture
def opened(visit):
    """The dashboard, with a check that nothing of a name has run."""
    dashboard = visit(LINK)
    dialogs = []
    dashboard.page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))

    def check():
        dashboard.settle()
        assert dashboard.page.evaluate(RUN_OR_LINKED) == [None, []]
        assert not dialogs

    return dashboard, check


def give(page, key, data, name=named.FILE):
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": data}
    page.locator(f".st-key-{key} input[type=file]").set_input_files(file)


def hover(dashboard, key):
    """Over every part of a chart that could have a word to say."""
    chart = dashboard.page.locator(f".st-key-{key} .js-plotly-plot").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    for across in (0.2, 0.5, 0.8):
        dashboard.page.mouse.move(box["x"] + across * box["width"], box["y"] + 0.45 * box["height"], steps=3)


def test_names_are_shown_and_never_run(opened, tmp_path, browser):
    dashboard, check = opened
    page = dashboard.page
    dashboard.wait_until_balanced()
    give(page, "scenario_file", named.scenario_bytes())
    expect(page.get_by_text("Opened from")).to_be_visible()
    dashboard.wait_for_title("![p]")
    hover(dashboard, "timeline")
    check()
    for tab, chart in (
        ("Memory over time", "memory_over_time"),
        ("Where time is lost", "bubbles"),
        ("Plan", "plan"),
        ("Measured", None),
    ):
        page.get_by_role("tab", name=tab, exact=True).click()
        if chart:
            dashboard.settle()
            hover(dashboard, chart)
        check()
    give(page, "measured_upload", named.measured_bytes(), f"{named.FILE}.csv")
    expect(page.get_by_text("The measured step takes")).to_be_visible()
    hover(dashboard, "measured_timeline")
    check()
    page.get_by_role("tab", name="My plan").click()
    page.locator("summary", has_text="Paste or upload a plan").click()
    give(page, "my_plan_file", named.plan_bytes())
    expect(page.get_by_text("My plan: step time")).to_be_visible()
    check()
    page.get_by_role("tab", name="Download").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Report", exact=False).first.click()
    saved = tmp_path / "report.html"
    download.value.save_as(saved)
    assert download.value.suggested_filename.isascii()
    read_report(browser, saved)


def test_compare_profile_and_sweep(opened):
    dashboard, check = opened
    page = dashboard.page
    page.get_by_role("link", name="Compare").click()
    give(page, "kept_files_0", named.comparison_bytes())
    dashboard.wait_for_title("![p]", key="kept_timeline_2")
    hover(dashboard, "kept_timeline_1")
    check()
    for tab, chart in (("Memory", "kept_memory"), ("Where time is lost", "kept_bubbles"), ("Settings", None)):
        page.get_by_role("tab", name=tab, exact=True).click()
        dashboard.settle()
        if chart:
            hover(dashboard, chart)
        check()
    page.get_by_role("link", name="Profile").click()
    give(page, "profile_page_file", named.profile_bytes())
    dashboard.wait_for_title("![p]", key="profile_times")
    hover(dashboard, "profile_times")
    hover(dashboard, "profile_memory")
    check()
    page.get_by_role("button", name="Use in Balance").click()
    dashboard.wait_for_title("![p]")
    page.get_by_role("link", name="Sweep").click()
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_selector(".st-key-sweep_chart .js-plotly-plot .main-svg")
    dashboard.settle()
    hover(dashboard, "sweep_chart")
    check()


def read_report(browser, file):
    """As somebody who got it by mail."""
    context = browser.new_context()
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: asked.append(dialog.message))
    page.goto(file.as_uri())
    expect(page.get_by_role("heading", level=1)).to_have_text(named.NAME)
    page.wait_for_selector(".js-plotly-plot .main-svg")
    found = page.evaluate(RUN_OR_LINKED)
    context.close()
    assert found == [None, []]
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
