"""My plan on the Balance page: brought, edited, compared, balanced from."""

import json

import pytest

from pages.shared.jobs import Jobs
from pages.shared.pins import pins_from_text, pins_text
from sapp_core.balancer.request import Pin
from sapp_core.errors import PipelineError
from tests.pages.opened import Opened, profile_file

LAYOUT = "Et*6|t*6|t*6|t*6L"
STEP = "My plan: step time"


class MyPlan(Opened):
    """A small profile on four stages, with the tab open."""

    def __init__(self, **changes) -> None:
        super().__init__(stages="4", micro_batches="8")
        self.upload(profile_file(**changes)).balance().tab("My plan")

    def paste(self, text: str) -> "MyPlan":
        self.at.text_area(key="my_plan_text").set_value(text)
        self.at.button(key="my_plan_use").click()
        return self.run()

    def bring(self, text: str, name: str) -> "MyPlan":
        return self.upload(text.encode(), name, "my_plan_file")

    def press(self, key: str) -> "MyPlan":
        self.at.button(key=key).click()
        return self.run()

    @property
    def table(self):
        return self.at.data_editor[0].value

    def type_in(self, **cells) -> "MyPlan":
        """Type numbers into the table: column → {row: number}; earlier edits of the same table stay."""
        key = self.at.data_editor[0].key
        state = self.at.session_state.get(key, {"edited_rows": {}})
        rows = {row: dict(edit) for row, edit in state["edited_rows"].items()}
        for column, numbers in cells.items():
            for row, number in numbers.items():
                rows.setdefault(row, {})[column] = number
        self.at.session_state[key] = {"edited_rows": rows, "added_rows": [], "deleted_rows": []}
        return self.run()

    @property
    def simulated(self) -> str | None:
        """Step time of my plan."""
        return self.numbers.get(STEP)

    @property
    def peaks(self) -> dict:
        """The memory bars."""
        (figure,) = [f for f in self.figures if "Peak memory" in f["layout"]["title"]["text"]]
        return figure


@pytest.fixture
def mine():
    return MyPlan()


def test_without_one_the_table_shows_the_balanced_plan(mine):
    assert mine.simulated is None
    assert list(mine.table.columns) == ["Stage", "none", "full", "Layers", "Keep"]
    assert mine.table["Layers"].sum() == 24
    assert mine.at.button(key="balance_from_here").disabled
    assert mine.at.button(key="my_plan_undo").disabled


def test_every_kind_of_text_and_file_is_simulated_at_once(mine):
    headline = mine.numbers["Step time"]
    times = set()
    for text, origin in (
        (LAYOUT, "Megatron layout"),
        (f"--pipeline-model-parallel-size 4 --pipeline-model-parallel-layout '{LAYOUT}'", "Megatron flags"),
        ("offset: [0, 0, 0, 0]\nrecompute: [0, 0, 0, 0]\n", "MindFormers settings"),
        (json.dumps({"Body": {"none": [[6, 6, 6, 6]]}}), "plan file"),
    ):
        mine.paste(text)
        assert f"My plan ({origin}), simulated beside the balanced plan" in mine.said.replace("*", "")
        assert mine.table["none"].tolist() == [6, 6, 6, 6]
        times.add(mine.simulated)
        mine.paste("Et*3|t*3|t*9|t*9L")
        assert mine.simulated not in times
        mine.bring(text, "my.txt")
        assert f"My plan ({origin} my.txt)" in mine.said.replace("*", "")
        times.add(mine.simulated)
    assert len(times) == 1
    assert None not in times
    assert mine.numbers["Step time"] == headline
    # Dashes are the balanced plan's.
    assert "Balanced plan" in [trace.get("name") for trace in mine.peaks["data"]]


def test_what_is_no_plan_is_answered_with_the_place_and_keeps_text_and_plan(mine):
    before = mine.paste(LAYOUT).simulated
    for text, sentence in (
        ("EtxtL", "layout: character 3: 'x', which is none of E, t, m, L"),
        ("Et*6|t*6|t*12L", "layout: has 3 entries, not a multiple of the 4 stages"),
        ("offset: [0, 0, 1, 0]", "the offsets sum to 1, but must sum to 0"),
        ('{"Body": {"none": [[6, 6, 6, -6]]}}', "plan.Body.none[0][3]: a count cannot be negative, found -6."),
        ("", "is empty"),
        ("<img src=x onerror=alert(1)>", "is no plan; it must be a plan or result as JSON"),
    ):
        mine.paste(text)
        assert "Pasted text cannot be used. My plan stays as it was." in mine.said.replace("*", "")
        assert sentence in mine.said
        assert mine.at.text_area(key="my_plan_text").value == text
        assert mine.simulated == before
    mine.tab("Plan").tab("My plan")
    assert mine.at.text_area(key="my_plan_text").value == text
    mine.paste(LAYOUT)
    assert "cannot be used" not in mine.said


