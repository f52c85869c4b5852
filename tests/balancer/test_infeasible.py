from dataclasses import replace

import pytest

from sapp_core.balancer.balance import balance
from sapp_core.balancer.infeasible import out_of_memory, too_few_layers
from sapp_core.balancer.question import question_of
from sapp_core.balancer.solvers import Answer, Effort, solver_named
from sapp_core.domain.pipeline import Pipeline, Placement
from sapp_core.domain.profile import MODES, LayerKind, LayerProfile, ModelProfile
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import Status
from sapp_core.schedules.registry import make_schedule
from tests.balancer.recorded_cases import recorded_profile

SMALL = recorded_profile("small32")


def body(count: int, parameter: float = 10.0, full: float | None = 2.0) -> LayerProfile:
    return LayerProfile(
        "Body", LayerKind.BODY, count, 1.0, (2.0,) * len(MODES), parameter, (8.0, None, None, None, full)
    )


def head(parameter: float) -> LayerProfile:
    return LayerProfile("Head", LayerKind.HEAD, 1, 1.0, (2.0,) * len(MODES), parameter, (None,) * len(MODES))


def explained(profile: ModelProfile, name: str, pipeline: Pipeline, limit) -> tuple:
    result = balance(profile, make_schedule(name, pipeline), BalanceRequest(limit, threads=1))
    assert result.status is Status.INFEASIBLE
    return result.infeasibility


@pytest.mark.parametrize(
    ("pipeline", "sizes", "legal"),
    [
        (
            Pipeline(16, 8, 4),
            (
                "32 body layers cannot fill 64 virtual stages (16 stages with 4 chunks each): 62 of them need at least one, "
                "all but those of head and tail."
            ),
            "The largest that can be filled: 8 stages with 4 chunks each, or 16 stages with 2 chunks each.",
        ),
        (
            Pipeline(35, 8),
            (
                "32 body layers cannot fill 35 virtual stages (35 stages with 1 chunk each): 33 of them need at least one, "
                "all but those of head and tail."
            ),
            "The largest that can be filled: 34 stages with 1 chunk each.",
        ),
        (
            Pipeline(20, 40, 2, placement=Placement.V),
            (
                "32 body layers cannot fill 40 virtual stages (20 stages with 2 chunks each): 38 of them need at least one, "
                "all but those of head and tail."
            ),
            "The largest that can be filled: 17 stages with 2 chunks each.",
        ),
    ],
)
def test_too_few_layers_names_the_sizes_that_would_do(pipeline, sizes, legal):
    assert too_few_layers(SMALL, pipeline).sentences == (sizes, legal)


def test_just_enough_layers():
    assert too_few_layers(SMALL, Pipeline(17, 40, 2)) is None
    assert too_few_layers(ModelProfile("m", (body(4),)), Pipeline(2, 2, 2)) is None
    assert too_few_layers(ModelProfile("m", (body(3),)), Pipeline(2, 2, 2)) is not None


def test_a_head_that_is_too_large_for_any_stage():
    """Nothing that has to do with layers or activations would help."""
    reason = explained(ModelProfile("m", (head(100.0), body(4))), "1f1b", Pipeline(2, 4), 90.0)
    assert (reason.stage, reason.smallest_limit_mb) == (0, 100.0)
    assert reason.sentences == (
        (
            "Stage 0 is worst off: even when all layers are placed and recomputed to need as little as possible, it needs "
            "100.0 MiB, 10.0 MiB more than its limit of 90.0 MiB."
        ),
        "Of these, parameters take 100.0 MiB, activations 0.0 MiB and the constant 0.0 MiB.",
        "The smallest limit that would do, the same on every stage: 100.0 MiB.",
    )


def test_what_could_help_is_only_what_has_a_say():
    reason = explained(ModelProfile("m", (body(6),)), "gpipe", Pipeline(2, 4), 50.0)
    assert reason.sentences[-1] == (
        "What could help: fewer than 4 micro-batches (so many are in flight on stage 0); the schedule 1f1b; "
        "more stages than 2."
    )
    reason = explained(ModelProfile("m", (body(2, full=None),)), "1f1b", Pipeline(2, 4), 20.0)
    assert reason.sentences[-1] == (
        "What could help: give the memory of more recompute modes in the profile (select, comm, both, full); "
        "fewer than 2 micro-batches (so many are in flight on stage 0)."
    )


def test_limits_of_their_own():
    """Stage 0 with its small limit sets how much is missing; the same limit everywhere is another question."""
    profile = ModelProfile("m", (body(4, parameter=100.0, full=0.0),))
    reason = explained(profile, "1f1b", Pipeline(2, 4), (40.0, 400.0))
    assert (reason.stage, reason.smallest_limit_mb) == (0, 200.0)
    assert "needs 100.0 MiB, 60.0 MiB more than its limit of 40.0 MiB" in reason.sentences[0]
    assert "60.0 MiB more on every stage would do." in reason.sentences
    assert "The smallest limit that would do, the same on every stage: 200.0 MiB." in reason.sentences


def test_a_stage_that_another_can_relieve_is_not_to_blame():
    """Three layers of 50 MiB on stages 0 and 1: either may hold two. The tail of 100 MiB can go nowhere else."""
    tail = LayerProfile("Tail", LayerKind.TAIL, 1, 1.0, (2.0,) * len(MODES), 100.0, (None,) * len(MODES))
    layers = LayerProfile("Body", LayerKind.BODY, 3, 1.0, (2.0,) * len(MODES), 50.0, (0.0,) + (None,) * 4)
    reason = explained(ModelProfile("m", (layers, tail)), "1f1b", Pipeline(3, 4), 90.0)
    assert (reason.stage, reason.smallest_limit_mb) == (2, 100.0)


def test_where_stages_take_turns_one_of_them_is_named():
    layers = LayerProfile("Body", LayerKind.BODY, 3, 1.0, (2.0,) * len(MODES), 50.0, (0.0,) + (None,) * 4)
    reason = explained(ModelProfile("m", (layers,)), "1f1b", Pipeline(2, 4), 90.0)
    assert reason.stage in {0, 1}
    assert reason.smallest_limit_mb == 100.0


def test_printed_limits_are_enough():
    """Rounded up, never down."""
    profile = ModelProfile("m", (body(1, parameter=100.01, full=0.0),))
    reason = explained(profile, "1f1b", Pipeline(1, 1), 50.0)
    assert reason.smallest_limit_mb == 100.01
    assert "The smallest limit that would do, the same on every stage: 100.1 MiB." in reason.sentences


@pytest.fixture
def question():
    schedule = make_schedule("1f1b", Pipeline(2, 4))
    return question_of(ModelProfile("m", (body(6),)), schedule, BalanceRequest(50.0))


def test_when_the_time_is_too_short_nothing_is_claimed(question):
    reason = out_of_memory(question, lambda _: Answer(Status.NO_SOLUTION_IN_TIME, None, {}))
    assert (reason.stage, reason.smallest_limit_mb) == (None, None)
    assert "the time was too short" in reason.sentences[0]


def test_when_the_time_is_too_short_for_a_proof_it_is_said(question):
    def unproven(problem) -> Answer:
        answer = solver_named("highs").solve(problem, Effort(seconds=60, seed=0, threads=1))
        return replace(answer, status=Status.FEASIBLE)

    reason = out_of_memory(question, unproven)
    assert reason.smallest_limit_mb is None
    assert any(text.startswith("A limit (perhaps not the smallest) that would do") for text in reason.sentences)
