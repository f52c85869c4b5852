from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.profile import MODES, RecomputeMode
from sapp_core.domain.recompute_counts import counts_of_fields, layers_by_mode

COUNTS = st.integers(0, 20)


@given(counts=st.tuples(COUNTS, COUNTS, COUNTS, COUNTS, COUNTS))
def test_what_is_counted_is_read_back_unless_select_stands_beside_comm(counts):
    layers = dict(zip(MODES, counts, strict=True))
    both = min(layers[RecomputeMode.SELECT], layers[RecomputeMode.COMM])
    fields = counts_of_fields(layers)
    back = layers_by_mode(sum(counts), fields["recompute"], fields["select_recompute"], fields["select_comm_recompute"])
    assert sum(back.values()) == sum(counts)
    assert back[RecomputeMode.FULL] == layers[RecomputeMode.FULL]
    assert back[RecomputeMode.BOTH] == layers[RecomputeMode.BOTH] + both
    if not both:
        assert back == layers


@given(total=COUNTS, parts=st.tuples(COUNTS, COUNTS, COUNTS))
def test_no_mode_is_ever_negative(total, parts):
    by_mode = layers_by_mode(total, *(min(part, total) for part in parts))
    assert sum(by_mode.values()) == total
    assert min(by_mode.values()) >= 0
