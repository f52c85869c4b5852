import pytest

from sapp_core.balancer.cbc_log import best_and_bound


@pytest.mark.parametrize(
    ("log", "best", "bound"),
    [
        ("", None, None),
        ("Continuous objective value is 961.727 - 0.00 seconds\n", None, 961.726),
        (
            (
                "Continuous objective value is 961.727 - 0.00 seconds\n"
                "Cbc0012I Integer solution of 1332 found by DiveCoefficient after 0 iterations and 0 nodes (0.02 seconds)\n"
                "Cbc0010I After 0 nodes, 1 on tree, 1332 best solution, best possible 1014.3118 (3.92 seconds)\n"
            ),
            1332.0,
            1014.3117,
        ),
        ("Cbc0010I After 0 nodes, 1 on tree, 1e+50 best solution, best possible 7 (3.92 seconds)\n", None, 6.0),
        ("Cbc0005I Partial search - best objective 1e+50 (best possible 3294.1461), took 0\n", None, 3294.146),
        ("Objective value:                1332.00000000\nLower bound:                    1014.312\n", 1332.0, 1014.311),
        ("best possible 1.5e+07 (3 seconds)\n", None, 1.4e7),
    ],
)
def test_the_last_word_counts_and_bounds_are_rounded_down(log, best, bound):
    assert best_and_bound(log) == (best, None if bound is None else pytest.approx(bound))
