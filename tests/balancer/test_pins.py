"""Pinned cells: the best plan that keeps them, under every schedule; bounds stay honest, and wrong pins are told."""

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sapp_core.balancer.balance import balance, lp_text
from sapp_core.balancer.local_search import LocalSearch
from sapp_core.balancer.path_bound import PlanModel, relaxation, rounded
from sapp_core.balancer.path_rows import PathRows
from sapp_core.balancer.pins import pin_problems
from sapp_core.balancer.plan_space import PlanSpace, plan_space
from sapp_core.balancer.question import Question, question_of
from sapp_core.balancer.stage_patterns import applies, stage_patterns
from sapp_core.balancer.time_unit import time_unit
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Plan, even_split
from sapp_core.domain.profile import MODES, LayerKind, LayerProfile, ModelProfile
from sapp_core.domain.request import BalanceRequest, Pin
from sapp_core.domain.result import BalanceResult, MemoryModel, Objective, Status
from sapp_core.errors import PipelineError
from sapp_core.schedules.in_flight import peak_vectors
from sapp_core.schedules.registry import SCHEDULES, make_schedule
from tests.balancer.brute_force import surrogate
from tests.balancer.recorded_cases import recorded_case
from tests.balancer.tiny import TinyModel, tiny_model
from tests.balancer.tiny_exact import exact_model
from tests.strategies import plans, profiles, schedules

MODELS = [(family.name, seed) for family in SCHEDULES for seed in range(100, 104)]
SURROGATE_SEEDS = [seed for seed in range(40) if len(tiny_model(seed).memory)]


@dataclass(frozen=True)
class Pinned:
    """A tiny model with pins; `[plan]` says which plans keep them."""

    tiny: TinyModel
    pins: tuple[Pin, ...]
    keeps: np.ndarray

    @property
    def possible(self) -> np.ndarray:
        return self.keeps & self.tiny.fits

    def answer(self, **changes) -> BalanceResult:
        request = replace(self.tiny.request, pinned=self.pins, **changes)
        return balance(self.tiny.profile, self.tiny.schedule, request)


def pinned(tiny: TinyModel, seed: int) -> Pinned:
    """Some cells hold what one of the plans puts there; of a bidirectional pipeline, now one copy is named, now both."""
    random = Random(seed)
    pipeline = tiny.schedule.pipeline
    held = tiny.plans.counts.sum(axis=(1, 2)).astype(int)
    chosen = held[random.randrange(len(held))]
    where = random.sample(range(pipeline.num_virtual_stages), random.randint(1, pipeline.num_virtual_stages))
    cells = [
        (v, cell)
        for v in where
        for cell in random.sample(pipeline.cells(v), random.choice((1, len(pipeline.cells(v)))))
    ]
    pins = tuple(Pin(*cell, int(chosen[v])) for v, cell in cells)
    return Pinned(tiny, pins, (held[:, where] == chosen[where]).all(axis=1))


@cache
def model(name: str, seed: int) -> Pinned:
    return pinned(exact_model(name, seed), seed)


def held_by(plan: Plan, pin: Pin) -> int:
    return sum(layer.total(pin.chunk, pin.stage) for layer in plan.layers)


def times(case: Pinned, which: np.ndarray) -> float:
    """The shortest step time of some of the plans."""
    return float(case.tiny.plans.step_times(case.tiny.schedule)[which].min())


def test_the_models_cover_what_matters():
    seen = Counter(
        what
        for name, seed in MODELS
        for case in [model(name, seed)]
        for what in (
            "feasible" if case.possible.any() else "out of memory",
            "only the pins are in the way" if case.tiny.fits.any() and not case.possible.any() else "",
            f"{len(case.tiny.profile.body)} kinds",
            "the best plan breaks the pins"
            if case.possible.any() and times(case, case.tiny.fits) < times(case, case.possible)
            else "",
            "all pinned" if len(case.pins) >= case.tiny.schedule.pipeline.num_virtual_stages else "some pinned",
            "empty" if any(pin.layers == 0 for pin in case.pins) else "",
            "both copies" if len(case.pins) > case.tiny.schedule.pipeline.num_virtual_stages else "",
        )
    )
    for what in (
        "feasible",
        "out of memory",
        "only the pins are in the way",
        "1 kinds",
        "2 kinds",
        "the best plan breaks the pins",
        "all pinned",
        "some pinned",
        "empty",
    ):
        assert seen[what] >= 3, (what, seen)
    assert seen["both copies"]


