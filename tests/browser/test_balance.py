"""The Balance page in Chromium."""

import struct
import time

import pytest
from playwright.sync_api import expect

from tests.pages.opened import profile_file

HARD = "?profile=sim192&schedule=vpp&stages=16&interleave=3&micro_batches=16&time_limit=90"


def upload(page, data, name="mine.yaml"):
    page.get_by_text("Use your own profile").click()
    page.locator(".st-key-profile_file input[type=file]").set_input_files(
        {"name": name, "mimeType": "application/yaml", "buffer": data}
    )


def test_opening_shows_a_sample_with_its_timeline_and_memory(visit):
    dashboard = visit().wait_for_title("8 stages").wait_for_title("8 stages", key="memory").wait_until_balanced()
    assert dashboard.blocks == dashboard.painted_blocks == 2 * 8 * 32
    assert len(dashboard.numbers) == 4
    expect(dashboard.page.get_by_text("Proven optimal")).to_be_visible()


def test_from_an_uploaded_profile_to_a_closer_look(visit):
    dashboard = visit().wait_for_title("8 stages").wait_until_balanced()
    page = dashboard.page
    upload(page, profile_file(name="mine <img src=x onerror=alert(1)>"))
    expect(page.get_by_text("Stale")).to_be_visible()
    dashboard.slide("stages", -4)
    dashboard.slide("micro_batches", -20)
    expect(page.get_by_text("stages 8 → 4; micro-batches 32 → 12")).to_be_visible()
    dashboard.balance()
    dashboard.wait_for_title("4 stages · 12 micro-batches").wait_until_balanced()
    assert dashboard.blocks == dashboard.painted_blocks == 2 * 4 * 12
    assert dashboard.graph("g.layout.title.text").startswith("Pipeline timeline")
    assert "mine" in dashboard.graph("g.layout.title.text")
    assert page.locator("img[src=x]").count() == 0

    whole = dashboard.time_range
    dashboard.drag_across(0.25, 0.5)
    page.wait_for_function(
        "() => document.querySelector('.st-key-timeline .js-plotly-plot')?.layout.xaxis.range[0] > 0"
    )
    chosen = dashboard.time_range
    length = whole[1] - whole[0]
    assert chosen == pytest.approx([0.25 * length, 0.5 * length], abs=0.01 * length)
    assert 0 < dashboard.blocks < 2 * 4 * 12
    expect(page.get_by_text(f"{dashboard.blocks} blocks")).to_be_visible()

    # The window stays through a change, another run and another tab.
    dashboard.slide("micro_batches", 1)
    expect(page.get_by_text("Stale")).to_be_visible()
    dashboard.balance()
    dashboard.wait_for_title("13 micro-batches").wait_until_balanced()
    assert dashboard.time_range == pytest.approx(chosen)
    page.get_by_role("tab", name="Memory over time").click()
    dashboard.wait_for_title("Memory over time", key="memory_over_time")
    assert dashboard.graph("[...g.layout.xaxis.range]", key="memory_over_time") == pytest.approx(chosen)

    page.get_by_role("button", name="Whole step").click()
    page.wait_for_function(
        "() => document.querySelector('.st-key-timeline .js-plotly-plot')?.layout.xaxis.range[0] === 0"
    )
    assert dashboard.blocks == dashboard.painted_blocks == 2 * 4 * 13


def test_a_broken_upload_is_answered_and_keeps_the_result(visit):
    dashboard = visit().wait_for_title("8 stages").wait_until_balanced()
    before = dashboard.numbers
    upload(dashboard.page, b"name: broken\nlayers_description: 12\n", "broken.yaml")
    expect(dashboard.page.get_by_text("broken.yaml cannot be used.")).to_be_visible()
    expect(dashboard.page.get_by_text("layers_description: must be a list")).to_be_visible()
    dashboard.expect_numbers(before)
    assert dashboard.blocks == 2 * 8 * 32


