import numpy as np
import pytest

from sapp_core.charts.in_flight import in_flight_figure, in_flight_table, most_in_flight
from sapp_core.charts.theme import LIGHT
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import even_split
from sapp_core.domain.unit_profile import UnitTimes, unit_profile
from sapp_core.schedules.in_flight import peak_in_flight
from sapp_core.schedules.registry import SCHEDULES, family, make_schedule, placed
from sapp_core.simulator.engine import prepare
from sapp_core.simulator.memory import in_flight_timeline
from sapp_core.study import evaluate


def unit(name, stages=4, micro_batches=8, *, of_stage=False, **more):
    chunks = family(name).fixed_chunks or 2
    pipeline = placed(name, Pipeline(stages, micro_batches, chunks, **more))
    profile = unit_profile(pipeline, UnitTimes(of_stage=of_stage))
    return evaluate(profile, make_schedule(name, pipeline), even_split(profile, pipeline))


def figure_of(evaluation, **more):
    return in_flight_figure(
        evaluation, in_flight_timeline(prepare(evaluation.schedule), evaluation.timeline), LIGHT, **more
    )


@pytest.mark.parametrize("name", [known.name for known in SCHEDULES])
def test_every_chunk_is_an_area_and_the_highest_step_is_the_most(name):
    evaluation = unit(name)
    *areas, line = figure_of(evaluation).data
    assert len(areas) == evaluation.schedule.pipeline.num_chunks
    assert max(np.asarray(line.customdata)[:, 1]) == pytest.approx(most_in_flight(evaluation).chunks)
    table = in_flight_table(evaluation.schedule.pipeline, peak_in_flight(evaluation.schedule))
    assert len(table["Stage"]) == 4


def test_1f1b_keeps_one_more_on_each_stage_before():
    evaluation = unit("1f1b")
    peaks = in_flight_table(evaluation.schedule.pipeline, peak_in_flight(evaluation.schedule))
    assert peaks == {"Stage": [0, 1, 2, 3], "Chunk 0": [4, 3, 2, 1]}
    assert most_in_flight(evaluation).micro_batches == 4


@pytest.mark.parametrize("name", [known.name for known in SCHEDULES])
def test_times_of_a_whole_stage_make_the_same_work_everywhere(name):
    evaluation = unit(name, of_stage=True)
    work = evaluation.step_time / (1 + evaluation.bubble.total)
    assert work == pytest.approx(8 * 3)


def test_the_axis_reaches_as_far_as_the_longer_step():
    evaluation = unit("1f1b")
    assert figure_of(evaluation, until=50.0).layout.xaxis.range == (0.0, 50.0)
    assert figure_of(evaluation, window=(2.0, 5.0), until=50.0).layout.xaxis.range == (2.0, 5.0)


def test_a_split_counts_as_its_share():
    evaluation = unit("seqpipe", num_sequence_splits=4)
    assert most_in_flight(evaluation).chunks == (4 - 1 + 4) / 4
