"""The command `sweep`."""

import csv
import json
import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest

from sapp_core.__main__ import main
from sapp_core.domain.result import Objective
from sapp_core.schedules.registry import SCHEDULES
from tests.test_command_line import PROGRAM, ROOT, SAMPLES, is_alive, run, strict, tiny  # noqa: F401 (a fixture)

LISTS = ["--schedule", "1f1b,vpp", "--stages", "1-2", "--interleave", "1,2", "--micro-batches", "2,4"]


def test_a_table_with_the_best_first_and_how_long_it_will_take(capsys, tiny):  # noqa: F811
    status, out, err = run(capsys, "sweep", tiny, *LISTS, "--workers", 1)
    assert status == 0
    lines = out.splitlines()
    assert lines[0] == "tiny: 16 points, 12 with a plan that fits"
    assert lines[3].split()[0] == "vpp"
    assert "4 points: --interleave: 1f1b holds 1 a stage, found 2" in out
    assert err.startswith("sweep: 16 points, 4 of which cannot run; estimated to take about ")
    assert err.endswith(" with 1 worker process.\n")


def test_json_and_csv(capsys, tiny, tmp_path):  # noqa: F811
    file = tmp_path / "points.csv"
    status, out, _ = run(capsys, "sweep", tiny, *LISTS, "--memory-limit", "none, 60, 500", "--json", "-", "--csv", file)
    assert status == 0
    answer = strict(out)
    assert len(answer["points"]) == 48
    assert {point["memory_limit_mb"] for point in answer["points"]} == {None, 60, 500}
    assert "infeasible" in {point["status"] for point in answer["points"]}
    rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    assert [row["status"] for row in rows] == [point["status"] for point in answer["points"]]


def test_balanced_points_beat_the_even_split(capsys, tiny):  # noqa: F811
    command = ["sweep", tiny, "--schedule", "1f1b", "--stages", "2", "--micro-batches", "4", "--json", "-"]
    _, out, _ = run(capsys, *command)
    even = strict(out)["points"][0]
    _, out, err = run(capsys, *command, "--time-limit", 20, "--objective", "exact,sapp-1")
    first, second = strict(out)["points"]
    assert {first["objective"], second["objective"]} == {"exact", "sapp-1"}
    assert {first["status"], second["status"]} == {"optimal"}
    assert first["step_time"] <= even["step_time"]
    assert first["gap"] < 1e-4
    assert "at most 21 s" in err


def test_constant_devices_and_batch(capsys, tiny):  # noqa: F811
    _, out, _ = run(
        capsys,
        *("sweep", tiny, "--schedule", "1f1b", "--stages", "1,2,3", "--devices", 4, "--global-batch", 16),
        *("--micro-batch-size", 2, "--json", "-"),
    )
    points = {point["stages"]: point for point in strict(out)["points"]}
    assert [(points[s]["data_parallel"], points[s]["micro_batches"]) for s in (1, 2)] == [(4, 2), (2, 4)]
    assert points[3]["status"] == "refused"
    assert points[3]["sentences"] == ["num_stages: 3 do not divide the 4 devices; 2 or 4 would."]


@pytest.mark.parametrize(
    ("changes", "sentences"),
    [
        (
            ["--stages", "x", "--interleave", "0"],
            ["--stages: must be whole numbers or ranges", "--interleave: numbers"],
        ),
        (["--schedule", "2f2b"], ["schedule: '2f2b' is not known; choose from gpipe"]),
        (["--objective", "best", "--micro-batches", "-1"], ["--micro-batches: must be", "--objective: 'best' is not"]),
        (["--global-batch", "8"], ["--micro-batches: follow from the global batch"]),
        (["--devices", "0"], ["--devices: must be a whole number of at least 1, found 0."]),
        (["--memory-limit", "lots"], ["--memory-limit: must be MiB above 0, a range, or none, found 'lots'."]),
        (["--workers", "0"], ["--workers: must lie between 1 and 256, found 0."]),
        (["--time-limit", "-1"], ["--time-limit: must be a number of seconds above 0, found -1.0."]),
        (["--csv", "no/where.csv"], ["no/where.csv: cannot be written: there is no such folder."]),
        (["--scheduler", "tcp://127.0.0.1:9"], ["--scheduler: no Dask scheduler answers at 'tcp://127.0.0.1:9'"]),
    ],
)
def test_wrong_input_is_one_sentence_a_problem(capsys, tiny, tmp_path, monkeypatch, changes, sentences):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sapp_core.sweep.cluster.CONNECT_SECONDS", 0.5)
    status, _, err = run(capsys, "sweep", tiny, "--schedule", "1f1b", "--stages", 2, "--micro-batches", 4, *changes)
    assert status == 2
    errors = [line.removeprefix("error: ") for line in err.splitlines() if line.startswith("error: ")]
    assert len(errors) == len(sentences), err
    for line, sentence in zip(errors, sentences, strict=True):
        assert line.startswith(sentence)


def test_help_knows_every_choice(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["sweep", "--help"])
    assert ended.value.code == 0
    words = " ".join(capsys.readouterr().out.split())
    assert [word for word in (*(family.name for family in SCHEDULES), *Objective, "tcp://") if word not in words] == []


def test_an_interrupted_sweep_keeps_what_is_done_and_leaves_nothing_running(tmp_path):
    """A terminal shows progress; once a point is done, the signal reaches the program alone."""
    file = tmp_path / "points.json"
    terminal, screen = pty.openpty()
    process = subprocess.Popen(
        [
            *(*PROGRAM, "sweep", str(SAMPLES / "sim192.yaml"), "--schedule", "1f1b,vpp", "--stages", "8,16"),
            *("--interleave", "1,3", "--micro-batches", "16", "--time-limit", "300", "--json", str(file)),
        ],
        cwd=ROOT,
        start_new_session=True,
        stderr=screen,
    )
    os.close(screen)
    shown = ""
    while "points done" not in shown:
        shown += os.read(terminal, 1000).decode()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    rest = os.read(terminal, 100_000).decode()
    os.close(terminal)
    points = json.loads(file.read_text(encoding="utf-8"))["points"]
    assert 1 <= len(points) < 8
    assert f"interrupted: {len(points)} of 8 points were done." in rest
    assert not is_alive(process.pid)
    assert isinstance(file, Path)
