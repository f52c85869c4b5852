"""My plan in Chromium: the table is a canvas, so only a browser types into it."""

from playwright.sync_api import expect

ROW, HEADER = 35, 17


def type_in(dashboard, row, column, number):
    """Type into a cell of the table: rows from 1, columns from the left."""
    table = dashboard.settle().page.get_by_test_id("stDataFrame").first
    table.scroll_into_view_if_needed()
    widths = [64, 84, 84, 84, 84, 64, 84]
    box = table.bounding_box()
    stretched = box["width"] / sum(widths)
    dashboard.page.mouse.click(
        box["x"] + stretched * (sum(widths[:column]) + widths[column] / 2), box["y"] + HEADER + ROW * row
    )
    dashboard.page.keyboard.press("Enter")
    field = dashboard.page.locator("input.gdg-input")
    field.fill(str(number))
    expect(field).to_have_value(str(number))
    field.press("Enter")
    expect(field).to_have_count(0)


def test_numbers_are_typed_simulated_pinned_and_balanced_from(visit):
    dashboard = visit("?profile=llama2_70b").wait_for_title("8 stages").wait_until_balanced()
    page = dashboard.page
    headline = dashboard.numbers
    page.get_by_role("tab", name="My plan").click()
    expect(page.get_by_text("Layers of each cell")).to_be_visible()
    # Column 1 is `none`: stage 7 has 12 layers there, stage 6 has 13.
    type_in(dashboard, 8, 1, 14)
    expect(page.get_by_text("2 too many")).to_be_visible()
    expect(page.get_by_text("My plan: step time")).to_have_count(0)
    type_in(dashboard, 7, 1, 11)
    expect(page.get_by_text("My plan: step time")).to_be_visible()
    expect(page.get_by_text("Stage 7: 12 → 14 layers.")).to_be_visible()
    assert dashboard.numbers[:4] == headline
    type_in(dashboard, 8, 6, 14)
    expect(page.get_by_text("pinned layers none → 0.7:14")).to_be_visible()
    assert "pins=0.7" in page.url
    page.get_by_role("button", name="Balance from here").click()
    expect(page.get_by_text("pinned layers none")).to_have_count(0)
    dashboard.wait_until_balanced()
    expect(page.get_by_text("My plan: step time")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("My plan: step time")).to_have_count(0)
