"""Every format a simulated plan can be written in for a framework, by name."""

from collections.abc import Callable

from sapp_core.domain.timeline import Evaluation
from sapp_core.interchange.chrome_trace import evaluation_to_chrome_trace
from sapp_core.interchange.megatron import launch_flags
from sapp_core.interchange.mindformers import plan_to_mindformers
from sapp_core.interchange.torch_csv import schedule_to_torch_csv


def _mindformers(evaluation: Evaluation) -> str:
    return plan_to_mindformers(evaluation.plan, evaluation.profile, evaluation.schedule.pipeline)


def _megatron(evaluation: Evaluation) -> str:
    flags = launch_flags(evaluation.plan, evaluation.profile, evaluation.schedule.pipeline)
    return "\n".join(flags) + "\n"


def _torch_csv(evaluation: Evaluation) -> str:
    return schedule_to_torch_csv(evaluation.schedule)


EXPORTS: dict[str, Callable[[Evaluation], str]] = {
    "mindformers": _mindformers,
    "megatron": _megatron,
    "torch-csv": _torch_csv,
    "chrome-trace": evaluation_to_chrome_trace,
}
"""Name of a format → text of its file; raises `FormatError` where the format has no words for the plan."""
