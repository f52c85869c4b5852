"""The table of differences, to read and as CSV."""

import csv
import io

from sapp_core.comparison.table import differences_csv, stage_table, summary_table
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.profile import RecomputeMode
from tests.charts import scenes
from tests.comparison.candidates import candidate, without_memory

BASE = candidate()
FULL = candidate("full, all", mode=RecomputeMode.FULL)
WIDE = candidate("wide", pipeline=Pipeline(8, 8), limit=1000.0)


def column(table, name):
    return dict(zip(table[""], table[name], strict=True))


def test_values_stand_beside_their_differences_from_the_base():
    table = summary_table([BASE, FULL], BASE)
    assert list(table) == ["", "base", "full, all"]
    base, full = column(table, "base"), column(table, "full, all")
    assert base["Step time"] == "2,136 ms"
    step = FULL.evaluation.step_time
    assert full["Step time"] == f"{step:,.0f} ms (+{step - 2136:,.0f} ms, +{100 * (step / 2136 - 1):.1f} %)"
    assert base["Bubble"] == "42.4 %"
    assert full["Bubble: schedule itself"].endswith("(0.0 points)")
    assert full["Highest peak memory"] == "748 MiB (−672 MiB, −47.3 %)"
    assert (base["Layers moved"], full["Layers moved"]) == ("–", "0")
    assert "Stages over the limit" not in base  # nobody has a limit


def test_the_base_can_be_any_of_them():
    table = summary_table([BASE, FULL], FULL)
    assert "(" not in column(table, "full, all")["Step time"]
    assert "(−" in column(table, "base")["Step time"]


def test_stages_are_rows_up_to_the_longest_pipeline():
    table = stage_table([BASE, FULL, WIDE], BASE)
    assert table[""] == [f"Stage {stage}" for stage in range(8)]
    assert table["base"][4:] == ["–"] * 4
    assert table["full, all"][0] == "748 MiB (−672 MiB, −47.3 %)"
    assert "(" not in "".join(table["wide"])  # not the same stages


def test_without_memory_there_are_no_rows_for_it():
    one = candidate("a", profile=without_memory(scenes.profile()))
    assert stage_table([one, one], one)[""] == []
    assert "Highest peak memory" not in summary_table([one, one], one)[""]


def test_the_csv_has_every_number_with_its_difference():
    rows = list(csv.DictReader(io.StringIO(differences_csv([BASE, FULL, WIDE], BASE))))
    assert {row["scenario"] for row in rows} == {"base", "full, all", "wide"}
    step = next(row for row in rows if (row["scenario"], row["quantity"]) == ("full, all", "Step time"))
    assert float(step["value"]) - float(step["difference"]) == BASE.evaluation.step_time
    assert float(step["difference_percent"]) / 100 == FULL.evaluation.step_time / BASE.evaluation.step_time - 1
    peaks = [float(row["value"]) for row in rows if row["scenario"] == "wide" and row["stage"]]
    assert peaks == list(WIDE.evaluation.peak_memory_mb)
    over = next(row for row in rows if (row["scenario"], row["quantity"]) == ("wide", "Stages over the limit"))
    assert float(over["value"]) == len(WIDE.stages_over) > 0
    assert not any(row["difference"] for row in rows if row["scenario"] == "base")
