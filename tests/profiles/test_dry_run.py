"""Peaks of stages → memory of a layer."""

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sapp_core.domain.profile import MODES, RecomputeMode
from sapp_core.profiles.dry_run import Decomposition, DryRun, StagePeak, Unsolvable, decompose
from sapp_core.profiles.dry_run_guide import propose
from tests.profiles.dry_runs import CASES, TRUTHS, measured, peak_of, recorded_stages

NONE_ONLY = (6, 0, 0, 0, 0)


def solved(dry_run: DryRun) -> Decomposition:
    answer = decompose(dry_run)
    assert isinstance(answer, Decomposition), answer
    return answer


def test_the_recorded_stages_give_the_recorded_answer_without_a_constant():
    answer = solved(recorded_stages(CASES["direct"]))
    expected = CASES["direct"]["expected"]
    assert answer.constant_mb is None, "four stages, five unknowns"
    assert answer.parameter_mb == pytest.approx(expected["parameter"], abs=1)
    assert answer.head_mb == pytest.approx(expected["head"], abs=1)
    assert answer.tail_mb == pytest.approx(expected["tail"], abs=1)
    for mode, value in zip(MODES, answer.activation_mb, strict=True):
        assert value == (pytest.approx(expected[str(mode)], abs=1) if str(mode) in expected else None)


@given(case=measured())
@settings(max_examples=220)
def test_a_random_dry_run_is_recovered(case):
    dry_run, truth = case
    answer = decompose(dry_run)
    assume(isinstance(answer, Decomposition) and answer.constant_mb is not None and answer.condition < 1e7)
    assert answer.constant_mb == pytest.approx(truth["constant"], rel=1e-6)
    assert answer.parameter_mb == pytest.approx(truth["parameter"], rel=1e-6)
    assert answer.head_mb == pytest.approx(truth["head"], rel=1e-6)
    assert answer.tail_mb == pytest.approx(truth["tail"], rel=1e-6)
    for mode, value, true in zip(MODES, answer.activation_mb, truth["activation"], strict=True):
        assert value == (pytest.approx(true, rel=1e-6) if mode in dry_run.modes else None)
    assert all(residual.share < 1e-9 for residual in answer.residuals)


@given(case=measured(), noise=st.lists(st.floats(-0.01, 0.01), min_size=48, max_size=48))
@settings(max_examples=50)
def test_errors_of_the_peaks_stay_in_the_residuals_and_least_squares_is_the_best_fit(case, noise):
    dry_run, truth = case
    noisy = replace(
        dry_run,
        peaks=tuple(
            replace(peak, peak_mb=peak.peak_mb * (1 + error)) for peak, error in zip(dry_run.peaks, noise, strict=False)
        ),
    )
    answer = decompose(noisy)
    assume(isinstance(answer, Decomposition) and answer.constant_mb is not None)
    inner = [residual for residual in answer.residuals if 0 < residual.measured.stage < dry_run.num_stages - 1]
    of_truth = sum(
        (
            residual.measured.peak_mb
            - peak_of(residual.measured.stage, dry_run.num_stages, residual.measured.layers, truth)
        )
        ** 2
        for residual in inner
    )
    assert sum(residual.difference_mb**2 for residual in inner) <= of_truth * (1 + 1e-9) + 1e-6
    ends = [residual.difference_mb for residual in answer.residuals if residual.measured.stage == 0]
    assert sum(ends) == pytest.approx(0, abs=1e-3), "the head is the mean of what is left"


def test_the_same_offset_everywhere_is_refused_with_the_reason():
    stages = [StagePeak(s, (6 - s % 3, 0, 0, 0, s % 3), 1000.0 + s) for s in range(8)]
    answer = decompose(DryRun(8, tuple(stages)))
    assert answer == Unsolvable(
        "the measured stages cannot tell the constant and the parameters of a layer apart, "
        "because all of them hold 6 layers."
    )


def test_modes_that_always_come_together_are_refused_by_name():
    stages = [StagePeak(s, (s, 0, s % 3, s % 3, 0), 1000.0 + s) for s in range(10)]
    answer = decompose(DryRun(10, tuple(stages)))
    assert isinstance(answer, Unsolvable)
    assert answer.reason == (
        "the measured stages cannot tell the activations under comm and the activations under both apart."
    )


def test_too_few_stages_are_refused_with_how_many_there_must_be():
    stages = [StagePeak(s, (4 + s, 0, 0, 0, 1), 1000.0) for s in (0, 1, 2, 7)]
    answer = decompose(DryRun(8, tuple(stages)))
    assert answer == Unsolvable(
        "2 stages between the first and the last one were measured, but parameters and activations under none, full "
        "need at least 3."
    )
    assert isinstance(decompose(DryRun(8, ())), Unsolvable)
    assert isinstance(decompose(DryRun(4, tuple(StagePeak(s, (0,) * 5, 5.0) for s in range(4)))), Unsolvable)


@given(
    num_stages=st.integers(3, 24), more=st.integers(2, 90), truth=TRUTHS,
    modes=st.sets(st.sampled_from(MODES), min_size=1).map(sorted),
)  # fmt: skip
@settings(max_examples=30)
def test_what_is_refused_gets_a_proposal_that_is_legal_and_solvable(num_stages, more, truth, modes):
    num_layers = max(num_stages, 4) + more
    ordered = tuple(mode for mode in MODES if mode in modes)
    even = [StagePeak(s, tuple(4 * (mode == ordered[0]) for mode in MODES), 100.0 + s) for s in range(num_stages)]
    assert isinstance(decompose(DryRun(num_stages, tuple(even))), Unsolvable)

    proposal = propose(num_stages, num_layers, ordered)
    assert proposal is not None
    assert proposal.condition < 1000
    share, rest = divmod(num_layers, proposal.num_stages)
    peaks = []
    for k, stages in enumerate(proposal.rounds):
        assert len(stages) == proposal.num_stages
        assert sum(proposal.offsets[k]) == rest
        for s, layers in enumerate(stages):
            assert sum(layers) == share + proposal.offsets[k][s] >= 1
            assert not (layers[MODES.index(RecomputeMode.SELECT)] and layers[MODES.index(RecomputeMode.COMM)])
            peaks.append(StagePeak(s, layers, peak_of(s, proposal.num_stages, layers, truth), k))
    answer = solved(DryRun(proposal.num_stages, tuple(peaks)))
    assert answer.constant_mb == pytest.approx(truth["constant"], rel=1e-6)
    for mode, value, true in zip(MODES, answer.activation_mb, truth["activation"], strict=True):
        assert value == (pytest.approx(true, rel=1e-6) if mode in ordered else None)


def test_a_model_with_too_few_layers_has_no_proposal():
    assert propose(4, 5, (RecomputeMode.NONE,)) is None
    assert propose(64, 6, (RecomputeMode.NONE,)).num_stages == 4


def test_the_same_question_gets_the_same_proposal():
    assert propose(16, 96, MODES) == propose(16, 96, MODES)
