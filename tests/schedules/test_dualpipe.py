import pytest

from sapp_core.domain.pipeline import Pipeline, Placement
from sapp_core.errors import PipelineError
from sapp_core.schedules.in_flight import peak_in_flight
from sapp_core.schedules.registry import make_schedule
from tests.recorded import accepted, cases, compute_order, label


def pipeline_of(case) -> Pipeline:
    placement = Placement.BIDIRECTIONAL if case["schedule"] == "DualPipe" else Placement.V
    return Pipeline(case["ranks"], case["microbatches"], 2, placement=placement)


def one_by_one(order):
    """Pairs as forward, backward: how a model without overlapped passes runs them."""
    return tuple(tuple(token for slot in stage for token in slot.split("+")) for stage in order)


@pytest.mark.parametrize(
    ("file", "theirs", "ours", "count"),
    [
        ("dualpipe", "DualPipeV", "dualpipe-v", 14),
        ("torch", "DualPipeV", "dualpipe-v", 12),
        ("dualpipe", "DualPipe", "dualpipe", 9),
    ],
)
def test_order_equals_every_recorded_case(file, theirs, ours, count):
    found = list(accepted(file, theirs))
    assert len(found) == count
    for case in found:
        order = make_schedule(ours, pipeline_of(case)).tokens()
        if case["options"].get("overlapped_forward_backward") is False:
            order = one_by_one(order)
        assert order == compute_order(case), label(case)


@pytest.mark.parametrize("stages", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("extra", [0, 1, 7])
def test_dualpipe_v_has_the_closed_form_peaks(stages, extra):
    count = 2 * stages + extra
    schedule = make_schedule("dualpipe-v", Pipeline(stages, count, 2, placement=Placement.V))
    assert peak_in_flight(schedule) == tuple((min(2 * stages - s, count), min(s + 1, count)) for s in range(stages))


@pytest.mark.parametrize("stages", [2, 4, 8])
def test_dualpipe_has_the_closed_form_peaks(stages):
    schedule = make_schedule("dualpipe", Pipeline(stages, 4 * stages, 2, placement=Placement.BIDIRECTIONAL))
    assert peak_in_flight(schedule) == tuple((stages - s, s + 1) for s in range(stages))


def test_what_the_references_refuse_is_refused_with_the_nearest_legal_values():
    refused = [case for file in ("dualpipe", "torch") for case in cases(file) if "rejected" in case]
    refused = [case for case in refused if case["schedule"] in {"DualPipe", "DualPipeV"} and case["chunks"] == 2]
    assert len(refused) >= 6
    for case in refused:
        name = "dualpipe" if case["schedule"] == "DualPipe" else "dualpipe-v"
        with pytest.raises(PipelineError, match="take"):
            make_schedule(name, pipeline_of(case))


@pytest.mark.parametrize(
    ("stages", "count", "words"),
    [
        (3, 12, "num_stages: dualpipe needs an even number of stages, found 3; take 2 or 4"),
        (4, 6, "num_micro_batches: dualpipe needs at least 2·S = 8, found 6; take 8"),
        (4, 11, "needs an even number, found 11; take 10 or 12"),
    ],
)
def test_refusals_name_the_rule(stages, count, words):
    with pytest.raises(PipelineError, match=words):
        make_schedule("dualpipe", Pipeline(stages, count, 2, placement=Placement.BIDIRECTIONAL))