def test_an_edit_is_simulated_once_the_layers_add_up(mine):
    mine.paste(LAYOUT)
    before = mine.simulated
    mine.type_in(none={1: 9})
    assert "plan of Body: places 27 layers, the profile has 24: 3 too many." in mine.said
    assert mine.table["Layers"].tolist() == [6, 9, 6, 6]
    assert mine.simulated == before
    # What is typed but no plan survives a look at another tab.
    mine.tab("Plan").tab("My plan")
    assert mine.table["none"].tolist() == [6, 9, 6, 6]
    assert "3 too many" in mine.said
    mine.type_in(none={1: None})
    # A cell that is emptied holds no layer.
    assert mine.table["none"].tolist() == [6, 0, 6, 6]
    assert "6 missing" in mine.said
    mine.type_in(none={1: 9, 2: 3})
    assert "missing" not in mine.said
    assert mine.simulated != before
    assert "My plan (edited by hand)" in mine.said.replace("*", "")
    assert mine.table["Layers"].tolist() == [6, 9, 3, 6]


def test_what_differs_is_said_stage_by_stage(mine):
    mine.press("my_plan_reset")
    assert "Nothing: my plan is the balanced plan." in mine.said
    assert mine.table["full"][0] == 0
    mine.type_in(none={0: int(mine.table["none"][0]) - 1}, full={0: 1})
    assert [line for line in mine.said.splitlines() if line.startswith("Stage ")] == [
        "Stage 0: 0 → 1 recomputed fully."
    ]


def test_undo_and_reset_lose_nothing(mine):
    mine.paste(LAYOUT).paste("Et*3|t*3|t*9|t*9L")
    mine.type_in(none={0: 4})
    assert "1 too many" in mine.said
    mine.press("my_plan_undo")
    assert "1 too many" not in mine.said
    assert mine.table["none"].tolist() == [3, 3, 9, 9]
    mine.press("my_plan_reset").press("my_plan_undo")
    assert mine.table["none"].tolist() == [3, 3, 9, 9]
    mine.press("my_plan_undo")
    assert mine.table["none"].tolist() == [6, 6, 6, 6]
    mine.press("my_plan_undo")
    assert mine.simulated is None
    assert mine.at.button(key="my_plan_undo").disabled
    mine.press("my_plan_even")
    assert mine.table["Layers"].tolist() == [6, 6, 6, 6]
    assert "My plan (even split)" in mine.said.replace("*", "")


def test_a_plan_over_the_limit_is_marked_and_both_timelines_share_one_axis_on_request(mine):
    mine.paste("Et*21|t|t|tL")
    assert "Stage 0 needs" in mine.said
    assert "the limit is" in mine.said
    (peak,) = [metric for metric in mine.at.metric if metric.label == "My plan: peak memory"]
    assert "of limit" in peak.delta
    assert int(peak.delta.split()[0]) > 100
    assert "Over the limit" in [trace.get("name") for trace in mine.peaks["data"]]
    assert sum("timeline" in figure["layout"]["title"]["text"] for figure in mine.figures) == 1
    mine.at.toggle(key="my_plan_drawn").set_value(True)
    mine.run()
    both = [figure for figure in mine.figures if "timeline" in figure["layout"]["title"]["text"]]
    assert len(both) == 2
    assert both[0]["layout"]["xaxis"]["range"] == both[1]["layout"]["xaxis"]["range"]


def test_balancing_from_here_begins_at_my_plan_and_is_an_answer_to_the_same_settings(mine, monkeypatch):
    mine.paste(LAYOUT)
    started = []
    start = Jobs.start

    def watched(self, session, scenario):
        started.append(scenario)
        start(self, session, scenario)

    monkeypatch.setattr(Jobs, "start", watched)
    mine.press("balance_from_here").settled()
    (scenario,) = started
    assert scenario.request.start.layers[0].counts[0] == ((6, 6, 6, 6),)
    assert "Stale" not in mine.said
    assert "Proven optimal" in mine.said
    mine.balance()
    assert started[-1].request.start is None


