import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.schedules.building_block import building_block, peak
from sapp_core.schedules.zero_bubble import PLANNED, V_HALF, V_MIN

RULES = st.sampled_from(sorted(PLANNED.values(), key=lambda rule: rule.offsets))


def passes_by_stage(block):
    return zip(*block.forward, *block.input_gradient, *block.weight_gradient, strict=True)


@given(RULES, st.integers(1, 60))
def test_every_number_of_stages_has_a_block_that_repeats_without_collision_within_the_cap(rule, stages):
    block = building_block(stages, rule.offsets, rule.cap(stages))
    for starts in passes_by_stage(block):
        assert {start % block.period for start in starts} == set(range(block.period))
    assert peak(block) <= rule.cap(stages)


@given(RULES, st.integers(1, 12))
def test_the_peak_is_what_counting_a_long_repetition_finds(rule, stages):
    block = building_block(stages, rule.offsets, rule.cap(stages))
    counted = 0
    for stage in range(stages):
        changes = sorted(
            (starts[stage] + block.period * m, change)
            for kind, change in ((block.forward, 1), (block.weight_gradient, -1))
            for starts in kind
            for m in range(6 * stages)
        )
        in_flight = 0
        for _, change in changes:
            in_flight += change
            counted = max(counted, in_flight)
    assert peak(block) == counted


def test_v_half_of_four_stages_moves_by_its_offsets_and_rests_at_its_turns():
    block = building_block(4, V_HALF.offsets, V_HALF.cap(4))
    # The steady phase of the recorded reference order.
    assert block.forward == ((0, 2, 4, 6), (10, 9, 8, 7))
    assert block.input_gradient == ((25, 24, 23, 22), (14, 16, 18, 20))
    assert block.weight_gradient == ((29, 25, 27, 23), (15, 17, 19, 21))


def test_memory_that_is_left_goes_into_the_wait_at_the_loss():
    def wait(cap):
        block = building_block(4, V_MIN.offsets, cap)
        return block.input_gradient[1][0] - block.forward[1][0]

    assert (wait(4), wait(6)) == (1, 5)


def test_a_cap_too_small_for_any_block_is_refused():
    with pytest.raises(ValueError, match="fits 5 activations on 8 stages"):
        building_block(8, V_MIN.offsets, 5)
