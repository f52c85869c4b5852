"""A room full of people: twenty visitors and three browsers on one server, each with ten what-ifs of their own."""

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import median

from playwright.sync_api import expect, sync_playwright

from tests.browser.dashboard import Dashboard
from tests.browser.server import CHROMIUM, FLAGS, Server
from tests.browser.visitor import Visitor, even_split_sentence

VISITORS, BROWSERS, WHAT_IFS = 20, 3, 10
MOST_SECONDS = 600
"""For any one answer: all others may be in front of it in the queue."""
LEAVING_SECONDS = 30
LINK = {"profile": "small32", "stages": "4", "time_limit": "5"}
WORST = {"profile": "sim192", "schedule": "vpp", "stages": "16", "interleave": "6", "micro_batches": "512"}


def main() -> None:
    """Print a table; anything that went wrong is an exception."""
    server = Server()
    try:
        with Visitor(server.url, **LINK, micro_batches="4") as first:
            first.until_balanced(MOST_SECONDS)
        print("| what | found |\n| --- | --- |")
        _row("memory of the server with one visitor, MiB", f"{server.memory_mb():.0f}")
        begun = time.perf_counter()
        with ThreadPoolExecutor(VISITORS + BROWSERS) as pool:
            visits = [pool.submit(_visit, server.url, number) for number in range(VISITORS)]
            visits += [pool.submit(_browse, server.url, VISITORS + number) for number in range(BROWSERS)]
            highest, most_workers = _watch(server, lambda: all(visit.done() for visit in visits))
            waits = sorted(wait for visit in visits for wait in visit.result())
        _row("what-ifs answered, every one with the numbers of its own settings", f"{len(waits):,}")
        _row("time for all, s", f"{time.perf_counter() - begun:.0f}")
        _row("from the press of Balance to the answer: median, longest, s", f"{median(waits):.1f}, {waits[-1]:.1f}")
        _row("most workers at a time", str(most_workers))
        _row("memory of the server: highest, MiB", f"{highest:.0f}")
        _leaving(server)
        _row("memory of the server after all have left, MiB", f"{server.memory_mb():.0f}")
        _worst(server)
        _row("load of the machine, mean of the last 5 minutes", f"{os.getloadavg()[1]:.1f}")
    finally:
        server.stop()


def _settings(number: int) -> range:
    """Micro-batches of the what-ifs of a visitor; nobody else has any of them."""
    return range(5 + number, 5 + number + (VISITORS + BROWSERS) * WHAT_IFS, VISITORS + BROWSERS)


def _visit(url: str, number: int) -> list[float]:
    """Ten what-ifs; seconds from each press to its answer."""
    waits = []
    with Visitor(url, **LINK, micro_batches="4") as visitor:
        visitor.until_balanced(MOST_SECONDS)
        for micro_batches in _settings(number):
            visitor.slide("Micro-batches", micro_batches)
            begun = time.perf_counter()
            visitor.press("Balance")
            visitor.until_balanced(MOST_SECONDS)
            waits.append(time.perf_counter() - begun)
            assert even_split_sentence(micro_batches) in visitor.said, (micro_batches, visitor.said)
    return waits


def _browse(url: str, number: int) -> list[float]:
    """The same in Chromium, by links: a slider would take hundreds of key presses."""
    waits = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(MOST_SECONDS * 1000)
        expect.set_options(timeout=MOST_SECONDS * 1000)
        link = "&".join(f"{key}={value}" for key, value in LINK.items())
        for micro_batches in _settings(number):
            begun = time.perf_counter()
            page.goto(f"{url}?{link}&micro_batches={micro_batches}")
            expect(page.get_by_text(even_split_sentence(micro_batches))).to_be_visible()
            Dashboard(page).wait_until_balanced()
            waits.append(time.perf_counter() - begun)
        browser.close()
    return waits


def _watch(server: Server, is_over: Callable[[], bool]) -> tuple[float, int]:
    """Highest memory of the server and most workers it had at a time."""
    highest, most = 0.0, 0
    while not is_over():
        highest, most = max(highest, server.memory_mb()), max(most, len(server.children()))
        time.sleep(0.1)
    return highest, most


def _leaving(server: Server) -> None:
    """Three start a long run and close their tabs; nothing may be left of them."""
    tabs = [Visitor(server.url, **WORST, time_limit="300", p2p_time=str(100 + number)) for number in range(3)]
    for tab in tabs:
        tab.until(lambda tab=tab: tab.waits, MOST_SECONDS)
    assert server.children()
    begun = time.perf_counter()
    for tab in tabs:
        tab.leave()
    while server.children():
        assert time.perf_counter() - begun < LEAVING_SECONDS, "runs of visitors who left go on"
        time.sleep(0.1)
    _row("three close their tabs in long runs: their processes are gone after, s", f"{time.perf_counter() - begun:.1f}")


def _worst(server: Server) -> None:
    """One visitor whose every what-if has 98,304 ops."""
    highest = 0.0
    for number in range(10):
        with Visitor(server.url, **WORST, time_limit="5", p2p_time=str(number + 1)) as visitor:
            visitor.until_balanced(MOST_SECONDS)
            highest = max(highest, server.memory_mb())
    _row("memory of the server: highest in ten what-ifs of 98,304 ops, MiB", f"{highest:.0f}")


def _row(what: str, found: str) -> None:
    print(f"| {what} | {found} |", flush=True)


if __name__ == "__main__":
    main()