def test_a_pin_is_kept_by_the_balancer_and_lives_in_the_link(mine):
    mine.type_in(Keep={1: 3})
    assert mine.at.query_params["pins"] in ("0.1:3", ["0.1:3"])
    assert mine.at.text_input(key="pins").value == "0.1:3"
    assert "pinned layers none → 0.1:3" in mine.said
    mine.balance()
    assert mine.table["Layers"][1] == 3
    assert mine.table["Keep"][1] == 3
    mine.type_in(Keep={1: None, 2: 8})
    assert mine.at.text_input(key="pins").value == "0.2:8"
    mine.at.text_input(key="pins").set_value("")
    mine.run()
    assert mine.table["Keep"].isna().all()


def test_a_link_with_pins_opens_them():
    page = Opened(profile="small32", stages="4", micro_batches="8", pins="0.1:3").settled()
    page.tab("My plan")
    assert page.at.data_editor[0].value["Layers"][1] == 3
    assert "Stale" not in page.said


def test_pins_that_no_longer_fit_are_dropped_and_that_is_said(mine):
    mine.at.text_input(key="pins").set_value("0.1:3,0.3:5")
    mine.run()
    mine.at.slider(key="stages").set_value(3)
    mine.run()
    assert mine.at.text_input(key="pins").value == "0.1:3"
    assert "Pins dropped: 0.3:5. With these settings there are stages 0 to 2 and only chunk 0." in mine.said
    mine.balance()
    assert "Pins dropped" not in mine.said


def test_pins_that_cannot_be_are_explained_and_keep_the_result(mine):
    before = mine.numbers
    for text, sentence in (
        ("3:4", "pins: each must be chunk.stage:layers, such as 0.3:4"),
        ("0.1:30", "the pinned cells may hold at most 23 layers together, found 30"),
        ("0.1:3,0.1:4", "a cell can have one number of layers only, found 3 and 4"),
    ):
        mine.at.text_input(key="pins").set_value(text)
        mine.run()
        assert "These settings cannot run" in mine.said
        assert sentence in mine.said
        assert mine.numbers == before


def test_my_plan_is_put_aside_with_the_reason_and_comes_back(mine):
    pasted = mine.paste(LAYOUT).simulated
    mine.at.slider(key="micro_batches").set_value(12)
    mine.run().balance()
    assert mine.simulated not in (None, pasted)
    mine.at.slider(key="micro_batches").set_value(8)
    mine.at.slider(key="stages").set_value(3)
    mine.run().balance()
    assert mine.simulated is None
    assert "My plan is put aside" in mine.said.replace("*", "")
    assert "needs 3 stages, found 4" in mine.said
    mine.paste("Et*8|t*8|t*8L")
    assert "put aside" not in mine.said
    mine.at.slider(key="stages").set_value(4)
    mine.run().balance()
    assert mine.simulated == pasted
    assert mine.table["none"].tolist() == [6, 6, 6, 6]


def test_two_kinds_and_both_copies_of_a_stage_have_their_rows():
    page = Opened(profile="vision_llm", schedule="dualpipe", stages="4", micro_batches="8", limited="false").settled()
    page.tab("My plan")
    table = page.at.data_editor[0].value
    assert table["Stage"].tolist()[::2] == ["0 and 3", "1 and 2", "2 and 1", "3 and 0"]
    assert len(set(table["Layer kind"])) == 2
    page.at.session_state[page.at.data_editor[0].key] = {
        "edited_rows": {2: {"Keep": int(table["Layers"][2] + table["Layers"][3])}}
    }
    page.run()
    assert page.at.data_editor[0].value["Keep"].notna().tolist() == [False, False, True, True] + [False] * 4


def test_pins_are_written_as_they_are_read():
    pins = (Pin(0, 3, 3), Pin(1, 2, 4))
    assert pins_text(pins) == "0.3:3,1.2:4"
    assert pins_from_text(" 0.3:3 , 1.2=4,") == pins
    assert pins_from_text("") == ()
    with pytest.raises(PipelineError) as caught:
        pins_from_text("0.3:3,a,1.2:-1")
    assert len(caught.value.problems) == 2
