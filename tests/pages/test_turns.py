"""First come, first served."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.shared.turns import Turns


@given(most=st.integers(1, 5), steps=st.lists(st.one_of(st.none(), st.integers(0, 9)), max_size=40))
def test_turns_come_in_order_and_never_too_many(most, steps):
    """None draws a ticket, a number gives up one of those in line."""
    turns, line = Turns(most), []
    for step in steps:
        if step is None:
            line.append(turns.draw())
        elif line:
            turns.leave(line.pop(step % len(line)))
        places = [turns.place(ticket) for ticket in line]
        assert places == [0] * min(most, len(line)) + list(range(1, len(line) - most + 1))


def test_leaving_twice_harms_nobody():
    turns = Turns(1)
    first, second = turns.draw(), turns.draw()
    turns.leave(first)
    turns.leave(first)
    assert turns.place(second) == 0
    with pytest.raises(ValueError, match="not in list"):
        turns.place(first)
