"""The Profile page, run without a browser."""

import json

import pytest
import yaml

from sapp_core.profiles.load import load_profile
from tests.pages.opened import Opened, profile_file, unescaped
from tests.profiles.configs import CONFIGS
from tests.profiles.dry_runs import CASES, TIMES

PAGE = "pages/profile.py"
SIZES, PEAKS = "Hyper-parameters", "Dry-run peaks"


def page(origin: str = "Profile file") -> Opened:
    shown = Opened(PAGE)
    shown.at.segmented_control(key="profile_origin").set_value(origin)
    return shown.run()


def dry_run(**changes) -> bytes:
    document = CASES["two_rounds_pp4"]["yaml"] | {"time_config": TIMES} | changes
    return yaml.safe_dump(document).encode()


def table(shown: Opened):
    """The table of layer kinds, the last one of the page."""
    return shown.at.dataframe[-1].value


def keys(shown: Opened) -> set[str]:
    return {button.key for button in (*shown.at.button, *shown.at.download_button) if button.key}


def edit(shown: Opened, row: int, **values) -> Opened:
    """What typing into the table does to the session."""
    number = shown.at.session_state["profile_table_sheet"].number
    shown.at.session_state[f"profile_table_{number}"] = {
        "edited_rows": {row: values}, "added_rows": [], "deleted_rows": [],
    }  # fmt: skip
    return shown.run()


def test_a_sample_is_shown_with_all_resolved_numbers():
    shown = page()
    shown.at.selectbox(key="profile_page_choice").set_value("llama2_70b")
    rows = table(shown.run())
    assert list(rows["name"]) == ["LlamaEmbedding", "LLamaDecodeLayer", "LlamaRMSNorm"]
    assert list(rows["time"]) == [13, 100, 113]
    assert rows["backward_time"][1] == 200
    assert rows["select_rec_time"][1] == pytest.approx(208)
    assert rows["memory_both_comm_select"][1] == 403
    assert [figure["layout"]["title"]["text"].split("<")[0] for figure in shown.figures] == [
        "Time of one layer", "Memory of one layer",
    ]  # fmt: skip
    assert {"use_in_balance", "profile_yaml", "profile_json"} <= keys(shown)
    assert "profile_undo" not in keys(shown)


def test_an_upload_replaces_it_and_a_broken_one_does_not():
    shown = page().upload(profile_file(), key="profile_page_file")
    assert list(table(shown)["name"]) == ["Head", "Body", "Tail"]
    shown.upload(b"{", "broken.yaml", key="profile_page_file")
    assert "broken.yaml cannot be used" in shown.said
    assert list(table(shown)["name"]) == ["Head", "Body", "Tail"]


def test_warnings_stand_beside_the_numbers():
    shown = page().upload(profile_file(memory_limti=3), key="profile_page_file")
    assert "`memory_limti` → `memory_limit`?" in shown.said


def test_an_edit_is_checked_used_and_undone():
    shown = page().upload(profile_file(), key="profile_page_file")
    edit(shown, 1, time=20.0)
    forward = shown.figures[0]["data"][0]
    assert forward["x"] == [5, 20, 12]
    shown.at.button(key="profile_undo").click()
    assert shown.run().figures[0]["data"][0]["x"] == [5, 10, 12]
    edit(shown, 1, time=None)
    assert "These numbers are no profile" in shown.said
    assert "layers_description[1].time: is missing" in shown.said
    assert not shown.figures
    assert "use_in_balance" not in keys(shown)


@pytest.mark.parametrize("title", ["Llama-3 8B", "Mixtral 8×7B", "DeepSeek-V3", "Sizes typed here"])
def test_models_are_estimated_with_legal_defaults_and_formulas(title):
    shown = page(SIZES)
    shown.at.selectbox(key="estimate_model").set_value(title)
    shown.run()
    assert not shown.at.error
    assert "These are estimates from published sizes, not measurements." in shown.said
    assert "billion parameters" in shown.said
    formulas = next(frame.value for frame in shown.at.dataframe if "Formula" in frame.value)
    assert len(formulas) > 10
    assert all(formulas["Formula"])
    assert len(shown.figures) == 2


