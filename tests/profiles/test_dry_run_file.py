"""Dry-run files of SAPP users, through the entrance of all profiles."""

import json
from copy import deepcopy

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from sapp_core.__main__ import main
from sapp_core.documents.report import Report
from sapp_core.documents.section import read_sections
from sapp_core.domain.profile import MODES, LayerKind, RecomputeMode
from sapp_core.errors import ProfileError
from sapp_core.profiles.dry_run import decompose
from sapp_core.profiles.dry_run_file import read_dry_run
from sapp_core.profiles.dry_run_guide import proposal_text, propose
from sapp_core.profiles.load import LoadedProfile, load_profile
from tests.profiles.dry_runs import CASES, TIMES, TRUTHS, peak_of

FILES = [name for name, case in CASES.items() if "yaml" in case]


def recorded(name: str) -> dict:
    """The YAML of a recorded case, with times."""
    return deepcopy(CASES[name]["yaml"]) | {"time_config": TIMES}


def load(document: dict) -> LoadedProfile:
    return load_profile(yaml.safe_dump(document).encode(), "dir/my_run.yaml")


def problems_of(document: dict) -> tuple[str, ...]:
    with pytest.raises(ProfileError) as caught:
        load(document)
    return caught.value.problems


def activations(loaded: LoadedProfile) -> dict[str, float]:
    return {
        str(mode): value
        for mode, value in zip(MODES, loaded.profile.body[0].activation_mb, strict=True)
        if value is not None
    }


@pytest.mark.parametrize("name", FILES)
def test_a_recorded_file_gives_the_recorded_memory(name):
    """Of head and tail the reference does not subtract the constant."""
    report = Report(name, ProfileError)
    file = read_dry_run(read_sections(yaml.safe_dump(recorded(name)).encode(), report))
    assert not report.problems
    assert not report.warnings
    answer = decompose(file.dry_run)
    expected = dict(CASES[name]["expected"])
    assert answer.head_mb + answer.constant_mb == pytest.approx(expected.pop("head"), abs=1)
    assert answer.tail_mb + answer.constant_mb == pytest.approx(expected.pop("tail"), abs=1)
    assert answer.parameter_mb == pytest.approx(expected.pop("parameter"), abs=1)
    if "constant" in expected:
        assert answer.constant_mb == pytest.approx(expected.pop("constant"), abs=1)

    loaded = load(recorded(name))
    (head,), (body,), (tail,) = loaded.profile.head, loaded.profile.body, loaded.profile.tail
    assert activations(loaded) == pytest.approx(expected, abs=1)
    assert body.num_layers == file.num_layers == CASES[name]["yaml"]["pipeline_config"]["num_layer"]
    assert (head.parameter_mb, body.parameter_mb, tail.parameter_mb) == (
        answer.head_mb, answer.parameter_mb, answer.tail_mb,
    )  # fmt: skip
    assert loaded.profile.constant_mb == max(answer.constant_mb, 0)


def test_times_are_forward_times_and_backward_follows_as_in_profile_files():
    profile = load(recorded("two_rounds_pp4")).profile
    assert [(layer.kind, layer.forward_time) for layer in profile.layers] == [
        (LayerKind.HEAD, 90), (LayerKind.BODY, 90), (LayerKind.TAIL, 180),
    ]  # fmt: skip
    assert profile.body[0].backward_time == pytest.approx([180 * (1 + c) for c in (0, 0.04, 0.125, 0.165, 0.5)])
    assert profile.modes == (RecomputeMode.NONE, RecomputeMode.FULL)
    assert profile.name == "my_run"


def test_a_negative_result_is_a_warning_and_counts_zero():
    loaded = load(recorded("with_constant"))
    assert loaded.profile.constant_mb == 0
    (warning,) = loaded.warnings
    assert warning.startswith("memory_usage: the constant parts come out as -1,897 MB; a profile holds nothing below 0")


def test_stages_that_do_not_fit_are_named():
    loaded = load(recorded("least_squares"))
    assert (
        "memory_usage: round 0, stage 11: the answer gives 27,205 MB, measured are 28,484 MB (4.5 % apart)."
        in loaded.warnings
    )
    assert all(" % apart)." in warning for warning in loaded.warnings)


def test_one_stage_too_few_leaves_the_constant_out_and_says_so():
    document = recorded("with_constant")
    for key in ("stage_id", "memories"):
        document["memory_usage"]["body_memories"][key].pop()
    loaded = load(document)
    assert loaded.profile.constant_mb == 0
    assert "memory_usage: one stage too few was measured to tell the constant, so it counts as 0 MB." in loaded.warnings