@pytest.mark.parametrize(("name", "seed"), MODELS)
def test_the_optimum_is_that_of_all_plans_that_keep_the_pins(name, seed):
    case = model(name, seed)
    result = case.answer()
    if not case.possible.any():
        assert result.status is Status.INFEASIBLE
        smallest = case.tiny.memory[case.keeps].max(axis=1).min()
        assert result.infeasibility.smallest_limit_mb == pytest.approx(smallest)
        within = "Without the pins there is a plan within the limits."
        assert (within in result.infeasibility.sentences) == bool(case.tiny.fits.any())
        return
    quickest = times(case, case.possible)
    assert result.status is Status.OPTIMAL
    assert quickest * (1 - 1e-12) <= result.objective_value <= quickest * (1 + 1e-5)
    assert result.lower_bound <= quickest * (1 + 1e-12)
    assert [held_by(result.plan, pin) for pin in case.pins] == [pin.layers for pin in case.pins]


@pytest.mark.parametrize("solver", ["highs", "cbc"])
@pytest.mark.parametrize("seed", SURROGATE_SEEDS)
def test_surrogates_keep_the_pins_too(seed, solver):
    case = pinned(tiny_model(seed), seed)
    result = case.answer(solver=solver)
    if not case.possible.any():
        assert result.status is Status.INFEASIBLE
        return
    values = surrogate(case.tiny.plans, case.tiny.schedule, case.tiny.request.objective)
    assert result.status is Status.OPTIMAL
    assert result.objective_value == pytest.approx(values[case.possible].min(), rel=1e-6)
    assert result.lower_bound <= times(case, case.possible) * (1 + 1e-9)
    assert [held_by(result.plan, pin) for pin in case.pins] == [pin.layers for pin in case.pins]


@st.composite
def pinned_spaces(draw, max_kinds=2, families=SCHEDULES, max_chunks=3) -> tuple[PlanSpace, np.ndarray]:
    """A question without memory limits, and a plan that keeps its pins."""
    profile = draw(profiles(max_kinds, max_layers=8))
    schedule = draw(schedules(max_stages=4, max_chunks=max_chunks, max_micro_batches=8, families=families))
    pipeline = schedule.pipeline
    plan = draw(plans(profile, pipeline))
    cells = [pipeline.cells(v)[0] for v in range(pipeline.num_virtual_stages)]
    chosen = draw(st.sets(st.sampled_from(cells), min_size=1))
    pins = tuple(Pin(*cell, sum(layer.total(*cell) for layer in plan.layers)) for cell in sorted(chosen))
    assume(not pin_problems(pins, profile, pipeline))
    space = plan_space(Question(profile, schedule, peak_vectors(schedule), None, pins))
    vector = space.vector(plan)
    assume(space.allows(vector))
    return space, vector


@given(pinned_spaces(), st.floats(0, 1))
@settings(max_examples=60)
def test_rounding_keeps_pins_and_leaves_plans_as_they_are(study, share):
    space, vector = study
    spread = (space.per_kind / np.bincount(space.kind))[space.kind]
    near = rounded(space, share * vector + (1 - share) * spread)
    assert np.array_equal(np.bincount(space.kind, weights=near), space.per_kind)
    assert space.allows(near)
    assert np.array_equal(rounded(space, vector), vector)


@given(pinned_spaces())
@settings(max_examples=30)
def test_the_relaxation_is_below_every_plan_that_keeps_the_pins(study):
    space, vector = study
    model = PlanModel(space, time_unit(space.question.profile), 0, relax=True)
    *_, last = islice(relaxation(model, PathRows(space)), 40)
    assert last.bound <= space.step_times(vector[np.newaxis])[0]
    held = np.bincount(space.cell, weights=last.point, minlength=len(space.least))
    tight = space.least == space.most
    assert held[tight] == pytest.approx(space.least[tight], abs=1e-6)


