import pytest

from sapp_core.charts.numbers import (
    memory_scale,
    memory_text,
    percent_text,
    signed_percent_text,
    time_decimals,
    time_text,
)


@pytest.mark.parametrize(
    ("mb", "text"),
    [
        (0, "0 MiB"),
        (511.6, "512 MiB"),
        (4095, "4,095 MiB"),
        (4096, "4.0 GiB"),
        (53000, "51.8 GiB"),
        (2e6, "1,953.1 GiB"),
    ],
)
def test_memory_has_the_unit_a_reader_thinks_in(mb, text):
    assert memory_text(mb) == text


def test_axis_and_text_switch_units_at_the_same_amount():
    assert memory_scale(4095) == (1.0, "MiB")
    assert memory_scale(4096) == (1024.0, "GiB")


@pytest.mark.parametrize(
    ("time", "text"),
    [(0, "0 ms"), (153322.4, "153,322 ms"), (12.5, "12.5 ms"), (0.001234567, "0.00123457 ms"), (100, "100 ms")],
)
def test_times_keep_six_digits(time, text):
    assert time_text(time, "ms") == text


@pytest.mark.parametrize(("longest", "decimals"), [(153322, 0), (999, 3), (1, 6), (1e-9, 9), (0, 3), (1e9, 0)])
def test_decimals_follow_the_longest_time(longest, decimals):
    assert time_decimals(longest) == decimals


def test_percentages():
    assert percent_text(0.12345) == "12.3 %"
    assert percent_text(0.99999, 0) == "100 %"
    assert [signed_percent_text(x) for x in (0.05, -0.05, 0.0001, -0.0001)] == ["+5.0 %", "−5.0 %", "0.0 %", "0.0 %"]


def test_a_time_of_next_to_nothing_is_no_line_of_zeros():
    assert time_text(1e-9, "ms") == "0.000000001 ms"
    assert time_text(5e-324, "ms") == "4.94066e-324 ms"
