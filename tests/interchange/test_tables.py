"""CSV tables say the same as the evaluation they come from."""

import csv
import io

from hypothesis import given

from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Plan, placed
from sapp_core.domain.profile import MODES, RecomputeMode
from sapp_core.domain.sensitivity import Excess, ProfileNumber, Quantity, Reaction, Sensitivity
from sapp_core.interchange.tables import csv_text, memory_csv, ops_csv, plan_csv, sensitivity_csv
from sapp_core.study import evaluate
from tests.strategies import studies


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_plan_has_one_line_for_each_cell_and_kind_in_model_order():
    pipeline = Pipeline(num_stages=2, num_micro_batches=2, num_chunks=2)
    plan = Plan(
        (
            placed('A, "first"', pipeline, [(RecomputeMode.NONE, 0, 0, 2), (RecomputeMode.FULL, 0, 1, 1)]),
            placed("B", pipeline, [(RecomputeMode.SELECT, 0, 1, 3), (RecomputeMode.BOTH, 1, 1, 4)]),
        )
    )
    assert plan_csv(plan, pipeline) == (
        "virtual_stage,chunk,stage,layer,none,select,comm,both,full,layers\n"
        '0,0,0,"A, ""first""",2,0,0,0,0,2\n'
        '1,0,1,"A, ""first""",0,0,0,0,1,1\n'
        "1,0,1,B,0,3,0,0,0,3\n"
        "3,1,1,B,0,0,0,4,0,4\n"
    )


@given(studies())
def test_the_plan_table_holds_every_layer(study):
    profile, schedule, plan = study
    rows = read(plan_csv(plan, schedule.pipeline))
    for layer in profile.body:
        counts = [sum(int(row[mode]) for mode in MODES) for row in rows if row["layer"] == layer.name]
        assert sum(counts) == layer.num_layers * len(schedule.pipeline.cells(0))
        assert counts == [int(row["layers"]) for row in rows if row["layer"] == layer.name]


@given(studies())
def test_memory_parts_add_up_to_the_peak_of_each_stage(study):
    evaluation = evaluate(*study)
    rows = read(memory_csv(evaluation))
    assert [float(row["peak_mb"]) for row in rows] == list(evaluation.peak_memory_mb)
    for row in rows:
        parts = [float(value) for name, value in row.items() if name not in {"stage", "peak_mb"}]
        assert abs(sum(parts) - float(row["peak_mb"])) <= 1e-9 * max(1.0, sum(parts))


@given(studies())
def test_every_op_is_listed_with_the_times_of_its_slot(study):
    evaluation = evaluate(*study)
    rows = read(ops_csv(evaluation))
    assert len(rows) == evaluation.schedule.num_ops
    assert max(float(row["end"]) for row in rows) == evaluation.step_time
    for row in rows:
        stage, index = int(row["stage"]), int(row["slot"])
        found = (row["op"], int(row["chunk"]), int(row["micro_batch"]), int(row["sequence_split"]))
        ops = evaluation.schedule.slots[stage][index].ops
        assert found in {(op.kind, op.chunk, op.micro_batch, op.sequence_split) for op in ops}
        assert float(row["start"]) == evaluation.timeline.starts[stage][index]
        assert float(row["end"]) == evaluation.timeline.ends[stage][index]
    assert {row["phase"] for row in rows} <= {"warm-up", "steady", "cool-down"}


def test_every_number_of_the_profile_has_a_line_with_what_it_moves():
    number = ProfileNumber(Quantity.ACTIVATIONS, "A, b", RecomputeMode.FULL, 30.0)
    idle = ProfileNumber(Quantity.TRANSFER, "", None, 2.0)
    found = Sensitivity(0.1, 10.0, 20.0, (), (Reaction(number, 19.0, 21.0, Excess(3, 0.5)),), (idle,))
    row, still = read(sensitivity_csv(found, "us"))
    assert (row["layer"], row["number"], row["mode"], row["unit"]) == ("A, b", "activation memory", "full", "MiB")
    assert (row["moves"], row["if_smaller"], row["if_larger"]) == ("highest_peak", "19.0", "21.0")
    assert (row["full_stage"], row["beyond_limit_mb"]) == ("3", "0.5")
    assert (still["number"], still["unit"], still["moves"], still["if_larger"]) == ("transfer time", "us", "", "")


def test_names_that_a_spreadsheet_would_run_are_text():
    names = ("=1+1", "+1", "-rf", "@SUM(1)", "\t=1", "a=1", "")
    rows = read(csv_text(("name", "number"), ((name, -1.5) for name in names)))
    assert [row["name"] for row in rows] == [f"'{name}" for name in names[:5]] + ["a=1", ""]
    assert {row["number"] for row in rows} == {"-1.5"}