@given(pinned_spaces(max_kinds=1, max_chunks=1, families=[f for f in SCHEDULES if f.fixed_chunks in {None, 1}]))
@settings(max_examples=40)
def test_patterns_of_stages_keep_the_pins(study):
    """And the plan itself is among them, or one of the same layers that is nowhere slower."""
    space, vector = study
    assert applies(space)
    held = np.bincount(space.cell, weights=vector, minlength=len(space.least))
    step_time = float(space.step_times(vector[np.newaxis])[0])
    for stage, patterns in enumerate(stage_patterns(space, step_time * 1.01 + 1e-6)):
        assert held[stage] in {pattern.layers for pattern in patterns}
        for pattern in patterns:
            assert pattern.layers == space.question.pinned_layers.get(stage, pattern.layers)


@given(pinned_spaces(), st.integers(0, 5))
@settings(max_examples=30)
def test_the_search_never_leaves_the_pins(study, seed):
    space, vector = study
    search = LocalSearch(space, PathRows(space), seed)
    for _ in islice(search.steps([vector]), 12):
        pass
    assert space.allows(search.best)
    assert search.best_time <= space.step_times(vector[np.newaxis])[0]
    for moved in (search._kicked(vector) for _ in range(5)):
        assert space.fills(moved[np.newaxis])[0]
        assert space.in_order(moved[np.newaxis])[0]
        assert np.array_equal(np.bincount(space.kind, weights=moved), space.per_kind)


@pytest.mark.parametrize(
    ("name", "pins", "known"),
    [
        ("d1", (Pin(0, 1, 12), Pin(0, 2, 6)), 34259.0),
        ("d2", (Pin(0, 5, 4),), 29369.0),
        ("d2", (Pin(0, 4, 6), Pin(0, 5, 4), Pin(0, 6, 3)), 29474.0),
    ],
)
def test_where_two_kinds_meet_moves_through_pinned_cells(name, pins, known):
    """The even splits meet elsewhere. Without exchanges the search ends at 39084, 29954 and 29884."""
    profile, schedule, request = recorded_case(name)
    exact = replace(request, memory_model=MemoryModel.EXACT, pinned=pins)
    space = plan_space(question_of(profile, schedule, exact))
    splits = (even_split(profile, schedule.pipeline, mode) for mode in reversed(profile.modes))
    search = LocalSearch(space, PathRows(space), 0)
    for _ in islice(search.steps([rounded(space, space.vector(plan)) for plan in splits]), 200):
        pass
    assert search.best_time <= known * 1.0005


def body(count: int) -> LayerProfile:
    return LayerProfile("Body", LayerKind.BODY, count, 1.0, (2.0,) * len(MODES), 10.0, (8.0, None, None, None, 2.0))


def end(kind: LayerKind) -> LayerProfile:
    return LayerProfile(kind.value.title(), kind, 1, 1.0, (2.0,) * len(MODES), 5.0, (None,) * len(MODES))


HEAD, TAIL = end(LayerKind.HEAD), end(LayerKind.TAIL)


@pytest.mark.parametrize(
    ("pins", "problems"),
    [
        ([Pin(2, 4, 1)], ["chunk 2, stage 4 is outside the pipeline; chunks are 0 to 1.", "chunk 2, stage 4 is outside the pipeline; stages are 0 to 3."]),
        ([Pin(0, 1, 0)], ["chunk 0, stage 1 must hold at least 1 layer, found 0; only the virtual stage of head may have no body layer."]),
        ([Pin(0, 0, 8), Pin(0, 1, 3)], ["the pinned cells may hold at most 6 layers together, found 11; the profile has 12 body layers and 6 other virtual stages must hold at least 1."]),
        ([Pin(c, s, 1) for c in range(2) for s in range(4)], ["every cell is pinned, so they must hold all 12 body layers together, found 8."]),
    ],
)  # fmt: skip
def test_pins_that_no_plan_keeps_are_told(pins, problems):
    profile = ModelProfile("m", (HEAD, body(12)))
    with pytest.raises(PipelineError) as error:
        balance(profile, make_schedule("vpp", Pipeline(4, 8, 2)), BalanceRequest(None, pinned=tuple(pins)))
    assert error.value.problems == tuple(f"pinned: {problem}" for problem in problems)


def test_the_most_that_fits_is_no_problem():
    profile, pin = ModelProfile("m", (HEAD, body(12))), Pin(0, 0, 5)
    result = balance(profile, make_schedule("vpp", Pipeline(4, 8, 2)), BalanceRequest(None, pinned=(pin,)))
    assert held_by(result.plan, pin) == 5


