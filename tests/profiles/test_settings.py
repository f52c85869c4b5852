"""Pipeline settings files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapp_core.errors import ProfileError
from sapp_core.profiles.settings import PipelineSettings, load_settings
from tests.profiles.documents import to_json, to_yaml


def _load(section: object) -> PipelineSettings:
    return load_settings(to_yaml({"pipeline_config": section}), "settings.yaml")


def _problems(data: bytes) -> tuple[str, ...]:
    with pytest.raises(ProfileError) as caught:
        load_settings(data, "settings.yaml")
    return caught.value.problems


_FIELDS = {
    "pipeline_num": ("num_stages", st.integers(1, 4096)),
    "micro_batch_num": ("num_micro_batches", st.integers(1, 4096)),
    "num_layer": ("num_layers", st.integers(1, 10_000)),
    "num_of_interleave": ("num_chunks", st.integers(1, 64)),
    "vpp_less_memory": ("less_memory", st.booleans()),
    "optimization_level": ("optimization_level", st.integers(0, 2)),
    "memory_limit": ("memory_limit_mb", st.integers(1, 10**6) | st.floats(1, 1e6)),
    "constant_memory": ("constant_mb", st.integers(0, 10**6) | st.floats(0, 1e6)),
    "sim_comm_time": ("p2p_time", st.integers(0, 100) | st.floats(0, 100)),
}


@given(st.fixed_dictionaries({}, optional={key: values for key, (_, values) in _FIELDS.items()}), st.sampled_from([to_json, to_yaml]))  # fmt: skip
def test_every_field_is_optional_and_arrives_under_its_own_name(section, write):
    settings = load_settings(write({"pipeline_config": section}), "x")
    assert {key: getattr(settings, name) for key, (name, _) in _FIELDS.items()} == dict.fromkeys(_FIELDS) | section
    assert settings.warnings == ()


@pytest.mark.parametrize(
    ("written", "value"),
    [("true", True), ("False", False), ("yes", True), ("No", False), ("on", True), ("OFF", False), ("'yes'", True)],
)
def test_a_flag_may_be_written_in_the_words_of_older_yaml(written, value):
    data = f"pipeline_config: {{vpp_less_memory: {written}}}".encode()
    assert load_settings(data, "x").less_memory is value


def test_a_memory_limit_of_0_leaves_it_open_as_in_sapp():
    assert _load({"memory_limit": 0}) == PipelineSettings()


def test_a_dry_run_file_can_be_used_as_settings():
    document = {
        "pipeline_config": {"pipeline_num": 16, "num_layer": 96, "offset": [0, 1], "enable_simulation": True},
        "recompute_config": {"recompute": False},
        "memory_usage": {},
        "time_config": {"head": 90},
    }
    assert load_settings(to_yaml(document), "x") == PipelineSettings(num_stages=16, num_layers=96)


def test_unknown_keys_are_named_with_the_nearest_known_key():
    document = {"pipeline_config": {"pipeline_number": 4}, "pipeline_configs": {}}
    assert load_settings(to_yaml(document), "x").warnings == (
        "pipeline_configs: is not known and was ignored. `pipeline_configs` → `pipeline_config`?",
        "pipeline_config.pipeline_number: is not known and was ignored. `pipeline_number` → `pipeline_num`?",
    )


@pytest.mark.parametrize("key", [key for key in _FIELDS if key != "vpp_less_memory"])
@pytest.mark.parametrize("value", [-1, "4", True, None, [4], {}, 1e15, float("nan")], ids=str)
def test_wrong_values_are_refused_with_the_path(key, value):
    (problem,) = _problems(to_yaml({"pipeline_config": {key: value}}))
    assert problem.startswith(f"pipeline_config.{key}: must be ")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "settings.yaml: is empty"),
        (b"[1]", "settings.yaml: must be a mapping"),
        (b"a: 1", "pipeline_config: is missing"),
        (b"pipeline_config:", "pipeline_config: must be a mapping of keys to values, found nothing"),
        (b"pipeline_config: [1]", "pipeline_config: must be a mapping of keys to values, found a list of 1"),
        (b"pipeline_config: {pipeline_num: 0}", "pipeline_config.pipeline_num: must be a whole number from 1 to 100,000"),
        (b"pipeline_config: {pipeline_num: 2.0}", "found 2.0; nearest: 2"),
        (b"pipeline_config: {optimization_level: 3}", "pipeline_config.optimization_level: must be a whole number from 0 to 2"),
        (b"pipeline_config: {vpp_less_memory: 1}", "pipeline_config.vpp_less_memory: must be true or false, found 1; nearest: true"),
        (b"pipeline_config: {vpp_less_memory: maybe}", 'must be true or false, found the text "maybe".'),
        (b"pipeline_config: {pipeline_num: 4, pipeline_num: 8}", "pipeline_config.pipeline_num: the key is given twice"),
        (b"pipeline_config: &a {pipeline_num: *b}", "pipeline_config.pipeline_num: aliases are not read"),
    ],
)  # fmt: skip
def test_broken_settings_are_refused_with_the_path(data, expected):
    assert any(expected in problem for problem in _problems(data))


def test_all_problems_are_reported_together():
    data = b"pipeline_config: {pipeline_num: 0, micro_batch_num: .inf, num_of_interleave: x}"
    assert [problem.partition(":")[0] for problem in _problems(data)] == [
        "pipeline_config.micro_batch_num",
        "pipeline_config.pipeline_num",
        "pipeline_config.num_of_interleave",
    ]
