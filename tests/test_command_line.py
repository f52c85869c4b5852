"""The command line: what goes in, what comes out, and how it ends."""

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import highspy
import pytest

from sapp_core.__main__ import main
from sapp_core.domain.pipeline import Remainder
from sapp_core.domain.result import MemoryModel, Objective
from sapp_core.exports import EXPORTS
from sapp_core.schedules.registry import SCHEDULES
from tests.profiles.broken import BROKEN, Broken
from tests.recorded import GOLDEN

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "sample_profiles"
PROGRAM = [sys.executable, "-m", "sapp_core"]
CASES = json.loads((GOLDEN / "balance_cases.json").read_text(encoding="utf-8"))["cases"]
RECORDED = [
    pytest.param(case, case[run], id=f"{case['id']}-{run}")
    for case in CASES
    for run in case
    if run.startswith("sapp_") and isinstance(case[run], dict) and case[run].get("plan")
]
TINY = """
name: tiny
memory_limit: 500
stage_const_mem: 10
layers_description:
  - {name: Head, type: HEAD, nb_layer: 1, time: 1, memory_parameter: 20}
  - {name: Body, type: BODY, nb_layer: 6, time: 10, memory_parameter: 30, memory_activation: 40, memory_recompute: 4}
  - {name: Tail, type: TAIL, nb_layer: 1, time: 5, memory_parameter: 25}
"""
TINY_PIPELINE = ["--schedule", "1f1b", "--stages", "2", "--micro-batches", "4"]


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    file = tmp_path / "tiny.yaml"
    file.write_text(TINY, encoding="utf-8")
    return str(file)


