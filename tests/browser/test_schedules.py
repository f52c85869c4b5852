"""The Schedules page in Chromium."""

import pytest
from playwright.sync_api import expect

LINK = "schedules?schedule=dualpipe-v&stages=4&micro_batches=10"


def test_a_direct_link_shows_every_op_inside_the_whole_dashboard(visit):
    dashboard = visit(LINK).wait_for_title("dualpipe-v · 4 stages")
    page = dashboard.page
    ops = page.get_by_test_id("stMetricValue").nth(3).inner_text()
    assert dashboard.blocks == dashboard.painted_blocks == int(ops)
    expect(page.get_by_role("link", name="Balance")).to_be_visible()
    expect(page.get_by_text("Page not found")).to_have_count(0)
    expect(page.get_by_test_id("stSidebarNavLink")).to_have_count(5)


def test_a_second_schedule_is_drawn_on_the_same_axis(visit):
    dashboard = visit(LINK).wait_for_title("dualpipe-v · 4 stages")
    page = dashboard.page
    page.get_by_text("Compare with another schedule").click()
    dashboard.wait_for_title("vpp", key="other_timeline")
    page.wait_for_function(
        "() => { const [a, b] = ['timeline', 'other_timeline'].map(k => document.querySelector(`.st-key-${k} "
        ".js-plotly-plot`)?.layout.xaxis.range); return a && b && a[1] === b[1]; }"
    )
    assert "compare=true" in page.url
    assert dashboard.graph("g.querySelectorAll('.barlayer .point path').length", key="other_timeline") == 2 * 4 * 2 * 10
    other = visit(page.url).wait_for_title("vpp", key="other_timeline")
    other.expect_numbers(dashboard.numbers)
    page.get_by_text("Compare with another schedule").click()
    expect(page.locator(".st-key-other_timeline")).to_have_count(0)


@pytest.mark.parametrize(("width", "height", "scheme"), [(1440, 900, "light"), (390, 844, "dark")])
def test_nothing_overlaps_or_runs_out_of_the_page(visit, width, height, scheme):
    dashboard = visit(LINK, width=width, height=height, scheme=scheme).wait_for_title("dualpipe-v · 4 stages")
    page = dashboard.page
    dashboard.wait_for_title("In flight", key="in_flight")
    assert page.get_by_test_id("stMain").evaluate("e => e.scrollWidth <= e.clientWidth")
    for key in ("timeline", "in_flight"):
        dashboard.check_legend(key)
    background = page.get_by_test_id("stApp").evaluate("e => getComputedStyle(e).backgroundColor")
    assert dashboard.graph("getComputedStyle(g.querySelector('.main-svg')).backgroundColor") == background
