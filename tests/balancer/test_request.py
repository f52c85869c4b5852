import pytest

from sapp_core.balancer.request import LARGEST_SEED, BalanceRequest, Pin
from sapp_core.errors import PipelineError


def test_one_limit_is_that_of_every_stage():
    assert BalanceRequest(10.0).limits(3) == (10.0, 10.0, 10.0)
    assert BalanceRequest((1.0, 2.0)).limits(2) == (1.0, 2.0)
    assert BalanceRequest(None).limits(3) is None


def test_all_problems_are_told_at_once():
    with pytest.raises(PipelineError) as error:
        BalanceRequest((0.0, float("nan"), 5.0), time_limit=0.0, seed=-1, threads=0)
    assert error.value.problems == (
        "memory_limit_mb: must be a number above 0, found 0.0.",
        "memory_limit_mb: must be a number above 0, found nan.",
        "time_limit: must be a number of seconds above 0, found 0.0.",
        f"seed: must lie between 0 and {LARGEST_SEED}, found -1.",
        "threads: must be at least 1, found 0.",
    )


@pytest.mark.parametrize("options", [{"time_limit": float("inf")}, {"seed": 2**31}, {"memory_limit_mb": float("inf")}])
def test_boundless_numbers_are_refused(options):
    with pytest.raises(PipelineError, match=next(iter(options))):
        BalanceRequest(**{"memory_limit_mb": 1.0, **options})


def test_pins_are_counts_and_say_one_thing_for_a_cell():
    with pytest.raises(PipelineError) as error:
        BalanceRequest(None, pinned=(Pin(0, 1, -2), Pin(-1, 0, 3), Pin(0, 2, True), Pin(1, 1, 4), Pin(1, 1, 5)))
    assert error.value.problems == (
        "pinned: layers of chunk 0, stage 1 must be a whole number of at least 0, found -2.",
        "pinned: a chunk must be a whole number of at least 0, found -1.",
        "pinned: layers of chunk 0, stage 2 must be a whole number of at least 0, found True.",
        "pinned: a cell can have one number of layers only, found 4 and 5 for chunk 1, stage 1.",
    )
    assert BalanceRequest(None, pinned=(Pin(0, 1, 2), Pin(0, 1, 2))).pinned == (Pin(0, 1, 2),) * 2