def run(capsys: pytest.CaptureFixture[str], *argv: object) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of one command."""
    status = main([str(argument) for argument in argv])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def strict(text: str) -> dict:
    """JSON without the words that only some readers know."""

    def refuse(word: str) -> None:
        raise AssertionError(word)

    return json.loads(text, parse_constant=refuse)


def pipeline_of(case: dict) -> list[str]:
    schedule = "1f1b" if case["chunks"] == 1 else "vpp-less-memory" if case["less_memory"] else "vpp"
    return [
        *("--schedule", schedule, "--remainder", case["remainder"]),
        *("--stages", str(case["stages"]), "--interleave", str(case["chunks"])),
        *("--micro-batches", str(case["micro_batches"]), "--memory-limit", str(case["memory_limit_mb"])),
    ]


# balance


def test_the_classic_program_of_the_96_layer_model_is_solved_to_proven_optimality(capsys):
    status, out, err = run(
        capsys,
        *("balance", SAMPLES / "llama96_full.yaml", "--stages", 16, "--micro-batches", 32, "--memory-limit", 53000),
        *("--schedule", "1f1b", "--objective", "sapp-1", "--memory-model", "sapp", "--json", "-"),
    )
    answer = strict(out)
    assert (status, err) == (0, "")
    assert answer["status"] == "optimal"
    assert answer["objective_value"] == pytest.approx(3780)
    assert answer["solver"] == "highs"
    assert max(answer["peak_memory_mb"]) <= 53000
    assert answer["lower_bound"] <= answer["step_time"]
    assert answer["gap"] == pytest.approx(1 - answer["lower_bound"] / answer["step_time"])
    assert sum(map(sum, (row for mode in answer["plan"]["LLamaDecodeLayer"].values() for row in mode))) == 96


def test_everything_that_leaves_comes_back_with_the_same_step_time(capsys, tiny, tmp_path):
    result, settings = tmp_path / "result.json", tmp_path / "settings.yaml"
    status, out, _ = run(
        capsys, "balance", tiny, *TINY_PIPELINE, "--json", result, "--export", f"mindformers={settings}"
    )
    assert (status, out) == (0, "")
    balanced = strict(result.read_text(encoding="utf-8"))
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(balanced["plan"]), encoding="utf-8")
    for file in (result, settings, plan):
        status, out, _ = run(capsys, "simulate", tiny, *TINY_PIPELINE, "--plan", file, "--json", "-")
        simulated = strict(out)
        assert status == 0
        for key in ("step_time", "plan", "peak_memory_mb", "memory", "bubble", "even_split", "pipeline", "schedule"):
            assert simulated[key] == balanced[key]


def test_two_kinds_of_layers_leave_as_mindformers_settings_and_come_back(capsys, tmp_path):
    settings = tmp_path / "settings.yaml"
    scenario = [SAMPLES / "vision_llm.yaml", "--schedule", "1f1b", "--stages", 8, "--micro-batches", 16]
    scenario += ["--memory-limit", 40000, "--json", "-"]
    status, out, _ = run(capsys, "balance", *scenario, "--export", f"mindformers={settings}")
    balanced = strict(out)
    assert (status, balanced["status"]) == (0, "optimal")
    status, out, _ = run(capsys, "simulate", *scenario, "--plan", settings)
    assert (status, strict(out)["status"]) == (0, "feasible")
    assert strict(out)["plan"] == balanced["plan"]
    assert strict(out)["step_time"] == balanced["step_time"]


def test_text_shows_the_headline_and_one_line_a_stage(capsys, tiny):
    status, out, err = run(capsys, "balance", tiny, *TINY_PIPELINE)
    lines = out.splitlines()
    assert (status, err) == (0, "")
    assert lines[0] == "tiny: 1f1b, 2 stages × 1 chunk × 4 micro-batches"
    assert lines[1].startswith("status       optimal: proven for objective exact")
    assert [line.split("  ")[0] for line in lines[2:6]] == ["step time", "bubble", "peak memory", "gap"]
    assert "limit 500 MiB" in lines[4]
    assert [line.split()[0] for line in lines[7:]] == ["stage", "0", "1"]


def test_both_solvers_agree(capsys, tiny):
    values = set()
    for solver in ("highs", "cbc"):
        status, out, _ = run(capsys, "balance", tiny, *TINY_PIPELINE, "--solver", solver, "--json", "-")
        answer = strict(out)
        assert (status, answer["solver"], answer["status"]) == (0, solver, "optimal")
        values.add(round(answer["objective_value"], 6))
    assert len(values) == 1


def test_the_written_program_is_one_that_a_solver_reads_and_solves_to_the_same_value(capsys, tiny, tmp_path):
    file = tmp_path / "program.lp"
    status, out, _ = run(capsys, "balance", tiny, *TINY_PIPELINE, "--write-lp", file, "--json", "-")
    assert status == 0
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    assert solver.readModel(str(file)) == highspy.HighsStatus.kOk
    solver.run()
    assert solver.getInfo().objective_function_value == pytest.approx(strict(out)["objective_value"])


def test_infeasible_is_an_answer_of_its_own(capsys, tiny, tmp_path):
    settings = tmp_path / "settings.yaml"
    command = ["balance", tiny, *TINY_PIPELINE, "--memory-limit", "60", "--export", f"mindformers={settings}"]
    status, out, err = run(capsys, *command, "--json", "-")
    answer = strict(out)
    assert status == 3
    assert answer["status"] == "infeasible"
    assert answer["plan"] is None
    assert answer["step_time"] is None
    assert not settings.exists()
    assert all(line.startswith("infeasible: ") for line in err.splitlines())
    assert "stage" in err
    status, out, err = run(capsys, *command)
    assert status == 3
    assert "infeasible: no plan meets the memory limit" in out
    assert "stage" in err


# simulate


@pytest.mark.parametrize(("case", "recorded"), RECORDED)
def test_recorded_plans_take_the_recorded_time(capsys, tmp_path, case, recorded):
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(recorded["plan"]), encoding="utf-8")
    profile = SAMPLES / f"{case['profile']}.yaml"
    status, out, _ = run(capsys, "simulate", profile, *pipeline_of(case), "--plan", plan, "--json", "-")
    assert status == 0
    assert strict(out)["step_time"] == pytest.approx(recorded["step_time"], rel=1e-6)


def test_without_a_plan_the_even_split_is_simulated(capsys, tiny):
    status, out, _ = run(capsys, "simulate", tiny, *TINY_PIPELINE, "--json", "-")
    answer = strict(out)
    assert status == 0
    assert answer["plan"]["Body"]["none"] == [[3, 3]]
    assert answer["even_split"] == {key: answer[key] for key in ("step_time", "peak_memory_mb")}
    # Stage 0: head 20, 3 layers of 30, constant 10, and 2 micro-batches in flight of 3 layers of 40.
    assert answer["peak_memory_mb"][0] == 20 + 3 * 30 + 10 + 2 * 3 * 40
    assert answer["memory"][0] == {"parameter_mb": 110, "constant_mb": 10, "activation_mb": 240}


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ([], "feasible"),  # the profile's 500
        (["--memory-limit", "300"], "over_limit"),
        (["--memory-limit", "400,300"], "feasible"),
        (["--memory-limit", "300,400"], "over_limit"),
        (["--constant-memory", "200"], "over_limit"),
        (["--constant-memory", "200", "--memory-limit", "600"], "feasible"),
    ],
)
def test_a_plan_over_the_limit_is_said_and_is_no_failure(capsys, tiny, options, status):
    command = ["simulate", tiny, *TINY_PIPELINE, *options]
    ended, out, _ = run(capsys, *command, "--json", "-")
    assert (ended, strict(out)["status"]) == (0, status)
    ended, out, _ = run(capsys, *command)
    assert ended == 0
    assert ("OVER THE LIMIT on stages 0" in out) == (status == "over_limit")


def test_transfers_take_their_time(capsys, tiny):
    _, without, _ = run(capsys, "simulate", tiny, *TINY_PIPELINE, "--json", "-")
    _, with_transfers, _ = run(capsys, "simulate", tiny, *TINY_PIPELINE, "--p2p-time", "2", "--json", "-")
    assert strict(with_transfers)["step_time"] > strict(without)["step_time"]
    assert strict(with_transfers)["bubble"]["transfer"] > 0
    assert strict(with_transfers)["pipeline"]["p2p_time"] == 2


# schedule


def test_an_order_is_shown_as_text_and_as_json(capsys):
    command = ["schedule", "vpp", "--stages", 2, "--interleave", 2, "--micro-batches", 2]
    status, out, err = run(capsys, *command)
    assert (status, err) == (0, "")
    assert out.splitlines()[2:] == [
        "stage 0 [2 2]: F0.0 F0.1 F1.0 F1.1 B1.0 B1.1 B0.0 B0.1",
        "stage 1 [2 1]: F0.0 F0.1 F1.0 B1.0 F1.1 B1.1 B0.0 B0.1",
    ]
    status, out, err = run(capsys, *command, "--format", "ops", "--json", "-")
    assert (status, err) == (0, "")
    assert strict(out)["orders"] == [line.split(": ")[1].split() for line in run(capsys, *command)[1].splitlines()[2:]]
    assert set(strict(out)) == {"schedule", "orders", "stage_of", "peak_inflight"}


def test_group_size_and_remainder_reach_the_schedule(capsys):
    orders = {
        run(capsys, "schedule", "vpp", "--stages", 2, "--interleave", 2, "--micro-batches", 5, *options)[1]
        for options in ([], ["--remainder", "first"], ["--group-size", "5"])
    }
    assert len(orders) == 3


@pytest.mark.parametrize("family", SCHEDULES, ids=lambda family: family.name)
def test_every_schedule_takes_its_own_placement_and_chunks(capsys, tiny, family):
    command = ["schedule", family.name, "--stages", 2, "--micro-batches", 4, "--json", "-"]
    status, out, err = run(capsys, *command)
    assert (status, err) == (0, "")
    assert len(strict(out)["stage_of"][0]) == (family.fixed_chunks or 1)
    pipeline = ["--schedule", family.name, "--stages", 2, "--micro-batches", 4, "--overlap-efficiency", "0.5"]
    status, out, _ = run(capsys, "simulate", tiny, *pipeline, "--json", "-")
    assert status == 0
    assert strict(out)["pipeline"]["placement"] == str(family.placement)
    assert strict(out)["pipeline"]["overlap_efficiency"] == 0.5


def test_sequence_splits_need_sizes_and_reach_the_order(capsys, tiny):
    pipeline = ["--schedule", "seqpipe", "--stages", 2, "--micro-batches", 4, "--sequence-splits", 2]
    status, _, err = run(capsys, "simulate", tiny, *pipeline)
    assert status == 2
    assert "training.batch_size" in err
    status, out, _ = run(capsys, "balance", SAMPLES / "seqpp16.yaml", *pipeline, "--time-limit", 2, "--json", "-")
    assert status == 0
    assert strict(out)["pipeline"]["num_sequence_splits"] == 2
    status, out, _ = run(capsys, "schedule", *pipeline[1:])
    assert "F0.0.0 F0.0.1" in out


def test_overlap_shortens_a_step_and_split_backwards_have_their_shares(capsys, tiny):
    def step(*options):
        scenario = ["--schedule", "dualpipe-v", "--stages", 2, "--micro-batches", 4]
        return strict(run(capsys, "simulate", tiny, *scenario, *options, "--json", "-")[1])["step_time"]

    assert step("--overlap-efficiency", 1) < step()
    assert step("--input-gradient-share", "0.9") != step()


def test_jobs_for_paddle_are_text_json_or_a_refusal(capsys):
    command = ["schedule", "vpp", "--stages", 2, "--interleave", 2, "--micro-batches", 2]
    status, out, _ = run(capsys, *command, "--format", "paddle-split")
    assert status == 0
    first = out.splitlines()[2]
    assert first.startswith("stage 0: forward0.0 forward0.1 forward1.0 forward1.1 backward_b1.0")
    assert first.endswith("backward_w0.1 optimizer")
    status, out, _ = run(capsys, *command, "--format", "paddle-transfers", "--json", "-")
    assert strict(out)["mode"] == "paddle-transfers"
    assert strict(out)["jobs"][0][:2] == [["recv_forward0", 0], ["forward0", 0]]
    assert strict(out)["job_types"][-1] == "optimizer"
    status, _, err = run(capsys, "schedule", "1f1b", "--stages", 2, "--micro-batches", 2, "--format", "paddle")
    assert (status, err) == (2, "error: schedule: Paddle job lists follow vpp, found 1f1b.\n")


# check


def test_check_shows_what_was_read_and_what_was_warned_about(capsys, tmp_path):
    file = tmp_path / "profile.yaml"
    file.write_text(TINY.replace("memory_limit:", "memory_limt:"), encoding="utf-8")
    status, out, err = run(capsys, "check", file)
    assert (status, err) == (0, "")
    assert ["Body", "20", "20.8", "22.5", "23.3", "30"] in [line.split() for line in out.splitlines()]
    assert "warning: memory_limt: is not known and was ignored. `memory_limt` → `memory_limit`?" in out
    status, out, _ = run(capsys, "check", file, "--json", "-")
    answer = strict(out)
    assert status == 0
    assert answer["modes"] == ["none", "full"]
    assert len(answer["warnings"]) == 1
    assert [layer["name"] for layer in answer["layers"]] == ["Head", "Body", "Tail"]


def test_warnings_go_to_the_error_stream_when_the_answer_is_something_else(capsys, tmp_path):
    file = tmp_path / "profile.yaml"
    file.write_text(TINY + "colour: red\n", encoding="utf-8")
    status, out, err = run(capsys, "simulate", file, *TINY_PIPELINE, "--json", "-")
    assert status == 0
    assert strict(out)["status"] == "feasible"
    assert err.startswith("warning: colour: ")


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_a_broken_profile_is_answered_with_its_field(capsys, tmp_path, monkeypatch, broken: Broken):
    monkeypatch.chdir(tmp_path)
    Path(broken.name).write_bytes(broken.data)
    status, out, err = run(capsys, "check", broken.name)
    assert (status, out) == (2, "")
    assert broken.expected in err
    assert all(line.startswith("error: ") and line.endswith(".") for line in err.splitlines())


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.iterdir()))
def test_the_samples_have_nothing_to_warn_about(capsys, sample):
    status, out, err = run(capsys, "check", SAMPLES / sample, "--json", "-")
    assert (status, err) == (0, "")
    assert strict(out)["warnings"] == []


# wrong input


@pytest.mark.parametrize(
    ("argv", "sentences"),
    [
        ([], ["the following arguments are required: COMMAND; see python -m sapp_core --help."]),
        (
            ["optimise"],
            [
                "invalid choice: 'optimise' (choose from 'balance', 'simulate', 'sensitivity', 'open', 'schedule', 'sweep', 'check', 'trace')"
            ],
        ),
        (["check"], ["the following arguments are required: PROFILE"]),
        (["check", "missing.yaml"], ["missing.yaml: cannot be read: No such file or directory."]),
        (["check", "."], [".: cannot be read: Is a directory."]),
        (["check", "TINY", "--loud"], ["unrecognized arguments: --loud"]),
        (
            ["schedule", "2f2b", "--stages", "2", "--micro-batches", "2"],
            ["invalid choice: '2f2b' (choose from 'gpipe', "],
        ),
        (
            ["schedule", "1f1b", "--stages", "two", "--micro-batches", "2"],
            ["--stages: must be a whole number, found 'two'"],
        ),
        (
            ["schedule", "1f1b", "--stages", "0", "--micro-batches", "-2"],
            ["--stages: must be a whole number of at least 1, found 0.", "--micro-batches: must be a whole number"],
        ),
        (["schedule", "1f1b", "--stages", "2"], ["the following arguments are required: --micro-batches"]),
        (
            ["schedule", "1f1b", "--stag", "2", "--micro-batches", "2"],
            ["the following arguments are required: --stages"],
        ),
        (
            ["schedule", "1f1b", "--stages", "2", "--micro-batches", "2", "--interleave", "2"],
            ["--interleave: 1f1b holds 1 a stage, found 2; set it to 1 or choose vpp, vpp-less-memory,"],
        ),
        (
            ["schedule", "zbv", "--stages", "2", "--micro-batches", "4", "--interleave", "3"],
            ["--interleave: zbv holds 2 a stage, found 3; set it to 2 or choose vpp,"],
        ),
        (
            ["schedule", "1f1b", "--stages", "2", "--micro-batches", "4", "--sequence-splits", "2"],
            ["--sequence-splits: 1f1b does not split the sequence, found 2; set it to 1 or choose seqpipe,"],
        ),
        (
            ["schedule", "zbv", "--stages", "2", "--micro-batches", "4", "--overlap-efficiency", "1.5"],
            ["--overlap-efficiency: must lie between 0 and 1, found 1.5."],
        ),
        (
            ["schedule", "vpp", "--stages", "4", "--micro-batches", "8", "--interleave", "2", "--group-size", "3"],
            ["--group-size: "],
        ),
        (
            ["schedule", "vpp", "--stages", "4", "--micro-batches", "8", "--remainder", "middle"],
            ["--remainder: invalid choice: 'middle' (choose from 'last', 'first')"],
        ),
        (
            ["simulate", "TINY", *TINY_PIPELINE, "--p2p-time", "-1"],
            ["--p2p-time: must be a number of at least 0, found -1.0."],
        ),
        (
            ["simulate", "TINY", *TINY_PIPELINE, "--p2p-time", "nan"],
            ["--p2p-time: must be a number of at least 0, found nan."],
        ),
        (
            ["simulate", "TINY", *TINY_PIPELINE, "--memory-limit", "50G"],
            ["--memory-limit: must be a number, found '50G'"],
        ),
        (
            ["simulate", "TINY", *TINY_PIPELINE, "--memory-limit", "0"],
            ["--memory-limit: must be a number above 0, found 0.0."],
        ),
        (
            ["simulate", "TINY", *TINY_PIPELINE, "--memory-limit", "1,2,3"],
            ["--memory-limit: needs one number, or one for each of the 2 stages, found 3."],
        ),
        (
            ["simulate", "TINY", *TINY_PIPELINE, "--constant-memory", "-5"],
            ["--constant-memory: must be a number of at least 0, found -5.0."],
        ),
        (
            ["simulate", "TINY", *TINY_PIPELINE, "--constant-memory", "inf"],
            ["--constant-memory: must be a number of at least 0, found inf."],
        ),
        (["simulate", "TINY", *TINY_PIPELINE, "--plan", "none.json"], ["none.json: cannot be read: No such file"]),
        (["simulate", "TINY", *TINY_PIPELINE, "--plan", "TINY"], ["plan: must have the layer kinds Body as its keys"]),
        (
            ["simulate", "TINY", *TINY_PIPELINE, "--json", "no/where.json"],
            ["no/where.json: cannot be written: there is no"],
        ),
        (["balance", "TINY", *TINY_PIPELINE, "--json", "."], [".: cannot be written: it is a folder."]),
        (
            ["balance", "TINY", *TINY_PIPELINE, "--write-lp", "a/b.lp", "--export", "mindformers=c/d.yaml"],
            [
                "a/b.lp: cannot be written: there is no such folder.",
                "c/d.yaml: cannot be written: there is no such folder.",
            ],
        ),
        (
            ["balance", "TINY", *TINY_PIPELINE, "--export", "torch=x"],
            [
                "must be FORMAT=FILE with a format of scenario, report, mindformers, megatron, torch-csv, paddle, chrome-trace, plan-json"
            ],
        ),
        (
            ["balance", "TINY", *TINY_PIPELINE, "--export", "mindformers"],
            ["must be FORMAT=FILE with a format of scenario, report"],
        ),
        (
            ["balance", "TINY", *TINY_PIPELINE, "--objective", "best"],
            ["--objective: invalid choice: 'best' (choose from"],
        ),
        (
            ["balance", "TINY", *TINY_PIPELINE, "--solver", "gurobi"],
            ["--solver: invalid choice: 'gurobi' (choose from"],
        ),
        (
            ["balance", "TINY", *TINY_PIPELINE, "--time-limit", "0", "--seed", "-1"],
            ["--time-limit: must be a number of seconds above 0, found 0.0.", "--seed: must lie between 0 and"],
        ),
    ],
)
def test_wrong_input_is_one_sentence_a_problem(capsys, tiny, tmp_path, monkeypatch, argv, sentences):
    monkeypatch.chdir(tmp_path)
    status, out, err = run(capsys, *(tiny if argument == "TINY" else argument for argument in argv))
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == len(sentences), err
    for line, sentence in zip(err.splitlines(), sentences, strict=True):
        assert line.startswith("error: ")
        assert line.endswith(".")
        assert sentence in line


def test_a_plan_for_another_pipeline_is_refused_with_both_numbers(capsys, tiny, tmp_path):
    plan = tmp_path / "plan.json"
    plan.write_text('{"Body": {"none": [[2, 2, 2]]}}', encoding="utf-8")
    status, _, err = run(capsys, "simulate", tiny, *TINY_PIPELINE, "--plan", plan)
    assert (status, err) == (2, "error: plan.Body.none[0]: needs 2 stages, found 3.\n")


def test_an_export_that_has_no_words_for_the_plan_still_leaves_the_result(capsys, tmp_path, monkeypatch):
    """The best plan within this limit has one select and one comm layer in a cell; MindFormers cannot say that."""
    monkeypatch.chdir(tmp_path)
    Path("mixed.yaml").write_text(
        "layers_description:\n"
        "  - {name: Body, type: BODY, nb_layer: 2, time: 10, memory_parameter: 1, memory_select_rec: 50, memory_select_comm: 10,"
        " select_rec_time: 20, select_comm_time: 30}\n",
        encoding="utf-8",
    )
    status, out, err = run(
        capsys,
        *("balance", "mixed.yaml", "--schedule", "1f1b", "--stages", "1", "--micro-batches", "1"),
        *("--memory-limit", "70", "--json", "-", "--export", "mindformers=out.yaml"),
    )
    assert strict(out)["plan"]["Body"] == {"none": [[0]], "select": [[1]], "comm": [[1]], "both": [[0]], "full": [[0]]}
    assert status == 2
    assert err.splitlines()[-1].startswith("error: Body, chunk 0, stage 0: MindFormers cannot mix")
    assert not Path("out.yaml").exists()


def test_file_names_cannot_steer_the_terminal(capsys):
    status, _, err = run(capsys, "check", "\x1b[31mred\n.yaml")
    assert status == 2
    assert err == "error: \\x1b[31mred\\n.yaml: cannot be read: No such file or directory.\n"


# help


@pytest.mark.parametrize("command", ["balance", "simulate", "schedule", "check"])
def test_help_knows_every_choice(capsys, command):
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    words = " ".join(capsys.readouterr().out.split())
    expected = [family.name for family in SCHEDULES] if command != "check" else ["PROFILE"]
    expected += [*Remainder] if command != "check" else []
    expected += [*Objective, *MemoryModel, "mindformers", "cbc"] if command == "balance" else []
    expected += ["over_limit"] if command == "simulate" else []
    assert [word for word in expected if word not in words] == []


# as a process


def start(*argv: object, **streams: object) -> subprocess.Popen:
    return subprocess.Popen(
        [*PROGRAM, *map(str, argv)], cwd=ROOT, start_new_session=True, stderr=subprocess.PIPE, text=True, **streams
    )


def test_the_process_ends_with_the_status(tiny):
    process = start("balance", tiny, *TINY_PIPELINE, "--memory-limit", "60", stdout=subprocess.PIPE)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 3
    assert "infeasible" in out
    assert "Traceback" not in err


def test_a_reader_that_went_away_is_no_traceback(tiny):
    reading, writing = os.pipe()
    os.close(reading)
    process = start("simulate", tiny, *TINY_PIPELINE, stdout=writing)
    os.close(writing)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (2, "error: standard output: cannot be written: Broken pipe.\n")


def test_a_full_disk_is_a_sentence(tiny):
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        process = start("simulate", tiny, *TINY_PIPELINE, stdout=full)
        _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (2, "error: standard output: cannot be written: No space left on device.\n")


def test_a_terminal_without_unicode_still_gets_the_answer(tiny):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    process = start("simulate", tiny, *TINY_PIPELINE, stdout=subprocess.PIPE, env=environment)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    assert out.splitlines()[0] == "tiny: 1f1b, 2 stages \\xd7 1 chunk \\xd7 4 micro-batches"


SLOW = [
    "balance",
    SAMPLES / "sim192.yaml",
    "--schedule",
    "vpp",
    "--stages",
    16,
    "--interleave",
    3,
    "--micro-batches",
    16,
]
SLOW += ["--memory-limit", 53000, "--time-limit", 300]


def is_alive(group: int) -> bool:
    """Whether any process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(
    ("solver", "stop"), [("highs", signal.SIGINT), ("cbc", signal.SIGINT), ("cbc", signal.SIGTERM)]
)
def test_an_interrupt_ends_the_run_and_everything_it_started(solver, stop):
    """A terminal shows progress; once it has begun to, the signal reaches the program alone, not its solver."""
    terminal, screen = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, *map(str, SLOW), "--solver", solver],
        cwd=ROOT,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=screen,
        text=True,
    )
    os.close(screen)
    shown = ""
    while "best" not in shown:
        shown += os.read(terminal, 1000).decode()
    process.send_signal(stop)
    out, _ = process.communicate(timeout=60)
    rest = os.read(terminal, 100_000).decode()
    os.close(terminal)
    assert (process.returncode, out) == (130, "")
    assert rest.endswith("\r\033[Kinterrupted: nothing was finished.\r\n")
    assert not is_alive(process.pid)


