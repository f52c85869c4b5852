"""The list of kept scenarios as a value, and as a part of a link."""

import base64
import json
import zlib
from dataclasses import replace
from random import Random
from string import ascii_letters

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.shared import kept
from pages.shared.kept import MOST_KEPT, MOST_SHOWN, Shelf
from pages.shared.kept_link import LONGEST, from_link, to_link
from pages.shared.sources import sample
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import even_split
from sapp_core.domain.request import BalanceRequest, Pin
from sapp_core.domain.scenario import Scenario
from sapp_core.errors import FormatError, SappError
from sapp_core.interchange.comparison import LONGEST_NAME
from tests.charts import scenes


def scenario(stages=4, *, profile=None, limit=None, schedule="1f1b", chunks=1, **more) -> Scenario:
    return Scenario(profile or scenes.profile(), schedule, Pipeline(stages, 8, chunks, **more), BalanceRequest(limit))


def shelf_of(*scenarios: Scenario) -> Shelf:
    shelf: Shelf = ()
    for one in scenarios:
        shelf = kept.add(shelf, one, even_split(one.profile, one.pipeline), None)
    return shelf


def names(shelf: Shelf) -> list[str]:
    return [entry.name for entry in shelf]


def test_names_say_what_is_special():
    shelf = shelf_of(scenario(), scenario(limit=5000.0), scenario(schedule="vpp", chunks=3), scenario(p2p_time=2.0))
    assert names(shelf) == [
        "1f1b · 4×1 · 8 mb",
        "1f1b · 4×1 · 8 mb · memory limit 5,000 MiB",
        "vpp · 4×3 · 8 mb",
        "1f1b · 4×1 · 8 mb · transfer time 2 ms",
    ]


def test_the_same_is_kept_once_and_there_is_an_end():
    shelf = shelf_of(*(scenario(stages) for stages in range(1, MOST_KEPT + 1)))
    assert kept.num_shown(shelf) == MOST_SHOWN
    assert shelf_of(*(entry.scenario for entry in shelf), scenario(1)) == shelf
    with pytest.raises(SappError, match="Up to 12 scenarios can be kept"):
        kept.add(shelf, scenario(24), even_split(scenes.profile(), Pipeline(24, 8)), None)


def test_no_more_than_six_are_shown():
    shelf = shelf_of(*(scenario(stages) for stages in range(1, 8)))
    assert kept.toggled(shelf, shelf[6].number) == shelf
    swapped = kept.toggled(kept.toggled(shelf, shelf[0].number), shelf[6].number)
    assert [entry.is_shown for entry in swapped] == [False, *[True] * 6]


def test_rename_move_and_delete():
    shelf = shelf_of(scenario(1), scenario(2), scenario(3))
    first, second, third = (entry.number for entry in shelf)
    assert names(kept.renamed(shelf, second, "  my\n best  "))[1] == "my best"
    assert kept.renamed(shelf, second, "  ") == shelf
    assert names(kept.renamed(shelf, second, shelf[0].name))[1] == f"{shelf[0].name} (2)"
    assert kept.renamed(shelf, second, shelf[1].name) == shelf
    order = [entry.number for entry in kept.moved(shelf, third, -1)]
    assert order == [first, third, second]
    assert kept.moved(shelf, first, -1) == kept.moved(shelf, 99, 1) == shelf
    assert [entry.number for entry in kept.without(shelf, second)] == [first, third]
    # A number is not given again while others are there.
    again = kept.add(kept.without(shelf, second), scenario(5), even_split(scenes.profile(), Pipeline(5, 8)), None)
    assert len({entry.number for entry in again}) == 3


@given(st.lists(st.text(max_size=100), min_size=1, max_size=MOST_KEPT))
def test_names_stay_different_short_and_on_one_line(wanted):
    shelf = shelf_of(*(scenario(stages) for stages in range(1, len(wanted) + 1)))
    for entry, name in zip(shelf, wanted, strict=True):
        shelf = kept.renamed(shelf, entry.number, name)
    found = names(shelf)
    assert len(set(found)) == len(found)
    assert all(name.isprintable() and 0 < len(name) <= LONGEST_NAME for name in found)


# links


def samples(count: int) -> Shelf:
    profile = replace(sample("llama2_70b").profile, constant_mb=64.0)
    shelf = shelf_of(*(scenario(stages, profile=profile, limit=50_000.0) for stages in range(4, 4 + count)))
    return tuple(replace(entry, is_shown=bool(index % 2)) for index, entry in enumerate(shelf))


def packed(document: object) -> str:
    return base64.urlsafe_b64encode(zlib.compress(json.dumps(document).encode())).decode().rstrip("=")


def test_a_link_brings_scenarios_plans_names_and_ticks_back():
    shelf = samples(6)
    shelf = (
        replace(shelf[0], scenario=replace(shelf[0].scenario, request=BalanceRequest(1e4, pinned=(Pin(0, 1, 3),)))),
        *shelf[1:],
    )
    text = to_link(shelf)
    assert len(text) < LONGEST
    assert text.replace("-", "").replace("_", "").isalnum()
    assert [
        (found.name, found.saved.scenario, found.saved.plan, found.is_shown) for found in from_link(text).scenarios
    ] == [(entry.name, entry.scenario, entry.plan, entry.is_shown) for entry in shelf]


def test_an_uploaded_profile_never_enters_a_link():
    assert to_link(shelf_of(scenario())) is None
    assert to_link((*samples(1), *shelf_of(scenario()))) is None


def test_too_much_for_a_link_is_no_link():
    random = Random(7)
    names = ["".join(random.choices(ascii_letters, k=80)) for _ in range(MOST_KEPT)]
    shelf = samples(MOST_KEPT)
    assert to_link(tuple(replace(entry, name=name) for entry, name in zip(shelf, names, strict=True))) is not None
    wide = "".join(map(chr, random.sample(range(0x4E00, 0x9FA5), 80 * MOST_KEPT)))
    names = [wide[80 * i : 80 * (i + 1)] for i in range(MOST_KEPT)]
    assert to_link(tuple(replace(entry, name=name) for entry, name in zip(shelf, names, strict=True))) is None


@pytest.mark.parametrize(
    "text",
    ["x", "####", packed([])[:-4], "A" * (LONGEST + 1), packed("x" * 2_000_000), base64.b64encode(b"x").decode()],
)
def test_a_link_that_was_cut_is_refused_in_one_sentence(text):
    with pytest.raises(FormatError, match="this part of the link was cut or changed"):
        from_link(text)


@pytest.mark.parametrize("document", [[], 5, {}, {"scenarios": 5}, {"comparison_version": 1, "scenarios": [5]}])
def test_a_link_that_holds_something_else_is_refused(document):
    with pytest.raises(FormatError):
        from_link(packed(document))


@pytest.mark.parametrize("profile", [None, {}, {"sample": "../x"}, {"sample": ["llama2_70b"]}, {"sample": "template"}])
def test_a_link_names_samples_only(profile):
    with pytest.raises(FormatError, match="is no sample of this server"):
        from_link(packed({"comparison_version": 1, "scenarios": [{"profile": profile}]}))
