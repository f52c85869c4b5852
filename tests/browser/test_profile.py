"""The Profile page in Chromium."""

import json

from playwright.sync_api import expect

from tests.profiles.configs import CONFIGS
from tests.profiles.traces import event, written


def test_from_a_config_to_a_balanced_plan(visit, tmp_path):
    config = tmp_path / "config.json"
    config.write_text(json.dumps(CONFIGS["llama"]), encoding="utf-8")
    dashboard = visit("profile")
    page = dashboard.page
    expect(page.get_by_text("What a layer costs")).to_be_visible()
    page.get_by_text("Hyper-parameters", exact=True).click()
    page.locator("summary", has_text="Upload a config.json").click()
    page.locator(".st-key-config_file input[type=file]").set_input_files(config)
    expect(page.get_by_text("Read: config.")).to_be_visible()
    expect(page.get_by_text("8.03 billion parameters")).to_be_visible()
    dashboard.settle()
    page.get_by_role("button", name="Use in Balance").click()
    expect(page.get_by_role("heading", name="Pipeline balance")).to_be_visible()
    dashboard.wait_for_title("config").wait_until_balanced()
    expect(page.get_by_text("Your file: config.")).to_be_visible()
    # The way back shows the model and setup that were chosen.
    page.get_by_role("link", name="Profile").click()
    expect(page.get_by_text("8.03 billion parameters")).to_be_visible()


def test_from_a_trace_larger_than_other_uploads(visit, tmp_path):
    trace = tmp_path / "trace.json"
    layers = [event(f"layer {i % 4}", 100 * i, 50 + i % 4) for i in range(40)]
    ops = [event("aten::mm", i, 1, args={"Input Dims": "1, " * 1000}) for i in range(4_000)]
    trace.write_bytes(written(layers + ops))
    assert trace.stat().st_size > 11 * 2**20, "more than anything else takes"
    dashboard = visit("profile")
    page = dashboard.page
    page.get_by_text("Profiler trace", exact=True).click()
    page.locator(".st-key-trace_files input[type=file]").set_input_files(trace)
    expect(page.get_by_text("Timed events: 4,040")).to_be_visible()
    expect(page.get_by_text("What a layer costs")).to_be_visible()
    expect(page.get_by_text("the layers of the trace, 4, count as all of the model")).to_be_visible()
