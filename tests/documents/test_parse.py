"""JSON and YAML text to plain values."""

import json
import math
from contextlib import suppress

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.documents.parse import MAX_BYTES, parse_document
from sapp_core.documents.tree import MAX_DEPTH
from sapp_core.errors import FormatError
from tests.profiles.documents import to_json, to_yaml


def _problems(data: bytes) -> tuple[str, ...]:
    with pytest.raises(FormatError) as caught:
        parse_document(data, "file.json")
    return caught.value.problems


_TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn")), max_size=8)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**300), 10**300) | st.floats(allow_nan=False, allow_infinity=False) | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(_VALUES)
def test_any_json_document_reads_as_the_standard_library_reads_it(value):
    text = json.dumps(value, ensure_ascii=False)
    assert repr(parse_document(text.encode(), "x")) == repr(json.loads(text))


@given(_VALUES)
def test_escaped_json_reads_the_same(value):
    assert repr(parse_document(json.dumps(value).encode(), "x")) == repr(value)


_WORDS = st.from_regex(r"[a-z][a-z -]{0,5}[a-z]", fullmatch=True)
_YAML_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.floats(0, 1e9) | _WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_WORDS, inner, max_size=4),
    max_leaves=12,
)


@given(_YAML_VALUES, st.booleans())
def test_yaml_in_block_and_flow_style_reads_what_was_written(value, flow):
    text = yaml.safe_dump({"key": value}, default_flow_style=flow, sort_keys=False)
    assert repr(parse_document(text.encode(), "x")) == repr({"key": value})


def test_text_that_starts_like_json_has_to_be_json():
    assert _problems(b'{"a": 1, b: 2}') == (
        "file.json: line 1, column 10 is not valid JSON: Expecting property name enclosed in double quotes.",
    )


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1e3", 1000.0),
        ("1.e-8", 1e-8),
        (".5", 0.5),
        ("+3", 3),
        ("-0.0", -0.0),
        ("12", 12),
        ("010", "010"),
        ("0x10", "0x10"),
        ("0o10", "0o10"),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("2024-01-31", "2024-01-31"),
        ("yes", "yes"),
        ("Off", "Off"),
        ("True", True),
        ("false", False),
        ("~", None),
        ("", None),
        ("null", None),
        ("'12'", "12"),
        ('"true"', "true"),
        ("|\n  two\n  lines", "two\nlines\n"),
        ("nan", "nan"),
        ("=", "="),
    ],
)
def test_yaml_scalars_are_those_of_the_core_of_yaml_1_2(written, value):
    found = parse_document(f"key: {written}\n".encode(), "x")
    assert repr(found) == repr({"key": value})


def test_content_decides_between_json_and_yaml():
    assert parse_document(b'\n\t {"a": 1}', "x.yaml") == {"a": 1}
    assert parse_document(b"a: 1", "x.json") == {"a": 1}
    assert parse_document(b"{a: 1, 'b': [x, .5]}", "x.json") == {"a": 1, "b": ["x", 0.5]}
    assert parse_document(b"---\na: 1\n...\n", "x") == {"a": 1}
    assert parse_document(b"3", "x") == 3
    assert parse_document(b"[]", "x") == []


@pytest.mark.parametrize("text", ["{'a': 1}", "[x]", "{a: 1}", "{ # comment\n  a: 1}", '{"a": 1}', "a: 1", "[[x]]"])
def test_a_byte_order_mark_changes_nothing(text):
    assert parse_document(b"\xef\xbb\xbf" + text.encode(), "x") == parse_document(text.encode(), "x")


def test_all_problems_of_a_document_are_reported_with_their_paths():
    data = b"a: .nan\nb:\n- {c: !!str x, c: 1}\n- *z\n- 1e400\n7: x\n'two words': [.inf]\n"
    assert [problem.partition(": ")[0] for problem in _problems(data)] == [
        "a",
        "b[0].c",
        "b[0].c",
        "b[1]",
        "b[2]",
        "file.json",
        '["two words"][0]',
    ]


