import pytest

from sapp_core.domain.request import LARGEST_SEED, BalanceRequest
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
