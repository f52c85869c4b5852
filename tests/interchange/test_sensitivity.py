"""Reactions for a terminal and as JSON."""

import json

from sapp_core.domain.profile import RecomputeMode
from sapp_core.domain.sensitivity import Excess, ProfileNumber, Quantity, Reaction, Sensitivity
from sapp_core.interchange.result import to_json
from sapp_core.interchange.sensitivity import sensitivity_object, sensitivity_text

FOUND = Sensitivity(
    0.1,
    1000.0,
    2000.0,
    (Reaction(ProfileNumber(Quantity.BACKWARD, "Block", None, 20.0), 940.0, 1060.0),),
    (Reaction(ProfileNumber(Quantity.CONSTANT, "", None, 30.0), 1900.0, 2100.0, Excess(3, 40.0)),),
    (ProfileNumber(Quantity.RECOMPUTE, "Block", RecomputeMode.FULL, 5.0),),
)
SAID = [("Measure first", "the backward.")]


def test_text_has_a_line_for_each_number_with_both_results():
    lines = sensitivity_text(FOUND, "us", SAID).splitlines()
    assert lines[0].split() == ["measure", "first", "the", "backward."]
    assert lines[2].split() == [
        *("step", "time:", "1,000", "us", "value", "us", "-10", "%", "+10", "%", "smaller", "%", "larger", "%"),
    ]
    assert lines[3].split()[-5:] == ["20", "940", "1,060", "-6.00", "+6.00"]
    assert lines[6].split() == [
        *("constant", "memory", "30", "1,900", "2,100", "-5.00", "+5.00", "40", "(stage", "3)"),
    ]
    assert lines[-1] == "moved by none of: recompute time (full) of Block"


def test_json_says_the_same():
    told = json.loads(to_json(sensitivity_object(FOUND, "us", SAID)))
    assert told["step_time_reactions"] == [
        {
            "layer": "Block", "quantity": "backward time", "mode": None, "value": 20.0,
            "if_smaller": 940.0, "if_larger": 1060.0, "excess_if_larger": None,
        }
    ]  # fmt: skip
    assert told["highest_peak_reactions"][0]["layer"] is None
    assert told["highest_peak_reactions"][0]["excess_if_larger"] == {"stage": 3, "mb": 40.0}
    assert told["idle"][0]["mode"] == "full"
    assert (told["share"], told["time_unit"], told["excess"]) == (0.1, "us", None)
    assert told["advice"] == [{"about": "Measure first", "sentence": "the backward."}]
