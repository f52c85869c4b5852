"""The command `trace`."""

import gzip

import pytest

from sapp_core.profiles.load import load_profile
from tests.profiles.traces import event, mindspore, written
from tests.test_command_line import SAMPLES, run, strict


@pytest.fixture
def trace(tmp_path):
    file = tmp_path / "trace_view.json.gz"
    file.write_bytes(gzip.compress(written(mindspore(), as_object=False)))
    return file


def test_a_trace_becomes_a_profile(capsys, trace, tmp_path):
    file = tmp_path / "made.yaml"
    command = ["trace", trace, "--memory-from", SAMPLES / "llama2_70b.yaml", "--layers", "DecoderLayer=96"]
    status, out, err = run(capsys, *command, "--write", file)
    assert (status, err) == (0, "")
    assert "BODY DecoderLayer, forward: Default/*layers/#-DecoderLayer/*" in out
    made = load_profile(file.read_bytes(), "made.yaml").profile
    assert (made.name, made.num_body_layers, made.body[0].parameter_mb) == ("trace_view", 96, 1710)
    assert made.body[0].forward_time == pytest.approx(0.3015)
    status, out, _ = run(capsys, *command, "--json", "-", "--write", tmp_path / "made.json")
    assert strict(out)["name"] == "trace_view"
    assert load_profile((tmp_path / "made.json").read_bytes(), "made.json").profile == made


def test_kinds_are_named_by_patterns(capsys, tmp_path):
    file = tmp_path / "t.json"
    file.write_bytes(written([event(f"l/{i % 2}/{part}", 10 * i, 2) for i in range(20) for part in "ab"])[:-30])
    status, out, err = run(
        capsys, "trace", file, "--kind", "BODY", "L", "l/#/*", "--parts", "L", "--skip", 1, "--runs", 10
    )
    assert status == 0
    assert "0–1" in out
    assert err.startswith("note: ")
    assert "ends inside an event" in err or "closing bracket" in err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--kind", "BODY", "L"], "error: --kind BODY L: must be a place of HEAD, BODY, TAIL, a name, a pattern"),
        (["--kind", "LEG", "L", "x"], "must be a place of HEAD, BODY, TAIL"),
        (["--kind", "BODY", "L", "layer #"], 'error: L, forward: no event matches "layer #"'),
        (["--kind", "BODY", "L", "layer #"], "error: names that match nothing, longest first: Gradients/Default/"),
        (["--parts", "X"], "must name a layer kind of Head, DecoderLayer, Tail, found 'X'"),
        (["--layers", "96"], "must be NAME=LAYERS such as DecoderLayer=32, found '96'"),
        (["--layers", "DecoderLayer=0"], "must be at least 1, found '0'"),
        (["--memory-from", "nowhere.yaml"], "nowhere.yaml: cannot be read"),
    ],
)
def test_what_is_wrong_is_said(capsys, trace, options, said):
    status, out, err = run(capsys, "trace", trace, *options)
    assert (status, out) == (2, "")
    assert said in err


def test_files_that_are_no_traces(capsys, tmp_path):
    empty = tmp_path / "empty.json"
    empty.write_bytes(b"")
    assert "is empty; must hold a Chrome trace" in run(capsys, "trace", empty)[2]
    assert "cannot be read" in run(capsys, "trace", tmp_path / "nothing.json")[2]
    assert run(capsys, "trace", tmp_path)[0] == 2
