"""Legal profile documents for tests: one by hand, and a strategy for any number of them."""

import json
from copy import deepcopy

import pytest
import yaml
from hypothesis import strategies as st

from sapp_core.errors import ProfileError
from sapp_core.profiles.load import LoadedProfile, load_profile

# The words of the format, written down a second time on purpose: a test must not read them from the code it tests.
MODES = {
    "none": ("memory_activation", "backward_time", "backward_coef", 0.0),
    "select": ("memory_select_rec", "select_rec_time", "select_rec_coef", 0.04),
    "comm": ("memory_select_comm", "select_comm_time", "select_comm_coef", 0.125),
    "both": ("memory_both_comm_select", "both_comm_select_time", "both_comm_select_coef", 0.165),
    "full": ("memory_recompute", "recompute_time", "recompute_coef", 0.5),
}
TRAINING = (
    "batch_size", "num_heads", "seq_length", "head_dim", "hidden_size", "intermediate_size", "vocab_size", "model_parallel",
)  # fmt: skip

_LEGAL = {
    "name": "tiny",
    "stage_const_mem": 100,
    "time_unit": "us",
    "memory_limit": 9000,
    "training": {"batch_size": 1, "num_heads": 8},
    "layers_description": [
        {"name": "Embed", "type": "HEAD", "nb_layer": 1, "time": 13, "memory_parameter": 900},
        {
            "name": "Block",
            "type": "BODY",
            "nb_layer": 24,
            "time": 100,
            "memory_parameter": 170,
            "memory_activation": 99,
            "memory_select_rec": 73,
            "memory_recompute": 3,
        },
        {"name": "Loss", "type": "TAIL", "nb_layer": 1, "time": 113, "memory_parameter": 500},
    ],
}


def legal() -> dict:
    """A small profile that loads without a warning; a fresh copy each time."""
    return deepcopy(_LEGAL)


def with_body(**values: object) -> dict:
    """The legal profile with some keys of its body set."""
    document = legal()
    document["layers_description"][1].update(values)
    return document


def body_without(*keys: str) -> dict:
    """The legal profile with some keys of its body left out."""
    document = legal()
    for key in keys:
        del document["layers_description"][1][key]
    return document


def load(document: object) -> LoadedProfile:
    return load_profile(to_json(document), "dir/file.json")


def problems_of(document: object) -> tuple[str, ...]:
    """The sentences that refuse a document."""
    with pytest.raises(ProfileError) as caught:
        load(document)
    return caught.value.problems


def to_json(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


def to_yaml(document: object) -> bytes:
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True).encode()


def _numbers(most: float) -> st.SearchStrategy:
    return st.integers(0, int(most)) | st.floats(0, most)


_TIMES = _numbers(1e6)
_MEMORY = _numbers(1e6)
_COEFFICIENTS = st.floats(0, 3)
# Names start with a letter: PyYAML writes the text 1e3 without quotes, and YAML 1.2 reads a number there.
_NAMES = st.text(st.characters(codec="utf-8", categories=("L", "N", "P")), max_size=12).map(lambda text: "x" + text)


@st.composite
def _layers(draw: st.DrawFn, name: str, kind: str, memory_keys: list[str]) -> dict:
    layer = {"name": name, "type": kind, "nb_layer": draw(st.integers(1, 40))}
    # Above 0, so that no profile consists of zeros only.
    layer["time"] = draw(st.integers(1, 10**6) | st.floats(1e-3, 1e6))
    if draw(st.booleans()):
        layer["forward_time"] = draw(_TIMES)
    if kind == "BODY" or draw(st.booleans()):
        layer["memory_parameter"] = draw(_MEMORY)
    for memory, time, coefficient, _ in MODES.values():
        if memory in memory_keys:
            layer[memory] = draw(_MEMORY)
        if draw(st.booleans()):
            layer[time] = draw(_TIMES)
        if draw(st.booleans()):
            layer[coefficient] = draw(_COEFFICIENTS)
    if draw(st.booleans()):
        layer["model_name"] = "ignored"
    return layer


@st.composite
def legal_documents(draw: st.DrawFn) -> dict:
    """Any profile without a mistake: several body kinds, some modes, any optional key given or left out."""
    shared = draw(st.lists(st.sampled_from([keys[0] for keys in MODES.values()]), unique=True, min_size=1))
    bodies = draw(st.integers(1, 3))
    ends = [kind for kind in ("HEAD", "TAIL") if draw(st.booleans())]
    names = draw(st.lists(_NAMES, min_size=bodies + len(ends), max_size=bodies + len(ends), unique=True))
    kinds = draw(st.permutations(["BODY"] * bodies + ends))
    document = {
        "layers_description": [
            draw(_layers(name, kind, shared if kind == "BODY" else draw(st.sampled_from([[], ["memory_activation"]]))))
            for name, kind in zip(names, kinds, strict=True)
        ]
    }
    for key, values in (
        ("name", _NAMES),
        ("stage_const_mem", _MEMORY),
        ("time_unit", st.sampled_from(["ms", "µs", "cycles"])),
        ("memory_limit", st.integers(1, 10**6)),
        ("training", st.dictionaries(st.sampled_from(TRAINING), st.integers(1, 10**6))),
        ("pre_defined_layer", st.just({"Embed": 0})),
    ):
        if draw(st.booleans()):
            document[key] = draw(values)
    # Some layer must take time, or there is nothing to balance.
    first = document["layers_description"][0]
    first["forward_time" if "forward_time" in first else "time"] += 1
    return document
