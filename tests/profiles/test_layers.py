"""Layer descriptions: times resolved, recompute modes offered, limits kept."""

import math
from dataclasses import fields

import pytest

from sapp_core.domain.profile import MODES as DOMAIN_MODES
from sapp_core.domain.profile import RecomputeMode, TrainingShape
from tests.profiles.documents import MODES, TRAINING, body_without, legal, load, problems_of, with_body


def _body(document: dict):
    return load(document).profile.body[0]


def test_the_modes_and_sizes_of_the_format_are_those_of_the_domain():
    assert tuple(MODES) == DOMAIN_MODES
    assert tuple(field.name for field in fields(TrainingShape)) == TRAINING


@pytest.mark.parametrize(("mode", "keys"), MODES.items())
def test_an_explicit_backward_time_wins_over_a_coefficient_unless_it_is_0(mode, keys):
    r = DOMAIN_MODES.index(mode)
    _, time, coefficient, default = keys
    assert _body(with_body(**{time: 777, coefficient: 0.9})).backward_time[r] == 777
    assert _body(with_body(**{time: 0, coefficient: 0.9})).backward_time[r] == pytest.approx(380)
    assert _body(with_body(**{time: 0})).backward_time[r] == pytest.approx((1 + default) * 200)
    assert _body(with_body(**{coefficient: 0})).backward_time[r] == 200


def test_forward_time_takes_the_place_of_time():
    body = _body(with_body(forward_time=40))
    assert (body.forward_time, body.backward_time[0]) == (40, 80)
    document = with_body(forward_time=40)
    del document["layers_description"][1]["time"]
    assert _body(document) == body


def test_a_forward_time_of_0_is_believed_with_a_warning():
    loaded = load(with_body(forward_time=0))
    assert loaded.profile.body[0].forward_time == 0
    assert loaded.warnings == ("layers_description[1].forward_time: is 0 and takes the place of the time 100.",)


def test_recompute_time_may_be_written_with_a_trailing_blank():
    loaded = load(with_body(**{"recompute_time ": 444}))
    assert loaded.profile.body[0].backward_time[4] == 444
    assert loaded.warnings == ()
    assert problems_of(with_body(**{"recompute_time ": 1, "recompute_time": 1})) == (
        "layers_description[1].recompute_time: is given twice, once with a trailing blank; keep one.",
    )


def test_a_mode_that_only_some_body_kinds_offer_is_left_out_with_their_names():
    document = legal()
    for name in ("Other", "Third"):
        document["layers_description"].append(
            {"name": name, "type": "BODY", "nb_layer": 2, "time": 9, "memory_parameter": 1, "memory_activation": 4, "memory_recompute": 1}
        )  # fmt: skip
    document["layers_description"][4]["memory_select_comm"] = 2
    loaded = load(document)
    assert loaded.profile.modes == (RecomputeMode.NONE, RecomputeMode.FULL)
    assert [layer.activation_mb for layer in loaded.profile.body] == [
        (99, None, None, None, 3),
        (4, None, None, None, 1),
        (4, None, None, None, 1),
    ]
    select, comm = loaded.warnings
    assert select == (
        "layers_description[3].memory_select_rec: is not given, so the recompute mode select is left out; "
        'missing for "Other", "Third".'
    )
    assert comm == (
        "layers_description[1].memory_select_comm: is not given, so the recompute mode comm is left out; "
        'missing for "Block", "Other".'
    )


def test_long_lists_of_names_are_cut():
    layers = [{"name": f"L{i}", "type": "BODY", "nb_layer": 1, "time": 1, "memory_parameter": 1, "memory_activation": 1} for i in range(9)]  # fmt: skip
    layers[0]["memory_recompute"] = 1
    (warning,) = load({"name": "x", "layers_description": layers}).warnings
    assert warning.endswith('missing for "L1", "L2", "L3", "L4", "L5" and 3 more.')


def test_body_kinds_without_a_common_mode_are_refused_with_the_nearest_way_out():
    document = body_without("memory_activation", "memory_select_rec")
    document["layers_description"].append({"name": "Other", "type": "BODY", "nb_layer": 2, "time": 9, "memory_parameter": 1, "memory_select_comm": 1})  # fmt: skip
    (problem,) = problems_of(document)
    assert problem == (
        "layers_description: must give the memory of at least one recompute mode for every BODY kind, found none; "
        'nearest: add memory_select_comm to "Block".'
    )


def test_without_activation_memory_only_parameters_are_counted():
    loaded = load(body_without("memory_activation", "memory_select_rec", "memory_recompute"))
    assert loaded.profile.modes == (RecomputeMode.NONE,)
    assert loaded.profile.body[0].activation_mb == (0, None, None, None, None)
    assert loaded.warnings == (
        "layers_description: gives no activation memory for the BODY kinds, so their activations count as 0 MB.",
    )


def test_body_parameters_may_be_missing_only_when_the_body_gives_no_memory_at_all():
    assert problems_of(body_without("memory_parameter")) == (
        "layers_description[1].memory_parameter: is missing; must be a number from 0 to 1,000,000,000,000.",
    )
    silent = body_without("memory_parameter", "memory_activation", "memory_select_rec", "memory_recompute")
    assert load(silent).profile.body[0].parameter_mb == 0