def test_only_ends_may_be_empty():
    schedule = make_schedule("1f1b", Pipeline(2, 4))
    with pytest.raises(PipelineError, match="no cell may be empty"):
        balance(ModelProfile("m", (body(4),)), schedule, BalanceRequest(None, pinned=(Pin(0, 0, 0),)))
    result = balance(ModelProfile("m", (body(4), TAIL)), schedule, BalanceRequest(None, pinned=(Pin(0, 1, 0),)))
    assert [held_by(result.plan, Pin(0, stage, 0)) for stage in range(2)] == [4, 0]


def test_copies_of_a_virtual_stage_hold_the_same():
    schedule = make_schedule(
        "dualpipe", replace(exact_model("dualpipe", 100).schedule.pipeline, num_stages=4, num_micro_batches=8)
    )
    profile = ModelProfile("m", (body(12),))
    with pytest.raises(PipelineError, match="chunk 0, stage 1 and chunk 1, stage 2 are copies of one virtual stage"):
        balance(profile, schedule, BalanceRequest(None, pinned=(Pin(0, 1, 3), Pin(1, 2, 4))))
    result = balance(profile, schedule, BalanceRequest(None, pinned=(Pin(1, 2, 4),)))
    assert [held_by(result.plan, Pin(*cell, 4)) for cell in ((0, 1), (1, 2))] == [4, 4]


def test_too_few_layers_are_told_before_pins_that_do_not_add_up():
    schedule = make_schedule("1f1b", Pipeline(4, 4))
    result = balance(ModelProfile("m", (body(2),)), schedule, BalanceRequest(None, pinned=(Pin(0, 0, 2),)))
    assert result.status is Status.INFEASIBLE
    assert "cannot fill 4 virtual stages" in result.infeasibility.sentences[0]


@pytest.mark.parametrize("objective", list(Objective))
def test_the_program_written_out_holds_the_pins(objective):
    request = BalanceRequest(None, objective=objective, pinned=(Pin(1, 0, 2),))
    text = lp_text(ModelProfile("m", (body(8),)), make_schedule("vpp", Pipeline(2, 4, 2)), request)
    assert "pinned_v2: x_k0_full_v2 + x_k0_none_v2 = 2" in text


def test_the_answer_says_what_is_pinned():
    pins = tuple(Pin(0, stage, 2) for stage in range(10))
    result = balance(
        ModelProfile("m", (body(22),)), make_schedule("1f1b", Pipeline(11, 11)), BalanceRequest(None, pinned=pins)
    )
    (note,) = [note for note in result.notes if note.startswith("Pinned")]
    assert note.startswith("Pinned: 2 layers in chunk 0 of stage 0; 2 layers in chunk 0 of stage 1; ")
    assert note.endswith("of stage 7; 2 more. Answer and bound are those of plans that keep this.")


@pytest.mark.parametrize(
    ("limits", "without"),
    [
        (50.0, "Without the pins there is a plan within the limits."),
        (30.0, "Without the pins there is none either: the smallest limit would be 36.0 MiB then."),
        ((50.0, 40.0), "Without the pins there is a plan within the limits."),
        ((20.0, 30.0), "Without the pins there is none either: 8.0 MiB more on every stage would do then."),
    ],
)
def test_an_infeasible_answer_says_what_the_pins_do(limits, without):
    """Recomputed, a layer takes 14 MiB on stage 0 (2 micro-batches in flight) and 12 MiB on stage 1; 4 of 5 are pinned.

    Without the pins, 2 and 3 layers take 28 and 36 MiB, 3 and 2 take 42 and 24: 36 would do on both, or 28 and 36.
    """
    schedule = make_schedule("1f1b", Pipeline(2, 4))
    reason = balance(
        ModelProfile("m", (body(5),)), schedule, BalanceRequest(limits, pinned=(Pin(0, 0, 4),))
    ).infeasibility
    assert (reason.stage, reason.smallest_limit_mb) == (0, 56.0)
    assert "Plans must keep what is pinned: 4 layers in chunk 0 of stage 0." in reason.sentences
    assert without in reason.sentences
    assert reason.sentences[-1].endswith("fewer layers pinned to stage 0.")
