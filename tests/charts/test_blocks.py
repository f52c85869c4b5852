import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.charts.blocks import ALONE, LOWER, UPPER, blocks_of
from sapp_core.domain.schedule import OP_KINDS, phase_of
from sapp_core.study import evaluate
from tests.charts import scenes
from tests.strategies import studies


@given(studies())
def test_every_op_is_one_block_with_its_own_times_and_phase(study):
    evaluation = evaluate(*study)
    schedule = evaluation.schedule
    blocks = blocks_of(evaluation)
    expected = [
        (s, op.kind, op.chunk, op.micro_batch, start, end, str(phase_of(i, limits)))
        for s, (slots, limits) in enumerate(zip(schedule.slots, schedule.phases(), strict=True))
        for i, (slot, start, end) in enumerate(
            zip(slots, evaluation.timeline.starts[s], evaluation.timeline.ends[s], strict=True)
        )
        for op in slot.ops
    ]
    phases = ("warm-up", "steady", "cool-down")
    found = [
        (s, OP_KINDS[k], c, m, start, end, phases[p])
        for s, k, c, m, start, end, p in zip(
            *(
                array.tolist()
                for array in (
                    blocks.stage,
                    blocks.kind,
                    blocks.chunk,
                    blocks.micro_batch,
                    blocks.start,
                    blocks.end,
                    blocks.phase,
                )
            ),
            strict=True,
        )
    ]
    assert found == expected


def test_overlapped_ops_share_times_and_lie_one_above_the_other():
    blocks = blocks_of(scenes.overlapped())
    assert blocks.half.tolist() == [ALONE, UPPER, LOWER, ALONE, ALONE] * 2
    assert blocks.start[1] == blocks.start[2]
    assert blocks.end[1] == blocks.end[2]


@given(st.floats(0, 500), st.floats(0.5, 500))
def test_a_window_holds_exactly_the_blocks_it_touches(start, width):
    blocks = blocks_of(scenes.evaluation())
    window = (start, start + width)
    inside = blocks.within(window)
    touched = np.minimum(blocks.end, window[1]) - np.maximum(blocks.start, window[0]) > 0
    assert len(inside) == touched.sum()
    assert inside.micro_batch.tolist() == blocks.micro_batch[touched].tolist()
