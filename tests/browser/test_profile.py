"""The Profile page in Chromium."""

import json

from playwright.sync_api import expect

from tests.profiles.configs import CONFIGS


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
