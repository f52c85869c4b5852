"""The Profile page's way from a profiler's trace."""

import json

import pytest

from tests.pages.opened import Opened, profile_file, unescaped
from tests.profiles.traces import GOLDEN, event, mindspore, written


def page() -> Opened:
    shown = Opened("pages/profile.py")
    shown.at.segmented_control(key="profile_origin").set_value("Profiler trace")
    return shown.run()


def upload(shown: Opened, *files: tuple[str, bytes]) -> Opened:
    shown.at.file_uploader(key="trace_files").set_value([(name, data, "application/json") for name, data in files])
    return shown.run()


@pytest.fixture
def shown() -> Opened:
    return upload(page(), ("trace_view.json", written(mindspore(), as_object=False)))


def frame(shown: Opened, column: str):
    """The table that has a column."""
    return next(table.value for table in shown.at.dataframe if column in table.value)


def costs(shown: Opened):
    return shown.at.dataframe[-1].value


def edit(shown: Opened, row: int, **values) -> Opened:
    number = shown.at.session_state["trace_kinds_sheet"].number
    shown.at.session_state[f"trace_kinds_{number}"] = {
        "edited_rows": {row: values}, "added_rows": [], "deleted_rows": [],
    }  # fmt: skip
    return shown.run()


def captions(shown: Opened) -> str:
    return unescaped("\n".join(caption.value for caption in shown.at.caption))


def test_a_trace_becomes_a_profile_by_the_proposal_alone(shown):
    assert "Read: **trace_view.json**. Timed events: 252; different names: 42" in captions(shown)
    found = frame(shown, "Median ms")
    assert list(found["Layers"]) == ["not numbered"] * 2 + ["0–3"] * 2 + ["not numbered"] * 2
    assert list(found["Median ms"]) == pytest.approx([0.05, 0.1, 0.3015, 0.603, 0.03, 0.06])
    assert set(found["Runs of a layer"]) == {"6"}
    rows = costs(shown)
    assert list(rows["name"]) == ["Head", "DecoderLayer", "Tail"]
    assert list(rows["nb_layer"]) == [1, 4, 1]
    assert list(rows["backward_time"]) == pytest.approx([0.1, 0.603, 0.06])
    assert "gives no memory" in shown.said
    assert "use_in_balance" in {button.key for button in shown.at.button}


def test_patterns_are_matched_anew_without_reading_again(shown, monkeypatch):
    monkeypatch.setattr("pages.shared.profile_trace.read_trace", lambda *_: pytest.fail("read again"))
    edit(shown, 1, Forward="Default/*layers/#-*/attention/*", Layers=96)
    assert costs(shown)["time"][1] == pytest.approx(0.201)
    assert costs(shown)["nb_layer"][1] == 96
    assert "layers of this kind: 4 in the trace, 96 in the model" in shown.said
    left = next(
        table.value for table in shown.at.dataframe if "Direction" not in table.value and "Total ms" in table.value
    )
    assert "Default/network-WithLoss/backbone/layers/0-DecoderLayer/ffn/MatMul-op0" in list(left["Name"])


def test_patterns_that_match_nothing_say_so_and_keep_the_rest(shown):
    edit(shown, 1, Forward="layer #")
    assert "These patterns make no profile yet." in shown.said
    assert 'DecoderLayer, forward: no event matches "layer #"' in shown.said
    assert not shown.figures
    assert list(frame(shown, "Median ms")["Events"])[:4] == [6, 6, 0, 72]


def test_edits_of_patterns_outlive_a_look_at_another_page(shown):
    edit(shown, 1, Layers=96)
    shown.at.switch_page("pages/schedules.py")
    shown.run().at.switch_page("pages/profile.py")
    assert costs(shown.run())["nb_layer"][1] == 96


def test_memory_comes_from_a_sample_or_what_was_made_on_the_page(shown):
    shown.at.selectbox(key="trace_memory").set_value("sample llama2_70b")
    rows = costs(shown.run())
    assert list(rows["memory_parameter"]) == [9236, 1710, 5794]
    assert rows["memory_recompute"][1] == 32
    assert rows["recompute_time"][1] == pytest.approx(0.603 + 0.3015)
    assert "it follows LLamaDecodeLayer of llama2_70b" in shown.said
    shown.at.segmented_control(key="profile_origin").set_value("Profile file")
    shown.run().upload(profile_file(), key="profile_page_file")
    shown.at.segmented_control(key="profile_origin").set_value("Profiler trace")
    shown.run().at.selectbox(key="trace_memory").set_value("Profile file")
    assert list(costs(shown.run())["memory_parameter"]) == [300, 100, 200]


def test_what_the_run_recomputed_is_taken_out(shown):
    shown.at.selectbox(key="trace_mode").set_value("full")
    assert costs(shown.run())["backward_time"][1] == pytest.approx(0.3015)


def test_how_events_are_counted_can_be_said(shown):
    shown.at.number_input(key="trace_runs").set_value(3)
    assert costs(shown.run())["time"][1] == pytest.approx(0.603)
    tracks = next(box for box in shown.at.multiselect if box.label == "Threads and streams")
    assert tracks.options == ["Ascend Hardware · thread 3"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "x.json: is empty"),
        (b'{"model_type": "llama"}', "is JSON but no Chrome trace"),
        (b"\x1f\x8b no gzip", "is a broken gzip file"),
        (b"<html>", "must be a Chrome trace in JSON"),
    ],
)
def test_what_cannot_be_read_is_explained_and_the_trace_before_stays(shown, data, said):
    upload(shown, ("x.json", data))
    assert "x.json cannot be used." in shown.said
    assert "The trace before it, trace_view.json, stays." in shown.said
    assert said in shown.said
    assert costs(shown)["time"][1] == pytest.approx(0.3015)
    upload(shown)
    assert "cannot be used" not in shown.said
    assert costs(shown)["time"][1] == pytest.approx(0.3015)


def test_a_cut_file_is_used_and_says_so():
    shown = upload(page(), ("cut.json", written(mindspore(), as_object=False)[:-30]))
    assert "cut.json: ends inside an event" in shown.said
    assert costs(shown)["time"][1] == pytest.approx(0.3015)


def test_traces_of_several_ranks_make_one_profile():
    ranks = [
        (f"rank{rank}.json", json.dumps([event(f"layer {rank}", 100 * i, 10) for i in range(5)]).encode())
        for rank in range(2)
    ]
    assert list(costs(upload(page(), *ranks))["nb_layer"]) == [2]


def test_names_from_traces_are_no_markup():
    hostile = "layer # ![x](http://y) <script>alert(1)</script>"
    events = [event(hostile.replace("#", str(i % 2)), 100 * i, 10 + 90 * (i == 4)) for i in range(20)]
    shown = upload(page(), ("**b**.json", written(events)))
    assert "type the runs of a layer" in shown.said, "a / makes a path of the name, so its events are parts"
    shown.at.number_input(key="trace_runs").set_value(10)
    shown.run()
    assert list(costs(shown)["time"]) == [0.01]
    assert "**b**.json" in captions(shown)
    assert all("![x]" not in text.value for kind in ("warning", "info", "markdown") for text in getattr(shown.at, kind))


def test_the_recorded_labels_of_pytorch():
    shown = upload(page(), ("pytorch_labels.json", (GOLDEN / "pytorch_labels.json").read_bytes()))
    assert list(costs(shown)["name"]) == ["Head", "layer", "Tail"]
    assert "spreads over" in shown.said
