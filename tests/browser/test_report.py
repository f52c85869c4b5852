"""Reports on paper."""

from datetime import date

from sapp_core.domain.pipeline import Pipeline
from sapp_core.report.comparison import comparison_html
from tests.comparison.candidates import candidate

HATCHED = "() => document.querySelectorAll('.barlayer path[style*=\"url(\"]').length"


def comparison():
    """1F1B and a zero-bubble schedule, whose weight gradients are hatched."""
    both = [candidate(name, name, Pipeline(4, 16)) for name in ("1f1b", "zb-1p")]
    return comparison_html(both, both[0], date(2026, 1, 1))


def test_hatched_blocks_do_not_make_the_print_large(browser, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(comparison(), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1000, "height": 900}, offline=True)
    page.goto(file.as_uri())
    page.wait_for_function(f"() => ({HATCHED})() >= 64")
    before = page.evaluate(HATCHED)
    shapes = page.locator(".barlayer").evaluate_all("all => all.map(each => each.innerHTML)")
    printed = page.pdf(prefer_css_page_size=True)
    # A picture of each block would be 64 of them.
    assert printed.count(b"/Subtype /Image") < 16
    assert len(printed) < 2_000_000
    assert page.evaluate(HATCHED) == before
    assert page.locator(".barlayer").evaluate_all("all => all.map(each => each.innerHTML)") == shapes
    page.close()
