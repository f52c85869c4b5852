import re
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.domain.pipeline import Pipeline, Placement, Remainder
from sapp_core.errors import PipelineError
from sapp_core.schedules.registry import SCHEDULES, make_schedule
from sapp_core.schedules.validate import validate
from tests.strategies import schedules


@pytest.mark.parametrize("chosen", SCHEDULES, ids=lambda family: family.name)
def test_every_small_size_runs_or_is_refused_with_a_rule(chosen):
    for stages, chunks, count, splits in product(range(1, 9), range(1, 5), range(1, 26), (1, 2, 3)):
        wrong_chunks = chosen.fixed_chunks not in {None, chunks}
        if count > 3 * stages + 1 or wrong_chunks or (splits > 1 and not chosen.uses_splits):
            continue
        for remainder in Remainder if chosen.uses_groups else (Remainder.LAST,):
            pipeline = Pipeline(stages, count, chunks, splits, placement=chosen.placement, remainder=remainder)
            problems = chosen.problems(pipeline)
            for problem in problems:
                assert re.fullmatch(r"[a-z_]+: .*(found |: )?.*; take \d+.*\.|[a-z_]+: .* take \d+.*\.", problem)
            if not problems:
                # Raises when an op is missing, doubled, or waits for itself.
                validate(make_schedule(chosen.name, pipeline))


@given(st.data())
def test_the_values_a_refusal_names_are_legal(data):
    chosen = data.draw(st.sampled_from([family for family in SCHEDULES if family.name != "gpipe"]))
    pipeline = Pipeline(
        data.draw(st.integers(1, 9)),
        data.draw(st.integers(1, 30)),
        chosen.fixed_chunks or data.draw(st.integers(1, 4)),
        data.draw(st.integers(1, 5)) if chosen.uses_splits else 1,
        placement=chosen.placement,
    )
    problems = chosen.problems(pipeline)
    if len(problems) == 1:
        field, text = problems[0].split(": ", 1)
        for value in re.findall(r"\d+", text.split("take ")[1].split(", or")[0]):
            make_schedule(chosen.name, replace(pipeline, **{field: int(value)}))


def test_unknown_names_list_the_known_ones():
    with pytest.raises(PipelineError, match=r"schedule: 'zbx' is not known; choose from gpipe, 1f1b"):
        make_schedule("zbx", Pipeline(2, 2))


@pytest.mark.parametrize(
    ("name", "pipeline", "words"),
    [
        ("1f1b", Pipeline(4, 8, 2), "num_chunks: 1f1b holds 1 a stage, found 2; set it to 1 or choose vpp"),
        ("gpipe", Pipeline(4, 8, num_sequence_splits=2), "num_sequence_splits: gpipe does not split the sequence"),
        ("1f1b", Pipeline(4, 8, group_size=4), "group_size: 1f1b has no groups"),
        ("vpp", Pipeline(4, 8, 2, placement=Placement.V), "placement: vpp"),
    ],
)
def test_settings_that_mean_nothing_to_a_family_are_refused(name, pipeline, words):
    with pytest.raises(PipelineError, match=words):
        make_schedule(name, pipeline)


@given(schedules())
def test_no_order_depends_on_times(schedule):
    """So an order is made once for all times."""
    untimed = schedule.pipeline.untimed
    assert (untimed.p2p_time, untimed.overlap_efficiency, untimed.input_gradient_share) == (0, 0, 0.5)
    assert make_schedule(schedule.name, untimed).slots == schedule.slots
