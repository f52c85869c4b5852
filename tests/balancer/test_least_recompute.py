from sapp_core.balancer.least_recompute import least_recompute
from sapp_core.balancer.question import question_of
from sapp_core.balancer.solvers import Effort, solver_named
from sapp_core.balancer.time_unit import PROFILE_UNIT
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Plan, placed
from sapp_core.domain.profile import MODES, LayerKind, LayerProfile, ModelProfile, RecomputeMode
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import Objective
from sapp_core.schedules.registry import make_schedule

FULL, NONE = RecomputeMode.FULL, RecomputeMode.NONE
PROFILE = ModelProfile(
    "m", (LayerProfile("Body", LayerKind.BODY, 6, 1.0, (2.0, 2.0, 2.0, 2.0, 3.0), 0.0, (10.0, None, None, None, 1.0)),)
)
SCHEDULE = make_schedule("1f1b", Pipeline(2, 4))
PLAN = Plan((placed("Body", SCHEDULE.pipeline, [(FULL, 0, 0, 4), (FULL, 0, 1, 2)]),))


def eased(limit: float, value: float) -> tuple[list[int], list[int]]:
    """Layers stored, and recomputed, on each stage."""
    question = question_of(PROFILE, SCHEDULE, BalanceRequest(limit))
    program = least_recompute(question, Objective.SAPP_0, PLAN, value, PROFILE_UNIT)
    answer = solver_named("highs").solve(program.problem, Effort(seconds=60, seed=0, threads=1))
    counts = program.plan(answer.values).layers[0].counts
    return list(counts[MODES.index(NONE)][0]), list(counts[MODES.index(FULL)][0])


def test_layers_stay_and_as_many_are_stored_as_fit():
    """Two micro-batches are alive on stage 0 and one on stage 1: 2·(10·2 + 1·2) = 44, 10·2 = 20."""
    assert eased(limit=44.0, value=16.0) == ([2, 2], [2, 0])
    assert eased(limit=43.0, value=16.0) == ([1, 2], [3, 0])
    assert eased(limit=1000.0, value=16.0) == ([4, 2], [0, 0])


def test_the_objective_is_kept():
    assert eased(limit=44.0, value=14.0) == ([2, 2], [2, 0])
