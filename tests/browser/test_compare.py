"""The Compare page in Chromium."""

import pytest
from playwright.sync_api import expect

LINK = "?stages=4&micro_batches=8&limited=false"
AXES = (
    "() => { const ranges = [1, 2].map(n => document.querySelector(`.st-key-kept_timeline_${n} .js-plotly-plot`)"
    "?.layout?.xaxis.range); return ranges[0] && ranges[1] && ranges[0][1] === ranges[1][1]; }"
)


def keep(dashboard) -> None:
    dashboard.page.get_by_role("button", name="Keep for comparison").click()
    expect(dashboard.page.get_by_role("button", name="Kept for comparison")).to_be_visible()


def keep_two_and_compare(dashboard):
    dashboard.wait_until_balanced()
    keep(dashboard)
    dashboard.slide("micro_batches", 4)
    dashboard.settle().balance()
    dashboard.wait_until_balanced()
    keep(dashboard)
    dashboard.page.get_by_role("link", name="Compare 2 kept scenarios").click()
    dashboard.wait_for_title("12 micro-batches", key="kept_timeline_2")
    return dashboard


def test_two_results_are_kept_compared_renamed_deleted_and_survive_a_reload(visit):
    dashboard = keep_two_and_compare(visit(LINK))
    page = dashboard.page
    page.wait_for_function(AXES)
    expect(page.get_by_text("For each micro-batch it is")).to_be_visible()
    first = page.locator(".st-key-kept_name_1 input")
    first.fill("Short step")
    first.press("Enter")
    expect(page.locator("strong", has_text="Short step").first).to_be_visible()
    # What the others are compared with is in the link too.
    page.locator(".st-key-compare_base input").click()
    page.get_by_role("option", name="12 mb").click()
    expect(page.get_by_text("What changed: Short step")).to_be_visible()
    dashboard.settle()
    page.reload()
    dashboard.wait_for_title("12 micro-batches", key="kept_timeline_2")
    expect(page.locator(".st-key-kept_name_1 input")).to_have_value("Short step")
    expect(page.get_by_text("What changed: Short step")).to_be_visible()
    page.wait_for_function(AXES)
    page.locator(".st-key-kept_delete_2 button:visible").first.click()
    expect(page.locator(".st-key-kept_row_2")).to_have_count(0)
    expect(page.get_by_text("One scenario alone is compared with its even split")).to_be_visible()


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_nothing_runs_out_of_the_page(visit, width, scheme):
    dashboard = visit(LINK, scheme=scheme)
    keep_two_and_compare(dashboard)
    page = dashboard.page
    page.set_viewport_size({"width": width, "height": 844})
    for tab, chart in (("Memory", "kept_memory"), ("Where time is lost", "kept_bubbles")):
        page.get_by_role("tab", name=tab).click()
        dashboard.wait_for_title("side by side", key=chart)
        assert page.get_by_test_id("stMain").evaluate("e => e.scrollWidth <= e.clientWidth")
        dashboard.check_legend(chart)