def test_a_copied_link_shows_the_same_numbers_in_another_browser(visit):
    dashboard = visit("?profile=small32&memory_limit=12000&schedule=1f1b")
    dashboard.wait_for_title("small32 · 1f1b · 8 stages").wait_until_balanced()
    dashboard.slide("stages", -4)
    expect(dashboard.page.get_by_text("Stale")).to_be_visible()
    dashboard.balance()
    dashboard.wait_for_title("small32 · 1f1b · 4 stages").wait_until_balanced()
    assert "stages=4" in dashboard.page.url

    other = visit(dashboard.page.url).wait_for_title("small32 · 1f1b · 4 stages").wait_until_balanced()
    other.expect_numbers(dashboard.numbers)
    assert other.blocks == dashboard.blocks


def test_a_long_run_is_cancelled_and_nothing_is_left(visit, server):
    page = visit(HARD).page
    expect(page.get_by_text("Balancing:")).to_be_visible()
    assert server.children()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled")).to_be_visible()
    assert not server.children()
    # The page is as usable as before.
    expect(page.get_by_role("button", name="Balance", exact=True)).to_be_enabled()


def test_a_closed_tab_leaves_no_process(visit, server):
    page = visit(HARD.replace("micro_batches=16", "micro_batches=32")).page
    expect(page.get_by_text("Balancing:")).to_be_visible()
    assert server.children()
    page.close()
    end = time.monotonic() + 60
    while server.children():
        assert time.monotonic() < end
        time.sleep(0.2)


def test_too_many_blocks_are_binned_until_one_looks_closer(visit):
    dashboard = visit("?schedule=gpipe&stages=16&micro_batches=150&limited=false&time_limit=5")
    dashboard.wait_for_title("150 micro-batches").wait_until_balanced()
    expect(dashboard.page.get_by_text("4,800 blocks")).to_be_visible()
    assert dashboard.graph("g.data.filter(t => t.type === 'heatmap').length") == 2
    dashboard.drag_across(0.1, 0.3)
    dashboard.page.wait_for_function(
        "() => document.querySelector('.st-key-timeline .js-plotly-plot')?.data.some(t => t.type === 'bar')"
    )
    assert 0 < dashboard.blocks < 4_800


def test_the_camera_saves_png_at_twice_the_size_and_svg(visit):
    dashboard = visit().wait_for_title("8 stages").wait_until_balanced()
    page = dashboard.page
    width, height = dashboard.graph("[g.clientWidth, g.clientHeight]")
    with page.expect_download() as download:
        page.locator(".st-key-timeline .modebar-btn").first.click()
    assert download.value.suggested_filename == "small32_1f1b_timeline.png"
    size = struct.unpack(">II", download.value.path().read_bytes()[16:24])
    assert size == pytest.approx((2 * width, 2 * height), abs=4)

    page.get_by_role("tab", name="Download").click()
    page.get_by_role("radio", name="SVG").click()
    page.wait_for_function(
        "() => document.querySelector('.st-key-timeline .js-plotly-plot')?._context.toImageButtonOptions.format === 'svg'"
    )
    with page.expect_download() as download:
        page.locator(".st-key-timeline .modebar-btn").first.click()
    assert download.value.suggested_filename == "small32_1f1b_timeline.svg"
    assert download.value.path().read_text().startswith("<svg")


def test_a_plan_is_taken_away_as_a_file(visit):
    page = visit().wait_for_title("8 stages").wait_until_balanced().page
    page.get_by_role("tab", name="Download").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Timeline (CSV)").click()
    assert len(download.value.path().read_text().splitlines()) == 1 + 2 * 8 * 32


@pytest.mark.parametrize(("width", "height", "scheme"), [(1440, 900, "light"), (390, 844, "dark")])
def test_nothing_overlaps_or_runs_out_of_the_page(visit, width, height, scheme):
    dashboard = visit(width=width, height=height, scheme=scheme).wait_for_title("8 stages").wait_until_balanced()
    page = dashboard.page
    dashboard.wait_for_title("8 stages", key="memory")
    main = page.get_by_test_id("stMain")
    assert main.evaluate("e => e.scrollWidth <= e.clientWidth")
    for key in ("timeline", "memory"):
        dashboard.check_legend(key)
    labels = page.locator(".st-key-timeline .textpoint")
    assert labels.first.is_visible() == (width > 900)
    background = page.get_by_test_id("stApp").evaluate("e => getComputedStyle(e).backgroundColor")
    assert dashboard.graph("getComputedStyle(g.querySelector('.main-svg')).backgroundColor") == background
