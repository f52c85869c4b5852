"""Results of a sweep as text, JSON and CSV."""

import csv
import io
import json
from functools import cache

from sapp_core.domain.sweep import PointResult, PointStatus
from sapp_core.interchange.result import to_json
from sapp_core.interchange.sweep import sweep_csv, sweep_object, sweep_text
from sapp_core.sweep.run import tasks_of
from sapp_core.sweep.work import work_on
from tests.sweep.grids import SMALL, sample


@cache
def results():
    refused = [PointResult(p, PointStatus.REFUSED, sentences=p.problems) for p in SMALL.points() if p.problems]
    return (*refused, *map(work_on, tasks_of(SMALL, sample())))


def test_the_table_has_the_best_point_first_and_every_reason_once():
    text = sweep_text(results(), sample(), str.upper)
    lines = text.splitlines()
    assert lines[0] == "llama2_70b: 16 points, 6 with a plan that fits"
    assert lines[2].split()[:6] == ["schedule", "S", "V", "M", "K", "DP"]
    table = [line.split() for line in lines[3:19]]
    assert table[0][:4] == ["vpp", "8", "2", "8"]
    assert table[0][-1] == "*"
    statuses = [row[7] for row in table]
    assert statuses == ["feasible"] * 6 + ["infeasible"] * 6 + ["refused"] * 4
    assert sum(line.startswith("4 points: NUM_CHUNKS: 1F1B HOLDS 1") for line in lines) == 1
    over = [int(line.split()[0]) for line in lines if "THE EVEN SPLIT DOES NOT FIT" in line]
    assert sum(over) == 6
    assert len(over) == 4  # 1f1b, and vpp with one chunk a stage, need the same


def test_json_holds_every_point_with_its_plan():
    answer = json.loads(to_json(sweep_object(results(), sample())))
    assert (answer["profile"], answer["time_unit"], len(answer["points"])) == ("llama2_70b", "ms", 16)
    best, worst = answer["points"][0], answer["points"][-1]
    assert (best["status"], best["stages"], best["interleave"]) == ("feasible", 8, 2)
    assert len(best["peak_memory_mb"]) == 8
    assert set(best["plan"]) == {layer.name for layer in sample().body}
    assert best["time_per_sample"] == best["step_time"] / best["global_batch"]
    assert (worst["status"], worst["plan"], worst["peak_memory_mb"]) == ("refused", None, [])
    assert worst["sentences"]
    assert 0 in answer["pareto_front"]


def test_csv_is_read_back():
    rows = list(csv.DictReader(io.StringIO(sweep_csv(results()))))
    assert len(rows) == 16
    assert [row["status"] for row in rows].count("refused") == 4
    by_point = {
        (r.point.schedule_name, r.point.num_stages, r.point.num_chunks, r.point.memory_limit_mb): r for r in results()
    }
    for row in rows:
        found = by_point[row["schedule"], int(row["stages"]), int(row["interleave"]), float(row["memory_limit_mb"])]
        assert row["status"] == found.status
        assert row["step_time"] == ("" if found.step_time is None else str(found.step_time))
        assert row["remark"] == " ".join(found.sentences)
    assert "True" in {row["pareto"] for row in rows}
