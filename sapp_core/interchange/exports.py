"""Every format a simulated plan can be written in for a framework, by name."""

from collections.abc import Callable

from sapp_core.domain.timeline import Evaluation
from sapp_core.interchange.mindformers import plan_to_mindformers


def _mindformers(evaluation: Evaluation) -> str:
    return plan_to_mindformers(evaluation.plan, evaluation.profile, evaluation.schedule.pipeline)


EXPORTS: dict[str, Callable[[Evaluation], str]] = {"mindformers": _mindformers}
"""Name of a format → text of its file; raises `FormatError` where the format has no words for the plan."""
