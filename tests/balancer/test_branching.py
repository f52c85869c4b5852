"""What is divided on is whole in every plan, and enough to tell a plan from anything else."""

import numpy as np
import pytest

from sapp_core.balancer.branching import Gains, whole_sums
from sapp_core.balancer.path_bound import PlanModel
from tests.balancer.exact_spaces import allowed_plans, space_of_case, space_of_model, unit_of
from tests.balancer.tiny_exact import exact_model


@pytest.mark.parametrize("name", ["1f1b", "vpp", "zbv", "dualpipe"])
@pytest.mark.parametrize("seed", range(4))
def test_all_sums_of_a_plan_are_whole_and_those_of_a_mix_are_not(name, seed):
    tiny = exact_model(name, seed)
    space = space_of_model(tiny)
    model = PlanModel(space, unit_of(space), 0, relax=True)
    sums = whole_sums(model)
    plans, _ = allowed_plans(tiny, space)
    for plan in plans[:20]:
        values = np.zeros(model.live.num_columns)
        values[model.columns] = plan
        assert not len(sums.fractional(values)[0])
        values[model.columns] = 0.5 * plan + 0.5 * plans[0]
        mixed = bool((values % 1 > 0).any())
        assert (len(sums.fractional(values)[0]) > 0) == mixed


def test_stages_come_before_cells_and_cells_before_modes():
    space = space_of_case("c1")
    model = PlanModel(space, unit_of(space), 0, relax=True)
    sums = whole_sums(model)
    sizes = sums.weights.sum(axis=1)
    chunks, modes = space.question.schedule.pipeline.num_chunks, len(space.question.profile.modes)
    assert [set(sizes[sums.level == level]) for level in np.unique(sums.level)] == [{chunks * modes}, {modes}, {1}]


def test_where_kinds_meet_comes_first():
    space = space_of_case("d2")
    model = PlanModel(space, unit_of(space), 0, relax=True)
    sums = whole_sums(model)
    first = sums.weights[sums.level == sums.level.min()]
    assert not first[:, model.columns].any()


def test_gains_are_means_per_distance():
    gains = Gains(2)
    assert gains.expected(0, 1, 0.5) is None
    gains.learn(0, 1, gain=3.0, distance=0.5)
    gains.learn(0, 1, gain=1.0, distance=0.5)
    assert gains.expected(0, 1, 0.25) == pytest.approx(1.0)
    assert gains.expected(0, 0, 0.25) is None
