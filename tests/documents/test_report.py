"""How paths and values are said, and how much is said."""

import pytest

from sapp_core.documents.report import MAX_SENTENCES, Report, child, found, found_keys, number_text, quoted
from sapp_core.errors import PlanError


@pytest.mark.parametrize(
    ("path", "key", "whole"),
    [
        ("", "name", "name"),
        ("training", "batch_size", "training.batch_size"),
        ("layers_description[1]", "time", "layers_description[1].time"),
        ("a", "two words", 'a["two words"]'),
        ("", "", '[""]'),
        ("", "a.b", '["a.b"]'),
        ("", 'say "x"', '["say \\"x\\""]'),
        ("", "line\nbreak", '["line\\nbreak"]'),
        ("", "\u202e", '["\\u202e"]'),
        ("", "größe", '["größe"]'),
        ("", "k" * 61, f'["{"k" * 60}…"]'),
    ],
)
def test_paths(path, key, whole):
    assert child(path, key) == whole


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "nothing"),
        (True, "true"),
        (False, "false"),
        (3, "3"),
        (3.0, "3.0"),
        (0.25, "0.25"),
        (10**60, "a number of 61 digits"),
        ("x", 'the text "x"'),
        ("\x00", 'the text "\\u0000"'),
        ([1, 2], "a list of 2"),
        ({"a": 1}, "a mapping of 1 key"),
        ({}, "a mapping of 0 keys"),
    ],
)
def test_what_was_found(value, said):
    assert found(value) == said


@pytest.mark.parametrize(
    ("value", "text"), [(3, "3"), (3.0, "3"), (0.5, "0.5"), (1e12, "1000000000000"), (-2.5, "-2.5")]
)
def test_numbers_to_write(value, text):
    assert number_text(value) == text


def test_quoted_text_is_printable_and_short():
    assert quoted("\ud800" * 500).isprintable()
    assert len(quoted("\ud800" * 500)) < 500


def test_sentences_about_the_whole_file_begin_with_its_name():
    report = Report("file.json", PlanError)
    report.refuse("", "is odd.")
    report.refuse("a.b", "is odd too.")
    with pytest.raises(PlanError) as caught:
        report.raise_problems()
    assert caught.value.problems == ("file.json: is odd.", "a.b: is odd too.")


def test_nothing_is_raised_without_problems():
    report = Report("file.json", PlanError)
    report.warn("a", "was ignored.")
    report.raise_problems()
    assert report.warnings == ["a: was ignored."]


def test_the_number_of_sentences_is_limited():
    report = Report("file.json", PlanError)
    for i in range(MAX_SENTENCES + 5):
        report.warn(f"a[{i}]", "was ignored.")
    assert len(report.warnings) == MAX_SENTENCES
    for i in range(MAX_SENTENCES - 1):
        report.refuse(f"a[{i}]", "is odd.")
    with pytest.raises(PlanError) as caught:
        report.refuse("last", "is odd.")
    assert len(caught.value.problems) == MAX_SENTENCES + 1
    assert caught.value.problems[-1] == "file.json: has 1,000 problems or more; the first ones are listed."


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"a": 1, 'b"': 2}, '"a", "b\\""'),
        (dict.fromkeys("abcdefg"), '"a", "b", "c", "d", "e" and 2 more'),
        ({}, "a mapping of 0 keys"),
        (3, "3"),
    ],
)
def test_the_first_keys_of_a_mapping_are_told(value, said):
    assert found_keys(value) == said
