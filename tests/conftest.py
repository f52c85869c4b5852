"""Settings for every test: the same examples on every run, in any order, on any machine."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "repeatable",
    max_examples=70,
    derandomize=True,
    deadline=None,
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")
