import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.pipeline import Pipeline
from sapp_core.schedules.nearest import nearest_legal
from sapp_core.schedules.registry import SCHEDULES, family, make_schedule


@given(
    st.sampled_from(SCHEDULES),
    st.builds(
        Pipeline,
        num_stages=st.integers(1, 7),
        num_micro_batches=st.integers(1, 12),
        num_chunks=st.integers(1, 3),
        num_sequence_splits=st.integers(1, 4),
        group_size=st.none() | st.integers(1, 9),
    ),
)
def test_whatever_is_wanted_the_nearest_runs_and_what_runs_stays(chosen, wanted):
    found = nearest_legal(chosen, wanted)
    assert make_schedule(chosen.name, found).num_ops
    assert nearest_legal(chosen, found) == found


@pytest.mark.parametrize(
    ("name", "wanted", "found"),
    [
        ("dualpipe-v", Pipeline(4, 6), {"num_micro_batches": 8}),
        ("dualpipe", Pipeline(4, 9), {"num_micro_batches": 10}),
        ("dualpipe", Pipeline(5, 12), {"num_stages": 6}),
        ("seqpipe-vpp", Pipeline(4, 7, 2, num_sequence_splits=2), {"num_micro_batches": 8}),
        ("seqpipe-vpp", Pipeline(4, 8, 2, num_sequence_splits=3), {"num_sequence_splits": 2}),
        ("vpp", Pipeline(4, 8, 2, group_size=3), {"group_size": None}),
        ("1f1b", Pipeline(4, 3, 2, num_sequence_splits=2), {"num_chunks": 1, "num_sequence_splits": 1}),
    ],
)
def test_only_what_must_change_changes(name, wanted, found):
    nearest = nearest_legal(family(name), wanted).as_dict()
    expected = wanted.as_dict() | {"placement": str(family(name).placement)} | found
    if family(name).fixed_chunks:
        expected["num_chunks"] = family(name).fixed_chunks
    assert nearest == expected