def test_a_singular_file_is_refused_with_reason_and_proposal():
    document = recorded("two_rounds_pp4")
    document["pipeline_config"]["offset"] = [[0, 0, 0, 0], [0, 0, 0, 0]]
    (problem,) = problems_of(document)
    assert problem.startswith(
        "memory_usage: the measured stages cannot tell the constant and the parameters of a layer apart"
    )
    assert "A dry run that would do: 2 rounds on 4 stages, the first with the offsets " in problem


@given(
    num_stages=st.integers(4, 12), more=st.integers(2, 60), truth=TRUTHS,
    modes=st.sets(st.sampled_from(MODES), min_size=1),
)  # fmt: skip
@settings(max_examples=15)
def test_the_proposal_filled_in_is_a_profile(num_stages, more, truth, modes):
    """As a user would: download, run, fill in, upload."""
    proposal = propose(num_stages, num_stages + more, [mode for mode in MODES if mode in modes])
    text = proposal_text(proposal)
    with pytest.raises(ProfileError) as caught:
        load_profile(text.encode(), "next.yaml")
    assert all("found nothing" in problem for problem in caught.value.problems)

    document = yaml.safe_load(text)
    stages = range(proposal.num_stages)
    peaks = [[peak_of(s, proposal.num_stages, layers[s], truth) for s in stages] for layers in proposal.rounds]
    several = len(peaks) > 1
    usage = document["memory_usage"]
    usage["head_memory"] = [row[0] for row in peaks] if several else peaks[0][0]
    usage["tail_memory"] = [row[-1] for row in peaks] if several else peaks[0][-1]
    usage["body_memories"]["memories"] = [row[1:-1] for row in peaks] if several else peaks[0][1:-1]
    document["time_config"] = TIMES
    loaded = load(document)
    assert loaded.warnings == ()
    assert loaded.profile.constant_mb == pytest.approx(truth["constant"], rel=1e-6)
    assert loaded.profile.body[0].parameter_mb == pytest.approx(truth["parameter"], rel=1e-6)
    expected = {str(mode): mb for mode, mb in zip(MODES, truth["activation"], strict=True) if mode in modes}
    assert activations(loaded) == pytest.approx(expected, rel=1e-6)


def test_all_that_is_wrong_is_told_at_once():
    document = recorded("with_constant")
    document["pipeline_config"]["offset"][3] = "2"
    document["recompute_config"]["recompute"] = 3
    document["memory_usage"]["head_memory"] = -1
    document["memory_usage"]["body_memories"]["memories"][2] = None
    document["time_config"] = {"head": 1}
    paths = [problem.split(": ")[0] for problem in problems_of(document)]
    assert paths == ["time_config.body", "time_config.tail", "pipeline_config.offset[3]"]
    document["pipeline_config"]["offset"][3] = 1
    paths = [problem.split(": ")[0] for problem in problems_of(document)]
    assert paths == [
        "time_config.body", "time_config.tail", "recompute_config.recompute", "memory_usage.head_memory",
        "memory_usage.body_memories.memories[2]",
    ]  # fmt: skip