def test_a_plan_is_exported_for_megatron_and_pytorch(capsys, tiny, tmp_path):
    flags, order = tmp_path / "flags.txt", tmp_path / "order.csv"
    status, _, err = run(
        capsys, "balance", tiny, *TINY_PIPELINE, "--export", f"megatron={flags}", "--export", f"torch-csv={order}"
    )
    assert (status, err) == (0, "")
    assert flags.read_text(encoding="utf-8").startswith("--pipeline-model-parallel-size 2\n")
    assert order.read_text(encoding="utf-8").splitlines() == [
        "0F0,0F1,0B0,0F2,0B1,0F3,0B2,0B3",
        "1F0,1B0,1F1,1B1,1F2,1B2,1F3,1B3",
    ]


# files of every format, scenarios and pictures


def test_every_format_is_written_by_balance_simulate_and_open(capsys, tiny, tmp_path):
    vpp = ["--schedule", "vpp", "--interleave", "2", "--stages", "2", "--micro-batches", "4"]

    def files(command: str) -> dict[str, Path]:
        return {export.name: tmp_path / f"{command}.{export.name}" for export in EXPORTS}

    def wanted(command: str) -> list[str]:
        return [part for name, file in files(command).items() for part in ("--export", f"{name}={file}")]

    assert run(capsys, "balance", tiny, *vpp, *wanted("balance"))[0] == 0
    plan = files("balance")["mindformers"]
    assert run(capsys, "simulate", tiny, *vpp, "--plan", plan, *wanted("simulate"))[0] == 0
    balanced, simulated = ({name: file.read_text() for name, file in files(c).items()} for c in ("balance", "simulate"))
    alone = {"scenario", "report"}  # they carry the result, which a simulation has none of
    assert {name: text for name, text in balanced.items() if name not in alone} == {
        name: text for name, text in simulated.items() if name not in alone
    }
    for name in alone:
        status, out, err = run(capsys, "open", files("balance")[name], "--json", "-", *wanted("open"))
        assert (status, err) == (0, "")
        assert strict(out)["plan"] == json.loads(balanced["plan-json"])
        assert {name: file.read_text() for name, file in files("open").items()} == balanced
    status, out, _ = run(capsys, "open", files("simulate")["scenario"], "--json", "-")
    assert (status, strict(out)["status"], strict(out)["lower_bound"]) == (0, "feasible", None)


