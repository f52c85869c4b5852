"""Patterns for names of events."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.errors import ProfileError
from sapp_core.profiles.trace_patterns import read_pattern


def layer_of(pattern: str, name: str) -> int | None:
    found = (alternative.names.layer_of(name) for alternative in read_pattern(pattern).alternatives)
    return next((layer for layer in found if layer is not None), None)


@pytest.mark.parametrize(
    ("pattern", "name", "layer"),
    [
        ("nn.Module: LlamaDecoderLayer_#", "nn.Module: LlamaDecoderLayer_12", 12),
        ("nn.Module: LlamaDecoderLayer_#", "nn.Module: LlamaDecoderLayer_12.attn", None),
        ("Default/*layers/#-*", "Default/net/layers/3-DecoderLayer/MatMul-op77", 3),
        ("Default/*layers/#-*", "Gradients/Default/net/layers/3-DecoderLayer/MatMul", None),
        ("*layers/#-*", "x/layers/encoder/layers/3-D/y", 3),
        ("*#", "Layer_123", 123),
        ("#*", "12x", 12),
        ("layer # forward | block_#", "block_7", 7),
        ("embed*", "embedding", -1),
        ("a.b", "aXb", None),
        ("a[0-9]", "a[0-9]", -1),
        ("*", "anything\nat all", -1),
        ("*a*a*", "ba", None),
        ("layer #", "layer 9999999999", None),
    ],
)
def test_what_matches(pattern, name, layer):
    assert layer_of(pattern, name) == layer


@given(st.text("ab*", max_size=6).filter(str.strip), st.text("ab", max_size=8))
def test_stars_mean_what_they_mean_in_regular_expressions(pattern, name):
    plain = re.fullmatch(pattern.replace("*", ".*"), name)
    assert (layer_of(pattern, name) is not None) == bool(plain)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("", "must not be empty"),
        (" | ", "must not be empty"),
        ("#a#", "at most one #"),
        ("# > a", "none before >"),
        ("a > b > #", "at most one >"),
        ("x" * 3000, "2,000"),
    ],
)
def test_what_is_refused(pattern, said):
    with pytest.raises(ProfileError, match=said):
        read_pattern(pattern)


def test_no_pattern_takes_long_on_any_name():
    begun = time.process_time()
    assert layer_of("*a" * 400 + "b", "a" * 5000) is None
    assert time.process_time() - begun < 5, "regular expressions would take ages"
