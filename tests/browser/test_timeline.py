"""Looking closer at timelines in Chromium."""

import pytest
from playwright.sync_api import expect

SMALL = "schedules?schedule=1f1b&stages=4&micro_batches=8"


def test_two_timelines_follow_each_other(visit):
    dashboard = visit(f"{SMALL}&compare=true").wait_for_title("4 stages", key="other_timeline")
    dashboard.wait_for_title("4 stages").settle()
    _, end = dashboard.time_range
    dashboard.drag_across(0.25, 0.5)
    # Both at once, before Python has heard of it.
    assert dashboard.time_range == pytest.approx([0.25 * end, 0.5 * end], abs=0.01 * end)
    assert dashboard.graph("[...g.layout.xaxis.range]", key="other_timeline") == dashboard.time_range
    # And then the words below both, and what is drawn beneath.
    expect(dashboard.page.get_by_text("Shown: the whole step")).to_have_count(0)
    dashboard.page.wait_for_function(
        "first => document.querySelector('.st-key-in_flight .js-plotly-plot').layout.xaxis.range[0] === first",
        arg=dashboard.time_range[0],
    )
    dashboard.drag_across(0.4, 0.2, key="other_timeline")
    closer = dashboard.time_range
    assert closer == pytest.approx([0.3 * end, 0.35 * end], abs=0.01 * end)
    dashboard.settle()
    assert dashboard.time_range == dashboard.graph("[...g.layout.xaxis.range]", key="other_timeline") == closer


def test_two_timelines_of_the_same_blocks_do_without_each_other(visit):
    link = "schedules?schedule=vpp&stages=4&micro_batches=8&interleave=2&compare=true&times_of=each+chunk"
    dashboard = visit(link).wait_for_title("vpp · 4 stages × 2", key="other_timeline").wait_for_title("4 stages")
    before = dashboard.settle().time_range
    dashboard.slide("interleave", 1)
    dashboard.wait_for_title("vpp · 4 stages × 3").settle()
    assert dashboard.time_range[1] > before[1]
    dashboard.page.wait_for_function(
        "end => document.querySelector('.st-key-other_timeline .js-plotly-plot').layout.xaxis.range[1] === end",
        arg=dashboard.time_range[1],
        timeout=10_000,
    )


def test_a_double_click_shows_the_whole_step_again(visit):
    dashboard = visit(SMALL).wait_for_title("4 stages").settle()
    whole = dashboard.time_range
    dashboard.drag_across(0.2, 0.4)
    button = dashboard.page.get_by_role("button", name="Whole step")
    expect(button).to_be_enabled()
    dashboard.page.locator(".st-key-timeline .nsewdrag").first.dblclick()
    assert dashboard.time_range == whole
    expect(button).to_be_disabled()


def test_two_closer_looks_in_a_row_end_at_the_second(visit):
    dashboard = visit(SMALL).wait_for_title("4 stages").settle()
    _, end = dashboard.time_range
    dashboard.drag_across(0.0, 0.5)
    dashboard.drag_across(0.5, 1.0)
    expect(dashboard.page.get_by_text(f"{dashboard.blocks} blocks")).to_be_visible()
    dashboard.settle()
    assert dashboard.time_range == pytest.approx([0.25 * end, 0.5 * end], abs=0.01 * end)


def test_other_data_keep_the_closer_look(visit):
    dashboard = visit(SMALL).wait_for_title("4 stages").settle()
    dashboard.drag_across(0.2, 0.4)
    closer = dashboard.time_range
    dashboard.slide("micro_batches", 1)
    dashboard.wait_for_title("9 micro-batches").settle()
    assert dashboard.time_range == closer


def test_a_hover_tells_all_about_a_block(visit):
    dashboard = visit(SMALL).wait_for_title("4 stages").settle()
    dashboard.page.locator(".st-key-timeline .nsewdrag").first.scroll_into_view_if_needed()
    bar = dashboard.page.locator(".st-key-timeline .barlayer .point path").first.bounding_box()
    dashboard.page.mouse.move(bar["x"] + bar["width"] / 2, bar["y"] + bar["height"] / 2)
    hover = dashboard.page.locator(".st-key-timeline .hoverlayer")
    expect(hover).to_contain_text("Forward of micro-batch 0")
    expect(hover).to_contain_text("stage 0, chunk 0, warm-up")
    expect(hover).to_contain_text("0 → 1 units")


def test_without_our_plotly_streamlit_draws(visit):
    dashboard = visit(SMALL, unreachable="**/app/static/plotly-*").wait_for_title("4 stages").settle()
    expect(dashboard.page.locator(".st-key-timeline [data-testid=stPlotlyChart]")).to_be_visible()
    whole = dashboard.blocks
    assert whole == dashboard.painted_blocks == 2 * 4 * 8
    dashboard.drag_across(0.25, 0.5)
    dashboard.page.wait_for_function(
        "() => document.querySelector('.st-key-timeline .js-plotly-plot')?.layout.xaxis.range[0] > 0"
    )
    assert 0 < dashboard.blocks < whole