def test_a_scenario_without_a_plan_and_one_that_cannot_be_opened(capsys, tiny, tmp_path):
    file = tmp_path / "scenario.json"
    assert run(capsys, "simulate", tiny, *TINY_PIPELINE, "--export", f"scenario={file}")[0] == 0
    document = json.loads(file.read_text())
    file.write_text(json.dumps(document | {"schedule": "nonsense", "scenario_version": 1}))
    status, _, err = run(capsys, "open", file)
    assert (status, err.count("\n")) == (2, 1)
    assert "'nonsense' is not known" in err
    file.write_text(json.dumps(document | {"scenario_version": 2}))
    status, _, err = run(capsys, "open", file)
    assert status == 2
    assert "from a newer release" in err
    result = {"status": "infeasible", "objective": "exact", "solver": "highs", "seconds": 1}
    result["infeasibility"] = {"sentences": ["Nothing fits."]}
    file.write_text(json.dumps(document | {"result": result}))
    status, _, err = run(capsys, "open", file)
    assert (status, err) == (3, "infeasible: Nothing fits.\n")


@pytest.mark.parametrize("wrong", ["timeline=x.gif", "timeline", "nothing=x.png", "timeline="])
def test_a_picture_that_cannot_be_is_refused_before_any_work(capsys, tiny, wrong):
    status, _, err = run(capsys, "simulate", tiny, *TINY_PIPELINE, "--picture", wrong)
    assert (status, err.count("\n")) == (2, 1)
    assert "--picture" in err