def test_of_a_doubled_key_later_values_do_not_win_silently():
    assert _problems(b'{"a": {"b": 1, "b": 2}, "c": 3}') == ("a.b: the key is given twice; keep one of them.",)
    assert _problems(b"a:\n  b: 1\n  b: {c: 2}\n") == ("a.b: the key is given twice; keep one of them.",)
    # the same key in two mappings is no double
    assert parse_document(b'{"a": {"k": 1}, "b": {"k": 2}}', "x") == {"a": {"k": 1}, "b": {"k": 2}}


@pytest.mark.parametrize("write", [to_json, to_yaml])
def test_nesting_is_allowed_to_the_limit_and_not_beyond(write):
    value: object = "leaf"
    for _ in range(MAX_DEPTH):
        value = [value]
    assert parse_document(write(value), "x") == value
    (problem,) = _problems(write([value]))
    assert problem == f"{'[0]' * MAX_DEPTH}: mappings and lists may be nested {MAX_DEPTH} deep, found one more."


def test_brackets_in_json_strings_do_not_count_as_nesting():
    text = '\\"' + "[" * 50 + "\\\\"
    assert parse_document(f'{{"a": "{text}"}}'.encode(), "x") == {"a": '"' + "[" * 50 + "\\"}


def test_size_is_allowed_to_the_limit_and_not_beyond():
    data = b"a: 1 #"
    assert parse_document(data.ljust(MAX_BYTES, b"x"), "x") == {"a": 1}
    (problem,) = _problems(data.ljust(MAX_BYTES + 1, b"x"))
    assert "2 MB" in problem
    assert "2,097,153" in problem


@pytest.mark.parametrize("digits", [308, 309])
def test_whole_numbers_are_read_as_far_as_a_float_can_hold_them(digits):
    text = "1" + "0" * digits
    if digits == 308:
        assert parse_document(f'{{"a": {text}}}'.encode(), "x") == {"a": int(text)}
    else:
        assert _problems(f'{{"a": {text}}}'.encode()) == (
            "a: must be a finite number below 10^308, found a number of 310 characters.",
        )


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 300_000,
        b'{"a":' * 300_000,
        b'{"' + b'\\"' * 500_000,
        b'{"' + b'\\"' * 500_000 + b"\\",
        b"- " * 300_000,
        b"? " * 300_000,
        b"&a " * 300_000,
        b"*a " * 300_000,
        b"!a " * 300_000,
        b": " * 300_000,
        b'"' * 1_000_001,
        b"'" * 1_000_001,
        b"a: 1\n" * 300_000,
        b"?\n" * 300_000,
        b"%" * 1_000_000,
        b'{"a": ' + b"9" * 1_000_000 + b"}",
        b"a: 1e" + b"9" * 1_000_000,
        b"".join(b" " * i + b"a:\n" for i in range(1500)),
    ],
    ids=lambda data: f"{data[:6]!r} {len(data)}",
)
def test_hostile_text_is_refused_without_recursion_or_blow_up(data):
    problems = _problems(data)
    assert len(problems) <= 1001
    assert all(len(problem) < 500 for problem in problems)


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_give_a_plain_value_or_problems(data):
    with suppress(FormatError):
        _assert_plain(parse_document(data, "x"))


def _assert_plain(value: object) -> None:
    if isinstance(value, dict):
        assert all(type(key) is str for key in value)
        for inner in value.values():
            _assert_plain(inner)
    elif isinstance(value, list):
        for inner in value:
            _assert_plain(inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        assert math.isfinite(value)
    else:
        assert value is None or type(value) in (str, bool)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"[" + b"1," * 900_000 + b"1]", "file.json: a file may hold 200,000 values, found more."),
        (b"[" + b"[]," * 600_000 + b"1]", "file.json: a file may hold 200,000 values, found more."),
        (b"- a\n" * 500_000, "[99999]: a file may hold 100,000 values, found one more."),
    ],
)
def test_a_file_with_too_many_values_is_refused_before_they_take_seconds(data, words):
    assert _problems(data) == (words,)


def test_commas_and_brackets_in_text_are_no_values():
    assert parse_document(b'{"a": "' + b"[,{" * 200_000 + b'"}', "x") == {"a": "[,{" * 200_000}
