"""The exported program is read by the solvers' own readers, and means the same there."""

import re
import subprocess
from dataclasses import replace

import highspy
import pulp
import pytest

from sapp_core.balancer.balance import balance, lp_text
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.profile import MODES, LayerKind, LayerProfile, ModelProfile
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import Objective, Status
from sapp_core.schedules.registry import make_schedule
from tests.balancer.recorded_cases import recorded_case


def odd_names() -> tuple:
    """Names of layers are text from a file: they must not get into the program's syntax."""
    kinds = tuple(
        LayerProfile(name, LayerKind.BODY, 3, 1.5, (3.0, 3.5, 3.0, 3.0, 4.0), 10.0, (8.0, 5.0, None, None, 2.0))
        for name in ("free [x] >= 3 + e5", "Ünï\nEnd")
    )
    request = BalanceRequest(80.0, objective=Objective.SAPP_2, threads=1)
    assert len(MODES) == 5
    return ModelProfile("a \\ b", kinds), make_schedule("vpp", Pipeline(2, 4, 2)), request


def exact() -> tuple:
    """Few layers: the program with the paths of the relaxation only is solved at once."""
    profile, _, request = odd_names()
    return profile, make_schedule("vpp", Pipeline(2, 4, 2, p2p_time=0.5)), replace(request, objective=Objective.EXACT)


@pytest.fixture(params=["e1", "odd names"])
def case(request):
    return odd_names() if request.param == "odd names" else recorded_case(request.param)


def value_by_highs(file) -> float:
    model = highspy.Highs()
    model.silent()
    model.setOptionValue("threads", 1)  # on one thread, all solves must say the same
    assert model.readModel(str(file)) == highspy.HighsStatus.kOk
    model.run()
    assert model.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return model.getObjectiveValue()


def value_by_cbc(file) -> float:
    cbc = pulp.PULP_CBC_CMD.pulp_cbc_path
    printed = subprocess.run([cbc, str(file), "-solve", "-quit"], capture_output=True, text=True, check=True).stdout
    assert "Optimal solution found" in printed
    return float(re.search(r"Objective value:\s+(\S+)", printed)[1])


@pytest.fixture
def file(case, tmp_path):
    path = tmp_path / "balance.lp"
    path.write_text(lp_text(*case), encoding="utf-8")
    return path


def test_highs_reads_it(case, file):
    assert value_by_highs(file) == pytest.approx(balance(*case).objective_value, rel=1e-6)


def test_cbc_reads_it(case, file):
    assert value_by_cbc(file) == pytest.approx(balance(*case).objective_value, rel=1e-6)


def test_the_exact_program_means_the_same_to_both_and_bounds_the_step_time(tmp_path):
    """It carries the paths of the relaxation, not all there are: its value is a bound, and a good one."""
    path = tmp_path / "exact.lp"
    path.write_text(lp_text(*exact()), encoding="utf-8")
    value, result = value_by_highs(path), balance(*exact())
    assert value == pytest.approx(value_by_cbc(path), rel=1e-6)
    assert result.status is Status.OPTIMAL
    assert 0.95 * result.step_time <= value <= result.step_time * (1 + 1e-9)


def test_it_is_written_in_the_profiles_own_terms(case):
    text = lp_text(*recorded_case("e1"))
    assert re.search(r"\bmemory_s0_0:.* <= 12000\b", text.replace("\n", " "))
    assert "x_k0_select_v3" in text
    assert "stage_max" in text
