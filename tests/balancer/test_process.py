"""Balancing in a process of its own. Waiting here has no time limits of its own: what hangs, hangs the tests."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from sapp_core.balancer.balance import balance
from sapp_core.balancer.process import BalanceProcess
from sapp_core.balancer.solvers import POLL_SECONDS
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.request import BalanceRequest
from sapp_core.domain.result import BalanceResult, Progress, Status
from sapp_core.errors import PipelineError, SappError, SolverError
from tests.balancer.recorded_cases import recorded_case

ENDLESS = 3600.0


def start(name: str, **changes) -> BalanceProcess:
    profile, schedule, request = recorded_case(name)
    return BalanceProcess(profile, schedule.name, schedule.pipeline, replace(request, **changes))


def until(condition):
    while not (found := condition()):
        time.sleep(0.01)
    return found


def answer(process: BalanceProcess) -> BalanceResult | SappError:
    return until(lambda: None if isinstance(news := process.poll(), Progress) else news)


def group(pid: int) -> list[int]:
    """Living processes of a process group, zombies not counted."""
    members = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, _, member_of = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
            except OSError:
                continue
            if int(member_of) == pid and state != "Z":
                members.append(int(entry.name))
    return members


def test_the_answer_is_that_of_the_same_run_in_this_process():
    expected = balance(*recorded_case("a1"))
    with start("a1") as process:
        result = answer(process)
    assert result.status is Status.OPTIMAL
    assert (result.plan, result.step_time, result.objective_value) == (
        expected.plan,
        expected.step_time,
        expected.objective_value,
    )
    assert process.best == result
    assert process.poll() == result
    assert group(process.pid) == []


@pytest.mark.parametrize("solver", ["highs", "cbc"])
def test_cancel_leaves_no_process_and_no_file(solver):
    process = start("b1", solver=solver, time_limit=ENDLESS)
    until(lambda: isinstance(process.poll(), Progress))
    folder = Path(process.folder)
    if solver == "cbc":
        until(lambda: len(group(process.pid)) == 2 and any(folder.rglob("*.mps")))
    process.cancel()
    assert group(process.pid) == []
    assert not folder.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)  # not even a zombie


def test_cancel_keeps_the_best_plan():
    profile, schedule, _ = recorded_case("b1")
    process = start("b1", time_limit=ENDLESS)
    until(lambda: process.poll() and process.best)
    best = process.cancel()
    assert best.status is Status.FEASIBLE
    best.plan.check(profile, schedule.pipeline)
    assert best.lower_bound <= best.step_time
    assert process.cancel() is best


def test_cancel_at_once():
    process = start("b1", time_limit=ENDLESS)
    assert process.cancel() is None
    assert group(process.pid) == []


def test_progress_keeps_coming():
    assert POLL_SECONDS <= 0.5  # the promise is two a second
    process = start("b1", time_limit=ENDLESS)
    told = []

    def collect() -> bool:
        news = process.poll()
        if isinstance(news, Progress) and news not in told:
            told.append(news)
        return len(told) >= 6

    until(collect)
    process.cancel()
    assert [state.seconds for state in told] == sorted(state.seconds for state in told)


def test_wrong_input_is_an_answer():
    profile, schedule, request = recorded_case("e1")
    with BalanceProcess(profile, "zigzag", schedule.pipeline, request) as process:
        error = answer(process)
    assert isinstance(error, PipelineError)
    assert "'zigzag' is not known" in str(error)
    with BalanceProcess(profile, "1f1b", Pipeline(4, 8), BalanceRequest((1.0,))) as process:
        assert "one for each of the 4 stages" in str(answer(process))


def test_infeasible_comes_through():
    with start("e1", memory_limit_mb=500.0) as process:
        result = answer(process)
    assert result.status is Status.INFEASIBLE
    assert result.infeasibility.smallest_limit_mb == pytest.approx(4860.0)
    assert process.best is None


def test_a_worker_that_dies_is_an_error_and_no_silence():
    process = start("b1", time_limit=ENDLESS)
    until(lambda: isinstance(process.poll(), Progress))
    os.kill(process.pid, signal.SIGKILL)
    error = answer(process)
    assert isinstance(error, SolverError)
    assert "ended before its answer (exit status -9)" in str(error)


@pytest.mark.parametrize("solver", ["highs", "cbc"])
def test_the_worker_ends_when_its_owner_is_killed(solver):
    script = (
        "import sys, time\n"
        "from tests.balancer.test_process import start, until, group\n"
        "from sapp_core.domain.result import Progress\n"
        f"process = start('b1', solver={solver!r}, time_limit={ENDLESS})\n"
        "until(lambda: isinstance(process.poll(), Progress))\n"
        f"until(lambda: len(group(process.pid)) == {1 + (solver == 'cbc')})\n"
        "print(process.pid, flush=True)\n"
        "time.sleep(3600)\n"
    )
    root = Path(__file__).parents[2]
    owner = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=root)
    pid = int(owner.stdout.readline())
    assert group(pid)
    owner.kill()
    owner.wait()
    owner.stdout.close()
    until(lambda: not group(pid))


def test_it_works_from_any_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with start("e1") as process:
        assert answer(process).status is Status.OPTIMAL


def test_starting_one_imports_no_solver():
    """The page that starts it should not wait for them."""
    script = "import sys, sapp_core.balancer.process; print({'pulp', 'highspy', 'numpy'} & set(sys.modules))"
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout == "set()\n"
