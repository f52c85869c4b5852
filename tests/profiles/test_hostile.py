"""Damaged and hostile `config.json` and dry-run files: they are read, or refused with sentences; nothing else happens."""

import json
from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sapp_core.errors import ProfileError
from sapp_core.profiles.config import load_config
from sapp_core.profiles.dry_run_profile import solve_dry_run
from sapp_core.profiles.load import load_profile
from sapp_core.profiles.training_setup import Device, TrainingSetup
from sapp_core.profiles.transformer import estimate
from tests.profiles.configs import CONFIGS
from tests.profiles.dry_runs import CASES, TIMES

ODD = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.integers(0, 5), st.floats(-1e300, 1e300), st.text(max_size=5),
    st.just([]), st.just({}), st.just([[]]), st.lists(st.integers(-3, 30), max_size=18), st.just([[0] * 4, [1] * 4]),
)  # fmt: skip
SETUP = TrainingSetup(Device("any", 1000, 50, 80, ""))
DRY_RUNS = [case["yaml"] | {"time_config": TIMES} for case in CASES.values() if "yaml" in case]


def check(error: ProfileError) -> None:
    assert error.problems
    assert all(problem.endswith(".") and problem.isprintable() for problem in error.problems), error.problems


def places(document: object) -> list[tuple[dict | list, object]]:
    """(container, key) of every value."""
    found = []
    for key in list(document) if isinstance(document, dict) else range(len(document)):
        found.append((document, key))
        if isinstance(document[key], dict | list):
            found += places(document[key])
    return found


@st.composite
def damaged(draw, documents) -> bytes:
    document = deepcopy(draw(st.sampled_from(documents)))
    for _ in range(draw(st.integers(1, 3))):
        container, key = draw(st.sampled_from(places(document)))
        if draw(st.booleans()) and isinstance(container, dict):
            container.pop(key, None)
        else:
            container[key] = draw(ODD)
    return json.dumps(document).encode()


@given(data=damaged(list(CONFIGS.values())))
@settings(max_examples=150)
def test_a_damaged_config_is_estimated_or_refused(data):
    try:
        made = estimate(load_config(data, "config.json").shape, SETUP)
    except ProfileError as error:
        check(error)
    else:
        assert all(number.value >= 0 for number in made.numbers)


@given(data=damaged(DRY_RUNS))
@settings(max_examples=150)
def test_a_damaged_dry_run_is_a_profile_or_refused(data):
    for read in (load_profile, solve_dry_run):
        try:
            read(data, "run.yaml")
        except ProfileError as error:
            check(error)


HOSTILE = {
    "deep": b'{"a":' * 5000,
    "alias bomb": b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\npipeline_config: *a\nmemory_usage: *b\n",
    "tag": b"!!python/object/apply:os.system ['true']",
    "huge number": b'{"model_type": "llama", "hidden_size": 1' + b"0" * 400 + b"}",
    "not utf-8": '{"model_type": "größe"}'.encode("utf-16"),
    "zip": b"PK\x03\x04" + bytes(100),
    "too large": b" " * (3 * 1024 * 1024),
    "script": b'{"model_type": "<script>alert(1)</script>"}',
    "many keys": json.dumps({f"k{i}": i for i in range(50_000)}).encode(),
    "stages": b"pipeline_config: {pipeline_num: 1000000000, num_layer: 1000000000, offset: 0}\nmemory_usage: {}\n",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("read", [load_config, load_profile, solve_dry_run])
def test_hostile_files_get_sentences(name, read):
    with pytest.raises(ProfileError) as caught:
        read(HOSTILE[name], "../../etc/passwd")
    check(caught.value)
