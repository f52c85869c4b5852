"""Points on a Dask cluster: a real scheduler and real workers on the loopback address."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event

import pytest

from sapp_core.errors import SappError
from sapp_core.sweep.cluster import DaskCluster
from sapp_core.sweep.crew import LocalCrew
from sapp_core.sweep.run import executor_for, sweep, tasks_of
from sapp_core.sweep.work import work_on
from tests.sweep.grids import LONG, SMALL, sample

ROOT = Path(__file__).parents[2]
PATIENCE = 90.0


class Cluster:
    """A scheduler of its own; workers are added by hand.

    Args:
        folder: for its files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        file = folder / "scheduler.json"
        self._processes = [
            self._start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
        ]
        self.address = wait_for(lambda: json.loads(file.read_text())["address"] if file.exists() else None)

    def add_worker(self) -> subprocess.Popen:
        worker = self._start("dask_worker", self.address, "--nthreads", "1", "--no-nanny", "--host", "127.0.0.1")
        self._processes.append(worker)
        return worker

    def _start(self, module: str, *arguments: str) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{module}", *arguments, "--no-dashboard"],
            cwd=self._folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def stop(self) -> None:
        for process in reversed(self._processes):
            process.kill()
            process.wait()


def wait_for(condition):
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def has_worker(address):
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        return bool(client.scheduler_info()["workers"])


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    started = Cluster(tmp_path_factory.mktemp("dask"))
    yield started
    started.stop()


def test_one_of_two_workers_is_killed_in_the_middle_and_every_point_is_answered_once(cluster):
    from distributed import Client

    with pytest.raises(SappError, match=r"has no workers; start some with `dask worker tcp://"):
        list(sweep(SMALL, sample(), DaskCluster(cluster.address), Event()))

    first, _ = cluster.add_worker(), cluster.add_worker()
    with Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=PATIENCE)
        results = []
        for result in sweep(LONG, sample(), executor_for(cluster.address, 1), Event()):
            results.append(result)
            if len(results) == 1:
                # It has work: Dask shares the points among the workers before the first one is done.
                processing = client.processing()
                assert len(processing) == 2
                assert all(processing.values())
                first.send_signal(signal.SIGKILL)
        assert len(client.scheduler_info()["workers"]) == 1
    assert sorted(map(repr, (result.point for result in results))) == sorted(map(repr, LONG.points()))
    assert set(results) == {work_on(task) for task in tasks_of(LONG, sample())}

    # The same path, the same content: as from the processes of this machine, and cancelled alike.
    assert set(sweep(SMALL, sample(), DaskCluster(cluster.address), Event())) == set(
        sweep(SMALL, sample(), LocalCrew(2), Event())
    )
    stop = Event()
    begun = []
    for result in sweep(LONG, sample(), DaskCluster(cluster.address), stop):
        begun.append(result)
        stop.set()
    assert 1 <= len(begun) < LONG.num_points
    rest = list(sweep(LONG, sample(), DaskCluster(cluster.address), Event(), [result.point for result in begun]))
    assert {result.point for result in (*begun, *rest)} == set(LONG.points())
    assert len(begun) + len(rest) == LONG.num_points


def test_a_scheduler_that_goes_away_is_a_sentence_and_what_is_done_is_kept(tmp_path, capfd):
    cluster = Cluster(tmp_path)
    cluster.add_worker()
    wait_for(lambda: has_worker(cluster.address))
    results = []

    def collect():
        for result in sweep(LONG, sample(), DaskCluster(cluster.address), Event()):
            results.append(result)
            cluster.stop()

    with pytest.raises(SappError, match=r"scheduler: the connection to .* was lost; what is done is kept\."):
        collect()
    assert 1 <= len(results) < LONG.num_points
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://127.0.0.1:8786", "tcp://no host"])
def test_an_address_where_nobody_answers_is_a_sentence(address, monkeypatch):
    monkeypatch.setattr("sapp_core.sweep.cluster.CONNECT_SECONDS", 0.5)
    with pytest.raises(SappError) as refused:
        list(sweep(SMALL, sample(), DaskCluster(address), Event()))
    (said,) = refused.value.problems
    assert said.startswith("scheduler: no Dask scheduler answers at ")
    assert address in said


def test_without_the_package_there_is_a_sentence_too(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SappError, match="need the package distributed; install it with"):
        list(sweep(SMALL, sample(), DaskCluster("tcp://127.0.0.1:8786"), Event()))


def test_the_package_is_imported_only_when_it_is_used():
    script = "import sys, sapp_core.sweep.run, sapp_core.__main__; print('distributed' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "False\n"