def test_a_search_that_never_was_cannot_be_drawn(capsys, tiny, tmp_path):
    status, _, err = run(capsys, "simulate", tiny, *TINY_PIPELINE, "--picture", f"search={tmp_path / 'x.png'}")
    assert status == 2
    assert "this plan was simulated, not searched for" in err


def test_a_megatron_layout_is_a_plan_to_simulate(capsys, tiny, tmp_path):
    layout = tmp_path / "layout.txt"
    layout.write_text("Et*2|t*4L\n", encoding="utf-8")
    status, out, err = run(capsys, "simulate", tiny, *TINY_PIPELINE, "--plan", layout, "--json", "-")
    assert (status, strict(out)["plan"]["Body"]["none"]) == (0, [[2, 4]])
    assert err == "note: A layout does not say what is recomputed; every layer has the mode none.\n"
    layout.write_text("Et*2|x*4L\n", encoding="utf-8")
    status, _, err = run(capsys, "simulate", tiny, *TINY_PIPELINE, "--plan", layout)
    assert status == 2
    assert err.startswith("error: layout: character 6: 'x', which is none of E, t, m, L")


def test_a_simulation_is_exported_and_comes_back_as_measured(capsys, tiny, tmp_path):
    trace = tmp_path / "trace.json"
    simulate = ["simulate", tiny, *TINY_PIPELINE]
    assert run(capsys, *simulate, "--export", f"chrome-trace={trace}")[0] == 0
    names = [event["name"] for event in json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]]
    assert names.count("F0.3") == 2

    status, out, err = run(capsys, *simulate, "--measured", trace)
    assert (status, err) == (0, "")
    assert "Measured against simulated" in out
    assert [line.split()[:3] for line in out.splitlines()[-4:]] == [[s, k, "4"] for s in "01" for k in "FB"]

    measured = strict(run(capsys, *simulate, "--measured", trace, "--json", "-")[1])["measured"]
    assert measured["step_time"]["measured"] == pytest.approx(measured["step_time"]["simulated"])
    assert measured["idle"]["measured"] == pytest.approx(measured["idle"]["simulated"])
    assert [(row["stage"], row["kind"], row["runs"]) for row in measured["ops"]] == [
        (stage, kind, 4) for stage in (0, 1) for kind in "FB"
    ]
    assert all(row["difference"] == pytest.approx(0, abs=1e-5) for row in measured["ops"])
    assert "measured" not in strict(run(capsys, *simulate, "--json", "-")[1])


