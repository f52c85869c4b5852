"""What a person does on the page, and what there is to see."""

from playwright.sync_api import Page, expect

_GRAPH = "document.querySelector('.st-key-{key} .js-plotly-plot')"


class Dashboard:
    """One open page."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def graph(self, expression: str, key: str = "timeline"):
        """A value of a chart, `g` being its element."""
        return self.page.evaluate(f"(() => {{ const g = {_GRAPH.format(key=key)}; return {expression}; }})()")

    def wait_for_title(self, text: str, key: str = "timeline") -> "Dashboard":
        """Until a chart says something in its title, on one line or two, and is painted."""
        graph = _GRAPH.format(key=key)
        self.page.wait_for_function(
            f"text => {{ const g = {graph}; return g && g.layout && g.layout.title.text.replaceAll('<br>', ' · ').includes(text) "
            "&& g.querySelector('.cartesianlayer path, .cartesianlayer image'); }",
            arg=text,
        )
        return self

    def wait_until_balanced(self) -> "Dashboard":
        """Until nothing runs and the numbers belong to the controls."""
        gap = self.page.get_by_test_id("stMetricLabel").get_by_text("Certified gap", exact=True)
        # While Streamlit puts the new numbers in, the old ones may still be beside them.
        expect(gap.first).to_be_visible()
        for words in ("Not balanced yet", "Stale"):
            expect(self.page.get_by_text(words)).to_have_count(0)
        expect(self.page.get_by_role("button", name="Cancel")).to_have_count(0)
        return self

    def settle(self) -> "Dashboard":
        """Until the script has ended and nothing of its previous run is left on the page."""
        self.page.wait_for_function(
            "() => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning' "
            "&& !document.querySelector('[data-stale=true]')"
        )
        return self

    def balance(self) -> None:
        self.page.get_by_role("button", name="Balance", exact=True).click()

    def slide(self, key: str, steps: int) -> None:
        """Move a slider with the arrow keys."""
        thumb = self.page.locator(f".st-key-{key} input[type=range]")
        thumb.focus()
        for _ in range(abs(steps)):
            thumb.press("ArrowRight" if steps > 0 else "ArrowLeft")

    def drag_across(self, first: float, last: float, key: str = "timeline") -> None:
        """Draw a box from one part of a chart's width to another."""
        area = self.page.locator(f".st-key-{key} .nsewdrag").first
        area.scroll_into_view_if_needed()
        box = area.bounding_box()
        x = [box["x"] + box["width"] * part for part in (first, (first + last) / 2, last)]
        y = box["y"] + box["height"] / 2
        self.page.mouse.move(x[0], y - 30)
        self.page.mouse.down()
        self.page.mouse.move(x[1], y, steps=4)
        self.page.mouse.move(x[2], y + 30, steps=4)
        self.page.mouse.up()

    def check_legend(self, key: str) -> None:
        """The legend of a chart neither covers the time axis's title nor runs out of the chart."""
        legend, axis_title, chart = (
            self.page.locator(f".st-key-{key} {part}").bounding_box()
            for part in (".legend", ".xtitle", ".js-plotly-plot")
        )
        assert axis_title["y"] + axis_title["height"] <= legend["y"] + 3
        assert legend["y"] + legend["height"] <= chart["y"] + chart["height"] + 1
        assert legend["x"] + legend["width"] <= chart["x"] + chart["width"] + 1

    @property
    def numbers(self) -> list[str]:
        """Headline numbers."""
        return self.settle().page.get_by_test_id("stMetricValue").all_inner_texts()

    def expect_numbers(self, numbers: list[str]) -> None:
        """Wait until these are the headline numbers, and no others."""
        expect(self.page.get_by_test_id("stMetricValue")).to_have_text(numbers)

    @property
    def blocks(self) -> int:
        """Ops in the timeline's data."""
        return self.graph("g.data.filter(t => t.type === 'bar').reduce((n, t) => n + t.hovertext.length, 0)")

    @property
    def painted_blocks(self) -> int:
        """Ops that are drawn."""
        return self.graph("g.querySelectorAll('.barlayer .point path').length")

    @property
    def time_range(self) -> list[float]:
        """Visible time of the timeline."""
        return self.graph("[...g.layout.xaxis.range]")