def test_a_mode_that_keeps_nothing_is_pointed_out():
    loaded = load(with_body(memory_select_rec=0))
    assert loaded.profile.body[0].activation_mb[1] == 0
    (warning,) = loaded.warnings
    assert warning == (
        "layers_description[1].memory_select_rec: is 0, so the recompute mode select keeps nothing; "
        "leave the key out if that is unknown."
    )


def test_head_and_tail_keep_activations_but_are_never_recomputed():
    document = legal()
    document["layers_description"][0].update(
        memory_activation=7, backward_time=30, memory_recompute=2, recompute_coef=3
    )
    document["layers_description"][2].update(backward_coef=1)
    loaded = load(document)
    head, _, tail = loaded.profile.layers
    assert head.activation_mb == (7, None, None, None, None)
    assert head.backward_time == (30,) * 5
    assert tail.backward_time == (452,) * 5
    assert loaded.warnings == (
        "layers_description[0].memory_recompute: was ignored, because head and tail are never recomputed.",
        "layers_description[0].recompute_coef: was ignored, because head and tail are never recomputed.",
    )


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"time": -1}, "time: must be a number from 0 to 1,000,000,000,000, found -1; nearest: 0."),
        ({"time": "1e3"}, 'time: must be a number from 0 to 1,000,000,000,000, found the text "1e3"; nearest: 1000.'),
        ({"time": "-2.5"}, 'time: must be a number from 0 to 1,000,000,000,000, found the text "-2.5"; nearest: 0.'),
        ({"time": "fast"}, 'time: must be a number from 0 to 1,000,000,000,000, found the text "fast".'),
        ({"time": "inf"}, 'time: must be a number from 0 to 1,000,000,000,000, found the text "inf".'),
        ({"time": True}, "time: must be a number from 0 to 1,000,000,000,000, found true."),
        ({"time": [1]}, "time: must be a number from 0 to 1,000,000,000,000, found a list of 1."),
        ({"time": None}, "time: must be a number from 0 to 1,000,000,000,000, found nothing; write a value or leave the key out."),
        ({"time": 10**70}, "time: must be a number from 0 to 1,000,000,000,000, found a number of 71 digits; nearest: 1000000000000."),
        ({"recompute_coef": 1e4}, "recompute_coef: must be a number from 0 to 1,000, found 10000.0; nearest: 1000."),
        ({"nb_layer": 0}, "nb_layer: must be a whole number from 1 to 10,000, found 0; nearest: 1."),
        ({"nb_layer": 24.0}, "nb_layer: must be a whole number from 1 to 10,000, found 24.0; nearest: 24."),
        ({"nb_layer": 2.7}, "nb_layer: must be a whole number from 1 to 10,000, found 2.7; nearest: 3."),
        ({"nb_layer": "30"}, 'nb_layer: must be a whole number from 1 to 10,000, found the text "30"; nearest: 30.'),
        ({"nb_layer": 10**30}, f"nb_layer: must be a whole number from 1 to 10,000, found {10**30}; nearest: 10000."),
        ({"type": "tail"}, 'type: must be one of HEAD, BODY, TAIL, found the text "tail"; nearest: TAIL.'),
        ({"type": "BDOY"}, 'type: must be one of HEAD, BODY, TAIL, found the text "BDOY"; nearest: BODY.'),
        ({"type": {}}, "type: must be one of HEAD, BODY, TAIL, found a mapping of 0 keys."),
        ({"name": 7}, 'name: must be text of 1 to 200 printable characters, found 7; nearest: "7".'),
        ({"name": "a\tb"}, 'name: must be text of 1 to 200 printable characters, found the text "a\\tb".'),
    ],
)  # fmt: skip
def test_a_sentence_names_path_rule_and_what_was_found_with_the_nearest_legal_value(values, sentence):
    assert problems_of(with_body(**values)) == (f"layers_description[1].{sentence}",)


@pytest.mark.parametrize(("kinds", "layers"), [(200, 50), (1, 10_000), (4, 2500)])
def test_kinds_and_layers_are_allowed_to_the_limit_and_not_beyond(kinds, layers):
    document = {
        "name": "large",
        "layers_description": [
            {"name": f"L{i}", "type": "BODY", "nb_layer": layers, "time": 1, "memory_parameter": 1, "memory_activation": 1}
            for i in range(kinds)
        ],
    }  # fmt: skip
    assert load(document).profile.num_body_layers == 10_000
    document["layers_description"].append({"name": "more", "type": "TAIL", "nb_layer": 1, "time": 1})
    problems = problems_of(document)
    assert any("at most 200 layer kinds, found 201" in problem for problem in problems) == (kinds == 200)
    assert any("at most 10,000 layers in all, found 10,001" in problem for problem in problems) == (kinds < 200)


def test_the_largest_legal_numbers_stay_finite():
    layer = dict.fromkeys(("time", "memory_parameter", "memory_activation"), 1e12) | {"backward_coef": 1000}
    document = {"name": "x", "layers_description": [{"name": "B", "type": "BODY", "nb_layer": 10_000, **layer}]}
    body = _body(document)
    assert math.isfinite(body.num_layers * body.backward_time[0])


def test_negative_zero_is_plain_zero():
    assert math.copysign(1, _body(with_body(memory_recompute=-0.0)).activation_mb[4]) == 1


def test_a_misspelled_type_is_not_reported_as_a_missing_body_as_well():
    assert len(problems_of(with_body(type="Body"))) == 1
