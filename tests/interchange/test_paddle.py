import json

import pytest

from sapp_core.domain.pipeline import Pipeline
from sapp_core.errors import FormatError
from sapp_core.interchange.paddle import PaddleMode, job_lists, job_object, job_types
from sapp_core.schedules.registry import make_schedule
from tests.recorded import accepted, label

KINDS = {
    "forward": "F",
    "backward": "B",
    "recv_forward": "RF",
    "send_backward": "SB",
    "backward_b": "I",
    "backward_w": "W",
}


def token(job: tuple[str, int]) -> str:
    kind, micro_batch = job
    if kind == "optimizer":
        return "OPT"
    name = kind.rstrip("0123456789")
    return f"{KINDS[name]}{kind[len(name) :]}.{micro_batch}"


def test_lists_equal_every_recorded_one():
    compared = 0
    for case in accepted("paddle_vpp"):
        if "problems" in case:
            continue
        if case["options"]["effective_split"]:
            mode = PaddleMode.SPLIT
        else:
            mode = PaddleMode.TRANSFERS if case["options"]["mode"] == "pir" else PaddleMode.PLAIN
        schedule = make_schedule("vpp", Pipeline(case["ranks"], case["microbatches"], case["chunks"]))
        assert [[token(job) for job in stage] for stage in job_lists(schedule, mode)] == case["orders"], label(case)
        compared += 1
    assert compared == 126


def test_the_last_weight_gradient_reduces():
    jobs = job_lists(make_schedule("vpp", Pipeline(2, 2, 2)), PaddleMode.SPLIT, overlap_reduction=True)
    assert jobs[0][8:] == (
        ("backward_w1", 0), ("backward_w1_reduce", 1), ("backward_w0", 0), ("backward_w0_reduce", 1), ("optimizer", 0),
    )  # fmt: skip


@pytest.mark.parametrize("mode", PaddleMode)
@pytest.mark.parametrize("reduction", [False, True])
def test_every_job_has_a_type_in_the_program(mode, reduction):
    for stage in job_lists(make_schedule("vpp", Pipeline(4, 4, 3)), mode, overlap_reduction=reduction):
        assert {kind for kind, _ in stage} == set(job_types(3, mode, overlap_reduction=reduction))


def test_types_come_in_program_order():
    assert job_types(2, PaddleMode.TRANSFERS) == (
        "recv_forward0", "forward0", "recv_forward1", "forward1",
        "backward1", "send_backward1", "backward0", "send_backward0", "optimizer",
    )  # fmt: skip
    assert job_types(2, PaddleMode.SPLIT) == (
        "forward0", "forward1", "backward_b1", "backward_b0", "backward_w1", "backward_w0", "optimizer",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "pipeline", "mode", "words"),
    [
        ("1f1b", Pipeline(4, 8), PaddleMode.PLAIN, "schedule: Paddle job lists follow vpp, found 1f1b"),
        ("vpp", Pipeline(4, 3, 2), PaddleMode.PLAIN, "at least one a stage, found 3 for 4 stages; take 4"),
        ("vpp", Pipeline(4, 8, 2), PaddleMode.SPLIT, "needs as many as stages, found 8 for 4 stages; take 4"),
    ],
)
def test_what_paddle_cannot_run_is_refused(name, pipeline, mode, words):
    with pytest.raises(FormatError, match=words):
        job_lists(make_schedule(name, pipeline), mode)


def test_json_carries_modes_types_and_jobs():
    found = json.loads(json.dumps(job_object(make_schedule("vpp", Pipeline(2, 4, 2)), PaddleMode.PLAIN)))
    assert found["mode"] == "paddle"
    assert found["job_types"][0] == "forward0"
    assert found["jobs"][0][0] == ["forward0", 0]
    assert len(found["jobs"]) == 2
