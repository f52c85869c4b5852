"""`python -m sapp_core sensitivity`."""

import csv
import json
from pathlib import Path

import pytest

from tests.test_command_line import TINY, TINY_PIPELINE, run


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    file = tmp_path / "tiny.yaml"
    file.write_text(TINY, encoding="utf-8")
    return str(file)


def test_every_number_is_told_as_text_csv_and_json(capsys, tiny, tmp_path):
    table = tmp_path / "numbers.csv"
    status, out, err = run(capsys, "sensitivity", tiny, *TINY_PIPELINE, "--csv", table)
    assert (status, err) == (0, "")
    assert out.startswith("measure first")
    assert "backward time of Body" in out
    status, out, _ = run(capsys, "sensitivity", tiny, *TINY_PIPELINE, "--change", "20", "--json", "-")
    told = json.loads(out)
    assert (status, told["share"]) == (0, 0.2)
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    told_numbers = [*told["step_time_reactions"], *told["highest_peak_reactions"], *told["idle"]]
    assert {(row["layer"], row["number"]) for row in rows} == {
        (number["layer"] or "", number["quantity"]) for number in told_numbers
    }
    # Simulated by itself: all times of the profile follow from `time`, a fifth longer with a fifth more of each.
    _, out, _ = run(capsys, "simulate", tiny, *TINY_PIPELINE, "--json", "-")
    base = json.loads(out)["step_time"]
    assert told["step_time"] == base
    assert sum(r["if_larger"] - base for r in told["step_time_reactions"]) == pytest.approx(0.2 * base)


def test_memory_beyond_the_limit_names_the_stage(capsys, tiny):
    _, out, _ = run(capsys, "sensitivity", tiny, *TINY_PIPELINE, "--json", "-")
    peak = json.loads(out)["highest_peak_mb"]
    _, out, _ = run(capsys, "sensitivity", tiny, *TINY_PIPELINE, "--memory-limit", peak + 1)
    assert "close to the limit" in out
    assert "(stage 0)" in out


@pytest.mark.parametrize("change", ["0", "51", "nan", "x"])
def test_a_change_out_of_range_is_refused_in_one_sentence(capsys, tiny, change):
    status, out, err = run(capsys, "sensitivity", tiny, *TINY_PIPELINE, "--change", change)
    assert (status, out) == (2, "")
    assert err.startswith("error: argument --change: must be a ")
    assert err.count("\n") == 1
