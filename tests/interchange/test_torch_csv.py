import json
import re
from importlib.util import find_spec

import pytest
from hypothesis import assume, given

from sapp_core.domain.pipeline import Pipeline, Placement
from sapp_core.errors import FormatError
from sapp_core.interchange.torch_csv import schedule_to_torch_csv
from sapp_core.schedules.registry import family, make_schedule
from tests.recorded import GOLDEN
from tests.strategies import schedules

RECORDED = json.loads((GOLDEN / "torch_csv.json").read_text(encoding="utf-8"))["cases"]
ACTION = re.compile(r"(\d+)([FBIW])(\d+)")


@given(schedules())
def test_every_op_stands_once_on_its_rank(schedule):
    pipeline = schedule.pipeline
    assume(pipeline.num_sequence_splits == 1 and pipeline.placement is not Placement.BIDIRECTIONAL)
    lines = schedule_to_torch_csv(schedule).splitlines()
    assert len(lines) == pipeline.num_stages
    for stage, (line, slots) in enumerate(zip(lines, schedule.slots, strict=True)):
        assert len(line.split(",")) == len(slots)
        found = [(int(v), kind, int(m)) for v, kind, m in ACTION.findall(line)]
        assert found == [
            (pipeline.virtual_stage(op.chunk, stage), op.kind, op.micro_batch) for slot in slots for op in slot.ops
        ]


def test_actions_are_written_as_torch_writes_them():
    assert schedule_to_torch_csv(make_schedule("vpp", Pipeline(2, 2, 2))) == (
        "0F0,0F1,2F0,2F1,2B0,2B1,0B0,0B1\n1F0,1F1,3F0,3B0,3F1,3B1,1B0,1B1\n"
    )
    overlapped = schedule_to_torch_csv(make_schedule("dualpipe-v", Pipeline(1, 2, 2, placement=Placement.V)))
    assert "(1F1;0B0)OVERLAP_F_B" in overlapped


@pytest.mark.parametrize(
    ("name", "pipeline", "words"),
    [
        ("seqpipe", Pipeline(2, 4, num_sequence_splits=2), "no sequence splits"),
        ("dualpipe", Pipeline(2, 4, 2, placement=Placement.BIDIRECTIONAL), "one copy of the model"),
    ],
)
def test_what_torch_has_no_words_for_is_refused(name, pipeline, words):
    with pytest.raises(FormatError, match=words):
        schedule_to_torch_csv(make_schedule(name, pipeline))


@pytest.mark.parametrize(
    "case", RECORDED, ids=lambda case: f"{case['schedule']}-{case['stages']}-{case['micro_batches']}-{case['chunks']}"
)
def test_a_real_torch_reads_what_is_written(case):
    """The recorded text was loaded, validated and simulated by torch; where torch is installed it is so again."""
    name = case["schedule"]
    sizes = case["stages"], case["micro_batches"], case["chunks"]
    pipeline = Pipeline(*sizes, placement=family(name).placement)
    text = schedule_to_torch_csv(make_schedule(name, pipeline))
    assert text.splitlines() == case["csv"]
    if find_spec("torch"):
        from tests.interchange.torch_check import check

        check(text, pipeline)


def test_every_schedule_that_torch_has_words_for_is_recorded():
    assert len({case["schedule"] for case in RECORDED}) == 13
