"""The Sweep page in Chromium."""

import re

import pytest
from playwright.sync_api import expect

from tests.pages.opened import profile_file

SLOW = (
    "sweep?sweep_schedules=1f1b&sweep_schedules=vpp&sweep_stages=4%2C+16-32+step+4&sweep_interleave=1%2C+4"
    "&sweep_micro_batches=64-128+step+4&sweep_workers=1"
)
QUICK = "sweep?sweep_stages=4%2C+8&sweep_micro_batches=8&sweep_limits=30000%2C+56000"
CHART = ".st-key-sweep_chart .js-plotly-plot"


def click_point(page, schedule):
    """Click the first point of a schedule that fits."""
    place = page.evaluate(
        f"""name => {{
            const g = document.querySelector('{CHART}');
            const trace = g._fullData.find(t => t.name === name);
            const box = g.querySelector('.nsewdrag').getBoundingClientRect();
            return [box.x + g._fullLayout.xaxis.d2p(trace.x[0]), box.y + g._fullLayout.yaxis.d2p(trace.y[0])];
        }}""",
        schedule,
    )
    page.mouse.move(*place)
    page.mouse.click(*place)


def back_to_sweep(dashboard):
    dashboard.page.get_by_role("link", name="Sweep").click()
    expect(dashboard.page.get_by_text(re.compile(r"Stopped: \d+ of 408 points are done."))).to_be_visible()
    dashboard.settle()


def test_partial_results_are_drawn_and_one_of_them_opens_in_balance(visit):
    dashboard = visit(SLOW)
    page = dashboard.page
    expect(page.get_by_text("408 points")).to_be_visible()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    page.wait_for_function(f"() => document.querySelector('{CHART}')?.data?.some(t => t.name === 'vpp')")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text(re.compile(r"Stopped: \d+ of 408 points are done."))).to_be_visible()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    dashboard.settle()
    page.locator(CHART).scroll_into_view_if_needed()
    click_point(page, "vpp")
    expect(page.get_by_role("heading", name="Pipeline balance")).to_be_visible()
    dashboard.wait_for_title("vpp · 4 stages · ")
    assert "stages=4" in page.url
    assert "sweep_" not in page.url
    # Back again: a cell of the heat map and a row of the table do the same.
    back_to_sweep(dashboard)
    page.get_by_role("tab", name="Heat map").click()
    dashboard.wait_for_title("Best time per sample", key="sweep_heat_map").settle()
    cell = page.locator(".st-key-sweep_heat_map .nsewdrag").first
    cell.scroll_into_view_if_needed()
    box = cell.bounding_box()
    # Near the corner of the first cell (1f1b, fewest stages), far from its middle.
    cell.hover(position={"x": box["width"] * 0.03, "y": 8})
    page.mouse.click(box["x"] + box["width"] * 0.03, cell.bounding_box()["y"] + 8)
    dashboard.wait_for_title("1f1b · 4 stages · ")
    back_to_sweep(dashboard)
    page.get_by_role("tab", name="Table").click()
    rows = page.locator(".st-key-sweep_rows").get_by_test_id("stDataFrame")
    expect(rows.locator("canvas").first).to_be_visible()
    dashboard.settle()
    rows.scroll_into_view_if_needed()
    box = rows.bounding_box()
    page.mouse.click(box["x"] + 17, box["y"] + 52)
    expect(page.get_by_role("heading", name="Pipeline balance")).to_be_visible()
    dashboard.wait_for_title(" stages · ")


def test_an_uploaded_profile_comes_along(visit, tmp_path):
    profile = tmp_path / "mine.yaml"
    profile.write_bytes(profile_file())
    dashboard = visit("sweep?sweep_schedules=1f1b&sweep_stages=4&sweep_interleave=1&sweep_micro_batches=8")
    page = dashboard.page
    page.get_by_text("Use your own profile").click()
    page.locator(".st-key-profile_file input[type=file]").set_input_files(profile)
    expect(page.get_by_text("Links do not carry it.")).to_be_visible()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    dashboard.wait_for_title("Time against peak memory", key="sweep_chart").settle()
    page.locator(CHART).scroll_into_view_if_needed()
    click_point(page, "1f1b")
    dashboard.wait_for_title("mine · 1f1b · 4 stages · 8 micro-batches").wait_until_balanced()


@pytest.mark.parametrize(("width", "height", "scheme"), [(1440, 900, "light"), (390, 844, "dark")])
def test_nothing_overlaps_or_runs_out_of_the_page(visit, width, height, scheme):
    dashboard = visit(QUICK, width=width, height=height, scheme=scheme)
    page = dashboard.page
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_text("on the Pareto front").first).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    dashboard.settle().wait_for_title("Time against peak memory", key="sweep_chart")
    assert page.get_by_test_id("stMain").evaluate("e => e.scrollWidth <= e.clientWidth")
    dashboard.check_legend("sweep_chart")
    background = page.get_by_test_id("stApp").evaluate("e => getComputedStyle(e).backgroundColor")
    painted = dashboard.graph("getComputedStyle(g.querySelector('.main-svg')).backgroundColor", key="sweep_chart")
    assert painted == background
