from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.schedule import Op, OpKind, Phase, Schedule, Slot, phase_of, single_slots
from sapp_core.schedules.registry import make_schedule


def test_tokens_say_kind_chunk_micro_batch_and_split():
    pair = Slot((Op(OpKind.F, 0, 3), Op(OpKind.B, 1, 2)))
    schedule = Schedule("any", Pipeline(1, 4, 2), ((pair, *single_slots([Op(OpKind.W, 0, 1)])),))
    assert schedule.tokens() == (("F0.3+B1.2", "W0.1"),)
    split = Schedule("any", Pipeline(1, 4, num_sequence_splits=2), (single_slots([Op(OpKind.F, 0, 3, 1)]),))
    assert split.tokens() == (("F0.3.1",),)


def test_phases_of_1f1b():
    schedule = make_schedule("1f1b", Pipeline(4, 6))
    # Stage s has 4 − s forwards before its first backward; the steady phase ends with its last forward.
    assert schedule.phases() == ((4, 8), (3, 9), (2, 10), (1, 11))
    names = [phase_of(i, schedule.phases()[0]) for i in range(12)]
    assert names == [Phase.WARM_UP] * 4 + [Phase.STEADY] * 4 + [Phase.COOL_DOWN] * 4


def test_gpipe_has_no_steady_phase():
    assert make_schedule("gpipe", Pipeline(2, 3)).phases() == ((3, 3), (3, 3))


def test_num_ops():
    assert make_schedule("vpp", Pipeline(2, 4, 3)).num_ops == 2 * 2 * 4 * 3
