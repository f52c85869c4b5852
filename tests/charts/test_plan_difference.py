from sapp_core.charts.plan_difference import difference_sentences, difference_table
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Plan, placed
from sapp_core.domain.profile import RecomputeMode

NONE, SELECT, FULL = RecomputeMode.NONE, RecomputeMode.SELECT, RecomputeMode.FULL
PIPELINE = Pipeline(2, 4)


def test_stages_are_told_in_words_and_cells_in_a_table():
    before = Plan((placed("A", PIPELINE, [(NONE, 0, 0, 2), (FULL, 0, 0, 2), (NONE, 0, 1, 3)]),))
    after = Plan((placed("A", PIPELINE, [(NONE, 0, 0, 3), (NONE, 0, 1, 3), (SELECT, 0, 1, 1)]),))
    assert difference_sentences(before, after, PIPELINE) == (
        "Stage 0: 4 → 3 layers; 2 → 0 recomputed fully.",
        "Stage 1: 3 → 4 layers; 0 → 1 recomputed in part (select).",
    )
    assert difference_table(before, after, PIPELINE) == {
        "Virtual stage": [0, 1],
        "Stage": [0, 1],
        "Chunk": [0, 0],
        "Layers": ["4 → 3", "3 → 4"],
        "Recomputation": ["none 2 → 3, full 2 → 0", "select 0 → 1"],
    }
    assert difference_sentences(before, before, PIPELINE) == ()


def test_several_kinds_are_named():
    first, second = placed("A", PIPELINE, [(NONE, 0, 0, 2)]), placed("B", PIPELINE, [(NONE, 0, 1, 2)])
    before = Plan((first, second))
    after = Plan(
        (
            placed("A", PIPELINE, [(NONE, 0, 0, 1), (FULL, 0, 0, 1)]),
            placed("B", PIPELINE, [(NONE, 0, 0, 1), (NONE, 0, 1, 1)]),
        )
    )
    assert difference_sentences(before, after, PIPELINE) == (
        "Stage 0: 0 → 1 recomputed fully (A layers).",
        "Stage 0: 0 → 1 B layers.",
        "Stage 1: 2 → 1 B layers.",
    )
    assert difference_table(before, after, PIPELINE)["Layer kind"] == ["A", "B", "B"]
