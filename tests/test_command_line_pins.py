"""`balance --pin` and `balance --start`: what goes in, what comes out, and what is refused."""

import json
from pathlib import Path

import pytest

from sapp_core.__main__ import main
from sapp_core.exports import EXPORTS

PROFILE = """
name: small
memory_limit: 500
stage_const_mem: 10
layers_description:
  - {name: Head, type: HEAD, nb_layer: 1, time: 1, memory_parameter: 20}
  - {name: Body, type: BODY, nb_layer: 8, time: 10, memory_parameter: 30, memory_activation: 40, memory_recompute: 4}
  - {name: Tail, type: TAIL, nb_layer: 1, time: 5, memory_parameter: 25}
"""
SCENARIO = ["--schedule", "vpp", "--stages", "2", "--interleave", "2", "--micro-batches", "4"]


@pytest.fixture
def profile(tmp_path: Path) -> str:
    file = tmp_path / "small.yaml"
    file.write_text(PROFILE, encoding="utf-8")
    return str(file)


def run(capsys: pytest.CaptureFixture[str], command: str, *argv: str) -> tuple[int, str, str]:
    """Exit status, standard output and standard error."""
    status = main([command, *argv])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def held(plan: dict, chunk: int, stage: int) -> int:
    return sum(cells[chunk][stage] for cells in plan["Body"].values())


def test_pinned_cells_hold_what_was_asked(capsys, profile):
    status, out, err = run(capsys, "balance", profile, *SCENARIO, "--pin", "0.1=3", "--pin", "1.0=1", "--json", "-")
    plan = json.loads(out)["plan"]
    assert (status, held(plan, 0, 1), held(plan, 1, 0)) == (0, 3, 1)
    assert "note: Pinned: 3 layers in chunk 0 of stage 1; 1 layer in chunk 1 of stage 0." in err
    free = json.loads(run(capsys, "balance", profile, *SCENARIO, "--json", "-")[1])
    assert held(free["plan"], 0, 1) != 3
    assert free["step_time"] < json.loads(out)["step_time"]


def test_the_written_program_holds_the_pins(capsys, profile, tmp_path):
    file = tmp_path / "balance.lp"
    assert run(capsys, "balance", profile, *SCENARIO, "--pin", "0.1=3", "--write-lp", str(file))[0] == 0
    assert "pinned_v1: " in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["result", "plan", "mindformers"])
def test_a_result_a_plan_or_an_export_can_be_the_start(capsys, profile, tmp_path, name):
    """The best plan found before is what a run without time answers."""
    result, export = tmp_path / "result.json", tmp_path / "plan.yaml"
    assert "mindformers" in {known.name for known in EXPORTS}
    options = ("--json", str(result), "--export", f"mindformers={export}")
    assert run(capsys, "balance", profile, *SCENARIO, "--memory-limit", "400", *options)[0] == 0
    best = json.loads(result.read_text(encoding="utf-8"))
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(best["plan"]), encoding="utf-8")
    file = {"result": result, "plan": plan, "mindformers": export}[name]
    at_once = ("--memory-limit", "400", "--time-limit", "0.000001", "--json", "-")
    status, out, err = run(capsys, "balance", profile, *SCENARIO, *at_once, "--start", str(file))
    assert (status, json.loads(out)["step_time"], err) == (0, best["step_time"], "")
    without = json.loads(run(capsys, "balance", profile, *SCENARIO, *at_once)[1])
    assert without["step_time"] > best["step_time"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--pin", "0.1"], "argument --pin: must be CHUNK.STAGE=LAYERS, whole numbers of at least 0 such as 0.3=2, found '0.1'"),
        (["--pin", "0.1=-1"], "argument --pin: must be CHUNK.STAGE=LAYERS"),
        (["--pin", "0.1=½"], "argument --pin: must be CHUNK.STAGE=LAYERS"),
        (["--pin", "0.2=1"], "--pin: chunk 0, stage 2 is outside the pipeline; stages are 0 to 1."),
        (["--pin", "0.0=1", "--pin", "0.0=2"], "--pin: a cell can have one number of layers only, found 1 and 2 for chunk 0, stage 0."),
        (["--pin", "0.1=0"], "--pin: chunk 0, stage 1 must hold at least 1 layer, found 0; only the virtual stages of head and tail may have no body layer."),
        (["--pin", "0.1=8"], "--pin: the pinned cells may hold at most 7 layers together, found 8; the profile has 8 body layers and 1 other virtual stage must hold at least 1."),
        (["--start", "no-such-file"], "no-such-file: cannot be read"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_sentence(capsys, profile, options, told):
    status, out, err = run(capsys, "balance", profile, *SCENARIO, *options)
    assert (status, out) == (2, "")
    assert err.startswith(f"error: {told}")
    assert err.count("\n") == 1


def test_a_start_that_does_not_fit_names_what_is_off(capsys, profile, tmp_path):
    file = tmp_path / "plan.json"
    file.write_text('{"Body": {"none": [[2, 2], [2, 1]]}}', encoding="utf-8")
    status, _, err = run(capsys, "balance", profile, *SCENARIO, "--start", str(file))
    assert (status, err) == (2, "error: plan of Body: places 7 layers, the profile has 8: 1 missing.\n")


def test_pins_beyond_the_memory_are_told_with_what_would_do(capsys, profile):
    status, _, err = run(capsys, "balance", profile, *SCENARIO, "--pin", "0.1=6", "--memory-limit", "220")
    assert status == 3
    assert "infeasible: Plans must keep what is pinned: 6 layers in chunk 0 of stage 1." in err
    assert "infeasible: Without the pins there is a plan within the limits." in err
    assert "fewer layers pinned to stage 1" in err
    smallest = err.split("the same on every stage: ")[1].split(" MiB")[0]
    assert run(capsys, "balance", profile, *SCENARIO, "--pin", "0.1=6", "--memory-limit", smallest)[0] == 0
