import pytest

from sapp_core.domain.pipeline import Pipeline, Placement
from sapp_core.errors import PipelineError
from sapp_core.schedules.registry import SCHEDULES, family, make_schedule
from sapp_core.schedules.validate import validate


@pytest.mark.parametrize("name", [schedule.name for schedule in SCHEDULES])
@pytest.mark.parametrize("remainder", ["last", "first"])
def test_every_small_size_runs_or_is_refused_with_a_rule(name, remainder):
    chosen = family(name)
    for stages in range(1, 9):
        for chunks in range(1, 5 if chosen.uses_chunks else 2):
            for count in range(1, 3 * stages + 2):
                pipeline = Pipeline(stages, count, chunks, remainder=type(Pipeline(1, 1).remainder)(remainder))
                problems = chosen.problems(pipeline)
                if problems:
                    assert "take" in problems[0]
                    assert f"found {count}" in problems[0] or f" {count} " in problems[0]
                else:
                    # Raises when an op is missing, doubled, or waits for itself.
                    validate(make_schedule(name, pipeline))


def test_unknown_names_list_the_known_ones():
    with pytest.raises(PipelineError, match=r"schedule: 'zbx' is not known; choose from gpipe, 1f1b"):
        make_schedule("zbx", Pipeline(2, 2))


@pytest.mark.parametrize(
    ("name", "pipeline", "words"),
    [
        ("1f1b", Pipeline(4, 8, 2), "num_chunks: 1f1b holds 1 chunk a stage, found 2; set it to 1 or choose vpp"),
        ("gpipe", Pipeline(4, 8, num_sequence_splits=2), "num_sequence_splits: gpipe does not split the sequence"),
        ("1f1b", Pipeline(4, 8, group_size=4), "group_size: 1f1b has no groups"),
        ("vpp", Pipeline(4, 8, 2, placement=Placement.V), "placement: vpp"),
    ],
)
def test_settings_that_mean_nothing_to_a_family_are_refused(name, pipeline, words):
    with pytest.raises(PipelineError, match=words):
        make_schedule(name, pipeline)
