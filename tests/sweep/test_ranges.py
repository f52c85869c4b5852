"""Lists and ranges as people type them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.errors import PipelineError
from sapp_core.sweep.ranges import MOST_VALUES, memory_limits_of, read_lists, whole_numbers


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("4, 8, 16", (4, 8, 16)),
        ("4,8,16,", (4, 8, 16)),
        ("16; 4", (16, 4)),
        ("4-16 step 4", (4, 8, 12, 16)),
        ("4–16 step 4", (4, 8, 12, 16)),
        ("4..15 by 4", (4, 8, 12)),
        ("2 to 4", (2, 3, 4)),
        ("1, 2-3, 3", (1, 2, 3)),
        ("7-7", (7,)),
    ],
)
def test_lists_and_ranges(text, values):
    assert whole_numbers("num_stages", text) == values


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=30, unique=True))
def test_a_list_comes_back_as_it_was_typed(values):
    assert whole_numbers("num_stages", ", ".join(map(str, values))) == tuple(values)


@given(st.integers(1, 300), st.integers(0, 300), st.integers(1, 40))
def test_a_range_is_that_of_python(first, length, step):
    expected = tuple(range(first, first + length + 1, step))
    assert whole_numbers("num_stages", f"{first}-{first + length} step {step}") == expected


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "needs at least one value"),
        (" , ", "needs at least one value"),
        ("four", "must be whole numbers or ranges such as 4-16 step 4, found 'four'"),
        ("4.5", "found '4.5'"),
        ("-4", "found '-4'"),
        ("0", "must be at least 1, found '0'"),
        ("4-8 step 0", "must be at least 1, found '4-8 step 0'"),
        ("16-4", "a range goes upwards, found '16-4'; write 4-16."),
        ("1-100000", f"up to {MOST_VALUES} values can be swept, '1-100000' has 100,000."),
        ("1-400, 401-600", f"up to {MOST_VALUES} values can be swept, found 600."),
        ("9" * 5000, "such large numbers cannot be swept"),
        ("1-" + "9" * 5000, "such large numbers cannot be swept"),
    ],
)
def test_what_cannot_be_read_is_a_sentence(text, sentence):
    with pytest.raises(PipelineError) as refused:
        whole_numbers("num_stages", text)
    (said,) = refused.value.problems
    assert said.startswith("num_stages: ")
    assert sentence in said


@given(st.text(max_size=30))
def test_no_text_is_a_traceback(text):
    for reader in (whole_numbers, memory_limits_of):
        problems = ()
        try:
            values = reader("field", text)
        except PipelineError as error:
            problems = error.problems
        assert all(problem.startswith("field: ") for problem in problems)
        assert problems or values


def test_limits_can_be_none_fractions_and_ranges():
    assert memory_limits_of("memory_limit_mb", "none, 48000, 1024.5, 50000-60000 step 5000") == (
        None,
        48_000.0,
        1_024.5,
        50_000.0,
        55_000.0,
        60_000.0,
    )


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "50G"])
def test_a_limit_is_above_0(text):
    with pytest.raises(PipelineError, match="memory_limit_mb: must be MiB above 0, a range, or none"):
        memory_limits_of("memory_limit_mb", text)


def test_all_problems_of_all_lists_come_at_once():
    with pytest.raises(PipelineError) as refused:
        read_lists(stages="", chunks="x, y", micro_batches="8-4", sequence_splits="0", memory_limits="-3")
    fields = [problem.partition(":")[0] for problem in refused.value.problems]
    assert fields == [
        "num_stages",
        "num_chunks",
        "num_chunks",
        "num_micro_batches",
        "num_sequence_splits",
        "memory_limit_mb",
    ]


def test_what_is_not_said_has_a_meaning():
    lists = read_lists(stages="4")
    assert (lists.chunks, lists.micro_batches, lists.sequence_splits, lists.memory_limits_mb) == (
        (None,),
        (),
        (1,),
        (None,),
    )
