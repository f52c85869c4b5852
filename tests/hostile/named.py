"""Files whose every name is hostile, and otherwise legal: pages have to show the names letter by letter."""

import csv
import io

import yaml

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import even_split
from sapp_core.domain.profile import ModelProfile
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import BalanceResult, Objective, Progress, Status
from sapp_core.domain.scenario import Scenario
from sapp_core.interchange.comparison import LONGEST_NAME, NamedScenario, comparison_to_json
from sapp_core.interchange.plan_file import plan_to_json
from sapp_core.interchange.scenario import SavedScenario, scenario_to_json
from sapp_core.profiles.load import load_profile
from sapp_core.schedules.registry import make_schedule
from sapp_core.study import evaluate
from tests.pages.opened import profile_file

HACK = "window.__hacked=1"
NAME = f'![p](http://out.invalid/p.png)<img src=x onerror="{HACK}"><script>{HACK}</script>[a](javascript:{HACK}):red[r]'
LINK = f'=<a href="javascript:{HACK}">a</a>%{{hacked}}$x$'
UNIT = "![](//out.invalid)"
"""Twenty characters at most."""
FILE = f'![p](http:out.invalid) <img src=x onerror="{HACK}">.json'


def profile_bytes() -> bytes:
    """Every name of a profile, and its unit."""
    document = yaml.safe_load(profile_file(name=NAME, time_unit=UNIT))
    for number, layer in enumerate(document["layers_description"]):
        layer["name"] = f"{(NAME, LINK)[number % 2]}{number}"
    return yaml.safe_dump(document | {NAME: NAME}).encode()


def profile() -> ModelProfile:
    """The same, read."""
    return load_profile(profile_bytes(), "x").profile


def saved(micro_batches: int = 8) -> SavedScenario:
    """A scenario of it, with a plan, and a result whose every text is hostile."""
    own, pipeline = profile(), Pipeline(4, micro_batches)
    plan = even_split(own, pipeline)
    shown = evaluate(own, make_schedule("1f1b", pipeline), plan)
    result = BalanceResult(
        Status.FEASIBLE, plan, shown.step_time, shown.step_time / 2, 0.5, Objective.EXACT, None, None, NAME, 1.5,
        notes=(NAME,), trace=(Progress(0.5, shown.step_time, None), Progress(1.0, shown.step_time, shown.step_time / 2)),
    )  # fmt: skip
    return SavedScenario(Scenario(own, "1f1b", pipeline, BalanceRequest(None)), plan, result)


def scenario_bytes() -> bytes:
    """The same as a file."""
    one = saved()
    return scenario_to_json(one.scenario, one.plan, one.result).encode()


def comparison_bytes() -> bytes:
    """Two scenarios."""
    return comparison_to_json([NamedScenario(NAME[:LONGEST_NAME], saved()), NamedScenario(LINK, saved(12))]).encode()


def plan_bytes() -> bytes:
    """Its plan, with kinds of hostile names."""
    return plan_to_json(saved().plan).encode()


def measured_bytes(stages: int = 4, micro_batches: int = 8) -> bytes:
    """Every op of a step, with a column of names that nobody asked for."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(("stage", "kind", "micro_batch", "start", "duration", NAME))
    for stage, slots in enumerate(make_schedule("1f1b", Pipeline(stages, micro_batches)).slots):
        writer.writerows(
            (stage, slot.ops[0].kind, slot.ops[0].micro_batch, 1e6 * stage + 100 * number, 50, NAME)
            for number, slot in enumerate(slots)
        )
    return out.getvalue().encode()