def test_a_config_is_uploaded_and_used():
    shown = page(SIZES)
    shown.at.file_uploader(key="config_file").upload(
        "config.json", json.dumps(CONFIGS["qwen2"]).encode(), "application/json"
    )
    shown.run()
    assert shown.at.selectbox(key="estimate_model").value == "config.json of a model"
    assert "7.62 billion parameters" in shown.said
    assert shown.at.number_input(key="setup_tensor_4_1").value == 4, "the largest legal one up to 8"
    shown.at.file_uploader(key="config_file").upload("config.json", b'{"model_type": "bert"}', "application/json")
    shown.run()
    assert "This config.json cannot be used" in shown.said
    assert "The model before it, config, stays." in shown.said
    assert "7.62 billion parameters" in shown.said


def test_a_setup_that_does_not_fit_is_explained_in_its_place():
    shown = page(SIZES)
    shown.at.number_input(key="setup_tensor_8_1").set_value(3)
    shown.run()
    assert "tensor_parallel: must divide 32 (attention heads)" in shown.said
    assert "nearest: 2 or 4" in shown.said
    assert not shown.figures


def test_own_sizes_are_checked_as_a_config_is():
    shown = page(SIZES)
    shown.at.selectbox(key="estimate_model").set_value("Sizes typed here")
    shown.run().at.number_input(key="own_num_key_value_heads").set_value(5)
    assert "num_key_value_heads: must divide the 32 attention heads, found 5" in shown.run().said


def test_peaks_become_a_profile_with_its_fit():
    shown = page(PEAKS).upload(dry_run(), key="dry_run_file")
    assert shown.numbers["Condition number"] == "57.1"
    assert shown.numbers["Constant"] == "955 MB"
    assert shown.numbers["Largest residual"] == "0.0 %"
    residuals = next(frame.value for frame in shown.at.dataframe if "Difference MB" in frame.value)
    assert len(residuals) == 8
    assert table(shown)["memory_parameter"][1] == pytest.approx(400.6, abs=0.1)


def test_singular_peaks_are_refused_and_the_guide_is_there():
    even = CASES["two_rounds_pp4"]["yaml"]["pipeline_config"] | {"offset": [[0] * 4, [0] * 4]}
    shown = page(PEAKS).upload(dry_run(pipeline_config=even), key="dry_run_file")
    assert "cannot tell the constant and the parameters of a layer apart" in shown.said
    assert not shown.figures
    (code,) = shown.at.code
    proposal = yaml.safe_load(code.value)
    assert proposal["pipeline_config"]["num_layer"] == 80
    assert len(proposal["pipeline_config"]["offset"]) == 2
    assert "next_dry_run" in keys(shown)


def test_the_guide_works_without_a_file():
    shown = page(PEAKS)
    assert yaml.safe_load(shown.at.code[0].value)["pipeline_config"]["pipeline_num"] == 8
    shown.at.number_input(key="guide_layers").set_value(5)
    assert "too few layers" in shown.run().said


def test_what_is_used_in_balance_is_there_as_an_uploaded_profile():
    shown = page().upload(profile_file(), key="profile_page_file")
    edit(shown, 1, nb_layer=16)
    shown.at.button(key="use_in_balance").click()
    shown.run().at.switch_page("pages/balance.py")  # the test bench does not follow by itself
    shown.run().settled()
    assert shown.at.selectbox(key="profile").value == "uploaded"
    assert shown.at.number_input(key="memory_limit").value == 4000
    assert shown.at.session_state["outcome"].scenario.profile.num_body_layers == 16
    assert not shown.at.warning


def test_edits_outlive_a_look_at_another_page():
    shown = edit(page(), 1, time=150.0)
    shown.at.switch_page("pages/schedules.py")
    shown.run().at.switch_page(PAGE)
    assert table(shown.run())["time"][1] == 150
    assert shown.figures[0]["data"][0]["x"] == [3, 150, 28]
    shown.at.button(key="profile_undo").click()
    assert table(shown.run())["time"][1] == 20


def test_the_balance_page_takes_a_dry_run_for_a_profile(opened):
    opened.upload(dry_run()).settled()
    assert opened.at.selectbox(key="profile").value == "uploaded"
    assert opened.at.number_input(key="constant_memory").value == pytest.approx(955.3, abs=0.1)
    assert "profile cannot be used" not in opened.said


def test_names_from_files_are_no_markup():
    hostile = "<script>alert(1)</script> **bold** [x](http://y)"
    shown = page().upload(profile_file(name=hostile), key="profile_page_file")
    assert hostile in unescaped(" ".join(caption.value for caption in shown.at.caption))
    assert all("<script>" not in caption.value.replace("\\<", "") for caption in shown.at.caption)
    assert load_profile(profile_file(name=hostile), "x").profile.name == hostile
