"""A server and a browser: the dashboard as people meet it."""

from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.dashboard import Dashboard
from tests.browser.server import CHROMIUM, FLAGS, Server

expect.set_options(timeout=40_000)


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """With a home and a place for temporary files of its own, where nothing may be left in the end."""
    home, temporary = (tmp_path_factory.mktemp(name) for name in ("home", "temporary"))
    running = Server(environment={"HOME": str(home), "TMPDIR": str(temporary)})
    yield running
    running.stop()
    assert [*home.rglob("*"), *temporary.rglob("*")] == []


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def visit(browser, server):
    """Open the dashboard in a fresh browser profile; nothing may fail or leave the machine."""
    contexts = []
    problems = []

    def open_page(link="", width=1440, height=900, scheme="light", unreachable=None):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, accept_downloads=True
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(40_000)
        page.on("pageerror", lambda error: problems.append(f"error in the page: {error}"))
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith((server.url, "data:", "blob:"))
                else problems.append(f"request to {request.url}")
            ),
        )
        if unreachable:
            page.route(unreachable, lambda route: route.abort())
        page.goto(link if link.startswith("http") else server.url + link)
        return Dashboard(page)

    yield open_page
    for context in contexts:
        context.close()
    assert not problems
