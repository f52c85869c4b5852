"""Links with hostile parameters: the page says what it cannot do and shows what it would show without them."""

import re
from pathlib import Path

import pytest

from tests.hostile import named
from tests.pages.opened import Opened

PAGES = Path(__file__).parents[2] / "pages"
LINKED = sorted(
    {
        key
        for file in PAGES.rglob("*.py")
        if 'bind="query-params"' in (text := file.read_text(encoding="utf-8"))
        for key in re.findall(r'"([a-z_0-9]+)"', text)
    }
)
"""Every word of a page that has controls in links: their keys are among them."""
VALUES = ("9" * 400, "NaN", "-1", "1e308", "null", "[]", "a\x00\u202e", "x" * 100_000, named.NAME, "../../etc/passwd")
OWN_STATE = ("outcome", "upload", "entered", "session", "link", "link_notices", "kept_scenarios", "profile_file", "x")
"""What a session keeps under such keys no link may ask for."""


def test_the_parameters_are_known():
    assert len(LINKED) > 25
    assert {"stages", "profile", "sweep_limits", "sweep_scheduler", "pins"} <= set(LINKED)


@pytest.mark.parametrize("page", [None, "pages/sweep.py"])
@pytest.mark.parametrize("number", range(0, len(VALUES), 5))
def test_hostile_parameters_are_refused_in_sentences(page, number):
    """Every parameter gets another one of the values."""
    link = {key: VALUES[(number + place) % len(VALUES)] for place, key in enumerate((*LINKED, *OWN_STATE, "kept"))}
    opened = Opened(page, **link)
    assert "Outcome(" not in opened.said
    assert "Upload(" not in opened.said
    assert max(map(len, opened.said.splitlines()), default=0) < 1_000