def _changed(path: str, value: object) -> dict:
    document = recorded("two_rounds_pp4")
    *parents, last = path.split(".")
    section = document
    for parent in parents:
        section = section[parent]
    section[last] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("pipeline_config", None, "pipeline_config: must be a mapping"),
        ("pipeline_config.pipeline_num", 2, "pipeline_config.pipeline_num: must be a whole number from 3"),
        ("pipeline_config.num_layer", 0, "pipeline_config.num_layer: must be a whole number from 1"),
        ("pipeline_config.num_of_interleave", 2, "pipeline_config.num_of_interleave: must be a whole number from 1 to 1"),
        ("pipeline_config.offset", 0, "pipeline_config.offset: must be a list of 4 whole numbers, one for each stage"),
        ("pipeline_config.offset", [], "pipeline_config.offset: must be a list of 4 whole numbers"),
        ("pipeline_config.offset", [0] * 3, "pipeline_config.offset: must be a list of 4 whole numbers"),
        ("pipeline_config.offset", [[0] * 4, 7], "pipeline_config.offset[1]: must be a list of 4 whole numbers"),
        ("pipeline_config.offset", [[0, 1, 0, 0], [0] * 4], "pipeline_config.offset[0]: must sum to 0: 80 layers = 4 stages × 20 + 0, found 1"),
        ("pipeline_config.offset", [[0, -21, 21, 0], [0] * 4], "pipeline_config.offset[0][1]: must be a whole number from -20"),
        ("pipeline_config.offset", [[0] * 4] * 101, "pipeline_config.offset: must hold at most 100 rounds"),
        ("recompute_config.recompute", [[1] * 4], "recompute_config.recompute: must hold one entry for each of the 2 rounds"),
        ("recompute_config.recompute", [[1] * 4, [1] * 5], "recompute_config.recompute[1]: must be a list of 4 whole numbers"),
        ("recompute_config.select_recompute", "no", "recompute_config.select_recompute: must be 0, false, true or a list"),
        ("recompute_config.select_recompute", [0, [1, 1, -1, 1]], "recompute_config.select_recompute[1][2]: must be a whole number"),
        ("memory_usage.head_memory", [1, 2, 3], "memory_usage.head_memory: must hold one peak for each of the 2 rounds"),
        ("memory_usage.tail_memory", True, "memory_usage.tail_memory: must be a number above 0"),
        ("memory_usage.body_memories", {}, "memory_usage.body_memories.stage_id: is missing"),
        ("memory_usage.body_memories.stage_id", [1, 2], "memory_usage.body_memories.stage_id: must hold one list for each of the 2 rounds"),
        ("memory_usage.body_memories.stage_id", [[1, 2], [1, 3]], "memory_usage.body_memories.stage_id[1][1]: must be a whole number from 1 to 2"),
        ("memory_usage.body_memories.memories", [[1, 2], [1]], "memory_usage.body_memories.memories[1]: must hold one peak for each of the 2 stages"),
        ("time_config", {"head": 0, "body": 0, "tail": 0}, "time_config: must hold a time that is not 0."),
    ],
)  # fmt: skip
def test_a_wrong_value_is_refused_with_its_path(path, value, expected):
    problems = problems_of(_changed(path, value))
    assert any(problem.startswith(expected) for problem in problems), problems
    assert len(problems) == 1 or path in ("pipeline_config.offset", "memory_usage.body_memories")


@pytest.mark.parametrize("key", ["head_memory", "tail_memory", "body_memories"])
def test_a_missing_peak_is_refused(key):
    document = recorded("two_rounds_pp4")
    del document["memory_usage"][key]
    (problem,) = problems_of(document)
    assert problem.startswith(f"memory_usage.{key}: is missing")


def test_times_are_needed():
    document = recorded("two_rounds_pp4")
    del document["time_config"]
    assert problems_of(document) == ("time_config: is missing; must give the forward times of head, body and tail.",)


def test_peaks_of_the_ends_may_be_given_round_by_round_and_are_averaged():
    document = recorded("two_rounds_pp4")
    once = load(document).profile
    document["memory_usage"]["head_memory"] = [66502 - 100, 66502 + 300]
    assert load(document).profile.head[0].parameter_mb == pytest.approx(once.head[0].parameter_mb + 100)


def test_flags_count_layers_as_in_mindformers():
    document = recorded("two_rounds_pp4")
    document["recompute_config"] = {"recompute": [[0, True, 3, 0], [False, 3, 99, 0]]}
    numbers = deepcopy(document)
    numbers["recompute_config"] = {"recompute": [[0, 21, 3, 0], [0, 3, 21, 0]], "select_recompute": 0}
    assert load(document).profile == load(numbers).profile
    document["recompute_config"] = {"recompute": True}
    assert "the activations under" not in problems_of({**document, "time_config": None})[0]


def test_unknown_keys_are_warned_about():
    document = recorded("two_rounds_pp4")
    document["memory_usage"]["head_memroy"] = 1
    assert any("`head_memroy` → `head_memory`?" in warning for warning in load(document).warnings)


def test_the_command_line_takes_a_dry_run_for_a_profile(tmp_path, capsys):
    file = tmp_path / "run.yaml"
    file.write_text(yaml.safe_dump(recorded("two_rounds_pp4")), encoding="utf-8")
    assert main(["check", str(file)]) == 0
    assert "400" in capsys.readouterr().out
    broken = recorded("two_rounds_pp4")
    broken["pipeline_config"]["offset"] = [[0] * 4, [0] * 4]
    file.write_text(json.dumps(broken), encoding="utf-8")
    assert main(["check", str(file)]) == 2
    assert "A dry run that would do" in capsys.readouterr().err