def test_several_files_of_timers_are_compared_and_what_they_lack_is_a_note(capsys, tiny, tmp_path):
    files = [tmp_path / f"rank{rank}.csv" for rank in (0, 1)]
    for rank, file in enumerate(files):
        file.write_text(f"stage,kind,duration\n{rank},forward-compute,33\n", encoding="utf-8")
    options = [part for file in files for part in ("--measured", file)]
    status, out, err = run(capsys, "simulate", tiny, *TINY_PIPELINE, *options)
    assert status == 0
    assert "+2" in out.splitlines()[-2]
    assert err == "note: The measured times have no starts, so only durations are compared.\n"


def test_measured_times_of_other_ops_are_wrong_input(capsys, tiny, tmp_path):
    file = tmp_path / "m.csv"
    file.write_text("stage,kind,micro_batch,start,end\n0,F,4,0,1\n2,B,0,0,1\n", encoding="utf-8")
    status, out, err = run(capsys, "simulate", tiny, *TINY_PIPELINE, "--measured", file)
    assert (status, out) == (2, "")
    assert err.splitlines() == [
        f"error: {file}, line 2: micro_batch must be 0 to 3 for the pipeline shown, found 4.",
        f"error: {file}, line 3: stage must be 0 to 1, found 2.",
    ]
