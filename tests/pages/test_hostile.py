"""Hostile uploads, texts and links: a sentence or a legal value, and nothing that was there before is lost."""

import pytest

from tests.hostile.fields import FIELDS
from tests.hostile.harness import SMALL, try_all

WATCHDOG_SECONDS = 120


@pytest.mark.parametrize("name", [field.name for field in FIELDS])
def test_every_field_answers_hostile_contents_with_sentences(name):
    tried = try_all(name, SMALL, 7, WATCHDOG_SECONDS)
    assert tried[0].taken, f"the legal content: {tried[0].failure}"
    assert not [f"{each.name}: {each.failure}" for each in tried if each.failure]
