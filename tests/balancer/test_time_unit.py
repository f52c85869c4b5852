import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.balancer.time_unit import PROFILE_UNIT, TimeUnit, time_unit
from sapp_core.domain.profile import LayerKind, LayerProfile, ModelProfile
from tests.balancer.recorded_cases import recorded_profile


def profile(*times: float, ignored: float = 0.0) -> ModelProfile:
    """One body kind a time; the backward of `comm`, which is not considered, takes `ignored`."""
    modes = (1.0, None, None, None, 1.0)
    return ModelProfile(
        "m",
        tuple(
            LayerProfile(f"Body{i}", LayerKind.BODY, 1, time, (2 * time, 0.0, ignored, 0.0, 2 * time), 0.0, modes)
            for i, time in enumerate(times)
        ),
    )


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("llama96_full", TimeUnit(30, 1, whole=True)),
        ("llama2_70b", TimeUnit(1, 1, whole=True)),
        ("small32", TimeUnit(1, 5, whole=True)),
        ("sim192", TimeUnit(3, 5, whole=True)),
    ],
)
def test_rounded_times_are_counted_in_their_common_divisor(name, unit):
    assert time_unit(recorded_profile(name)) == unit


def test_times_that_cannot_occur_do_not_count():
    assert time_unit(profile(4.0, 6.0, ignored=0.1)) == TimeUnit(2, 1, whole=True)


@pytest.mark.parametrize("times", [(1.0, 2**0.5), (1.0, 1.0000001), (1e-7, 1.0), (3e9, 1.0)])
def test_times_without_a_useful_divisor_are_measured_by_the_longest(times):
    assert time_unit(profile(*times)) == TimeUnit(2 * max(times), 1, whole=False)


def test_a_model_that_takes_no_time():
    assert time_unit(profile(0.0)) == PROFILE_UNIT


@given(st.lists(st.one_of(st.integers(1, 10**5).map(lambda n: n / 100), st.floats(1e-9, 1e9)), min_size=1, max_size=4))
def test_there_and_back_is_the_same_time(times):
    unit = time_unit(profile(*times))
    for time in times:
        assert unit.to_profile(unit.of(time)) == pytest.approx(time, rel=1e-12)
        assert not unit.whole or unit.of(time).is_integer()
