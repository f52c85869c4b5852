"""Every file a plan can leave in, by name: one list for the page's downloads and the command line's `--export`."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from sapp_core.interchange.chrome_trace import evaluation_to_chrome_trace
from sapp_core.interchange.megatron import launch_flags
from sapp_core.interchange.mindformers import plan_to_mindformers
from sapp_core.interchange.paddle import PaddleMode, job_object
from sapp_core.interchange.plan_file import plan_to_json
from sapp_core.interchange.result import to_json
from sapp_core.interchange.scenario import scenario_to_json
from sapp_core.interchange.tables import memory_csv, ops_csv, plan_csv, sensitivity_csv
from sapp_core.interchange.torch_csv import schedule_to_torch_csv
from sapp_core.report.html import report_html
from sapp_core.sensitivity import USUAL_SHARE, sensitivity
from sapp_core.study import Study


class Group(StrEnum):
    """What a file is for."""

    REVIEW = "Scenario and report"
    FRAMEWORK = "For frameworks and viewers"
    TABLE = "Tables"


@dataclass(frozen=True, slots=True)
class Export:
    """One kind of file.

    Attributes:
        name: on the command line.
        title: for readers.
        ending: of the file's name, after the name of the profile.
        mime: type of its content.
        group: what it is for.
        tip: what it holds, in light Markdown.
        write: text of the file; raises `FormatError` where the format has no words for the plan.
        is_slow: whether writing takes long enough to wait until somebody wants the file.
    """

    name: str
    title: str
    ending: str
    mime: str
    group: Group
    tip: str
    write: Callable[[Study], str]
    is_slow: bool = False


def _scenario(study: Study) -> str:
    result = study.result
    # The even split stands in where no plan was found; the scenario does not claim it.
    plan = None if result is not None and result.plan is None else study.evaluation.plan
    return scenario_to_json(study.scenario, plan, result)


def _report(study: Study) -> str:
    return report_html(study, datetime.now(tz=UTC).astimezone().date())


def _mindformers(study: Study) -> str:
    return plan_to_mindformers(study.evaluation.plan, study.evaluation.profile, study.evaluation.schedule.pipeline)


def _megatron(study: Study) -> str:
    flags = launch_flags(study.evaluation.plan, study.evaluation.profile, study.evaluation.schedule.pipeline)
    return "\n".join(flags) + "\n"


def _torch_csv(study: Study) -> str:
    return schedule_to_torch_csv(study.evaluation.schedule)


def _paddle(study: Study) -> str:
    return to_json(job_object(study.evaluation.schedule, PaddleMode.PLAIN))


def _chrome_trace(study: Study) -> str:
    return evaluation_to_chrome_trace(study.evaluation)


def _plan_json(study: Study) -> str:
    return plan_to_json(study.evaluation.plan)


def _plan_csv(study: Study) -> str:
    return plan_csv(study.evaluation.plan, study.evaluation.schedule.pipeline)


def _memory_csv(study: Study) -> str:
    return memory_csv(study.evaluation)


def _ops_csv(study: Study) -> str:
    return ops_csv(study.evaluation)


def _sensitivity_csv(study: Study) -> str:
    found = sensitivity(study.scenario, study.evaluation, USUAL_SHARE)
    return sensitivity_csv(found, study.evaluation.profile.time_unit)


EXPORTS: tuple[Export, ...] = (
    Export(
        "scenario", "Save scenario", "scenario.json", "application/json", Group.REVIEW,
        "Profile, settings, plan and result in one file; this page and the command line open it again.", _scenario,
    ),
    Export(
        "report", "Report (HTML)", "report.html", "text/html", Group.REVIEW,
        "Headline numbers, charts, plan and certificate on one page for a design review. It needs no network, prints "
        "well, and this page can open it.", _report, is_slow=True,
    ),
    Export(
        "mindformers", "MindFormers YAML", "mindformers.yaml", "text/yaml", Group.FRAMEWORK,
        "Offsets and recomputation per stage, for `model_config` of MindFormers and SAPP.", _mindformers,
    ),
    Export(
        "megatron", "Megatron flags", "megatron.txt", "text/plain", Group.FRAMEWORK,
        "`--pipeline-model-parallel-layout` of Megatron-Core and the flags that go with it.", _megatron,
    ),
    Export(
        "torch-csv", "PyTorch schedule (CSV)", "torch.csv", "text/csv", Group.FRAMEWORK,
        "The order of work as PyTorch pipelining loads it (compute only).", _torch_csv,
    ),
    Export(
        "paddle", "Paddle jobs (JSON)", "paddle.json", "application/json", Group.FRAMEWORK,
        "The job lists of Paddle's interleaved pipeline pass, stage by stage.", _paddle,
    ),
    Export(
        "chrome-trace", "Trace (Perfetto)", "trace.json", "application/json", Group.FRAMEWORK,
        "The step as a Chrome trace with transfers and memory; open it on ui.perfetto.dev or chrome://tracing.",
        _chrome_trace, is_slow=True,
    ),
    Export(
        "plan-json", "Plan (JSON)", "plan.json", "application/json", Group.TABLE,
        "Layers of each kind, mode, chunk and stage; the command line reads it with `--plan`.", _plan_json,
    ),
    Export("plan-csv", "Plan (CSV)", "plan.csv", "text/csv", Group.TABLE, "A row for each cell.", _plan_csv),
    Export(
        "memory-csv", "Memory (CSV)", "memory.csv", "text/csv", Group.TABLE, "Peak of each stage, in MiB.", _memory_csv,
    ),
    Export(
        "sensitivity-csv", "Sensitivity (CSV)", "sensitivity.csv", "text/csv", Group.TABLE,
        "What 10 % less or more of each number of the profile does to this plan.", _sensitivity_csv, is_slow=True,
    ),
    Export(
        "ops-csv", "Timeline (CSV)", "ops.csv", "text/csv", Group.TABLE, "Every op with its start and end.", _ops_csv,
        is_slow=True,
    ),
)  # fmt: skip
"""In the order of the download menu."""


def export_named(name: str) -> Export:
    """The export of a name, which is known."""
    return next(known for known in EXPORTS if known.name == name)
