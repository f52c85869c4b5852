"""Broken profile files: what every entrance (loader, command line, page) has to answer with a sentence.

`from tests.profiles.broken import BROKEN`
"""

import json
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tests.profiles.documents import MODES, legal, to_json, to_yaml, with_body


class Broken(NamedTuple):
    """A file that must be refused.

    Attributes:
        name: unique, usable as a file name.
        data: the file.
        expected: stands in one of the sentences: the path of the field, or the place in the file.
    """

    name: str
    data: bytes
    expected: str


_BODY = "layers_description[1]"

_LAYER_NUMBERS = ("time", "forward_time", "memory_parameter", *(key for keys in MODES.values() for key in keys[:3]))
_WRONG_NUMBERS: dict[str, object] = {
    "negative": -1,
    "text": "13",
    "true": True,
    "null": None,
    "list": [1, 2],
    "mapping": {"value": 1},
    "too_large": 1e13,
}
_WRONG_COUNTS: dict[str, object] = {
    "zero": 0,
    "negative": -3,
    "fraction": 1.5,
    "with_point": 24.0,
    "text": "24",
    "false": False,
    "null": None,
    "too_many": 10_001,
}
_WRONG_TEXTS: dict[str, object] = {
    "number": 7,
    "true": True,
    "null": None,
    "empty": "",
    "blank": "   ",
    "two_lines": "a\nb",
    "right_to_left_override": "a\u202eb",
    "too_long": "x" * 201,
    "list": ["a"],
}
_NOT_FINITE_JSON = {"nan": "NaN", "infinity": "Infinity", "minus_infinity": "-Infinity", "overflow": "1e999",
                    "digits": "9" * 400, "digits_negative": "-" + "9" * 5000}  # fmt: skip
_NOT_FINITE_YAML = {"nan": ".nan", "infinity": ".inf", "minus_infinity": "-.Inf", "overflow": "1e999",
                    "digits": "9" * 400, "word_nan": "NaN", "colon": "1:30", "octal": "010", "underscore": "1_000",
                    "hexadecimal": "0x1F", "unit": "13 ms"}  # fmt: skip


def _changed(change: Callable[[dict], object]) -> dict:
    document = legal()
    change(document)
    return document


def _with_top(key: str, value: object) -> dict:
    return _changed(lambda document: document.update({key: value}))


def _with_raw(text: bytes, key: str, raw: str) -> bytes:
    """The file with a number written as `raw`: things that no writer of JSON or YAML would produce."""
    marker = b"100"
    assert text.count(marker) == 1, key
    return text.replace(marker, raw.encode())


def _generated() -> Iterator[Broken]:
    for key in _LAYER_NUMBERS:
        for label, value in _WRONG_NUMBERS.items():
            yield Broken(f"layer_{key}_{label}.json", to_json(with_body(**{key: value})), f"{_BODY}.{key}")
    for label, value in _WRONG_COUNTS.items():
        yield Broken(f"layer_nb_layer_{label}.yaml", to_yaml(with_body(nb_layer=value)), f"{_BODY}.nb_layer")
    for label, value in _WRONG_TEXTS.items():
        yield Broken(f"layer_name_{label}.json", to_json(with_body(name=value)), f"{_BODY}.name")
        yield Broken(f"profile_name_{label}.json", to_json(_with_top("name", value)), "name")
    for label, value in (("lower", "body"), ("number", 1), ("null", None), ("other", "MIDDLE"), ("list", ["BODY"])):
        yield Broken(f"layer_type_{label}.yaml", to_yaml(with_body(type=value)), f"{_BODY}.type")
    for key in ("name", "type", "nb_layer", "time", "memory_parameter"):
        document = legal()
        del document["layers_description"][1][key]
        yield Broken(f"layer_without_{key}.json", to_json(document), f"{_BODY}.{key}")
    for label, value in _WRONG_NUMBERS.items():
        yield Broken(f"stage_const_mem_{label}.yaml", to_yaml(_with_top("stage_const_mem", value)), "stage_const_mem")
        yield Broken(f"memory_limit_{label}.yaml", to_yaml(_with_top("memory_limit", value)), "memory_limit")
    for label, value in (("zero", 0), ("text", "8"), ("fraction", 0.5), ("null", None), ("true", True)):
        data = to_json(_with_top("training", {"seq_length": value}))
        yield Broken(f"training_seq_length_{label}.json", data, "training.seq_length")
    # The body's time is the only 100 of these texts.
    plain = _with_top("stage_const_mem", 0)
    for label, raw in _NOT_FINITE_JSON.items():
        yield Broken(f"raw_{label}.json", _with_raw(to_json(plain), "time", raw), f"{_BODY}.time")
    for label, raw in _NOT_FINITE_YAML.items():
        yield Broken(f"raw_{label}.yaml", _with_raw(to_yaml(plain), "time", raw), f"{_BODY}.time")


def _nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


def _many(count: int, layers: int) -> dict:
    layer = {"type": "BODY", "nb_layer": layers, "time": 1, "memory_parameter": 1, "memory_activation": 1}
    return {"name": "many", "layers_description": [{"name": f"L{i}", **layer} for i in range(count)]}


def _same_names(document: dict) -> None:
    document["layers_description"][2]["name"] = "Block"


def _only_ends(document: dict) -> None:
    del document["layers_description"][1]


def _two_bodies_without_common_mode(document: dict) -> None:
    first = document["layers_description"][1]
    second = {**first, "name": "Other", "memory_select_comm": 5}
    for key in ("memory_activation", "memory_select_rec", "memory_recompute"):
        del second[key]
    document["layers_description"].append(second)


def _zero_times(document: dict) -> None:
    for layer in document["layers_description"]:
        layer["time"] = 0


def _both_spellings(document: dict) -> None:
    document["layers_description"][1].update({"recompute_time": 1, "recompute_time ": 2})


def _blank_spelling_negative(document: dict) -> None:
    document["layers_description"][1]["recompute_time "] = -2


_JSON = to_json(legal())
_YAML = to_yaml(legal())
_ALIAS_BOMB = (
    b"a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
    + b"".join(
        f"{name}: &{name} [{', '.join(['*' + before] * 9)}]\n".encode()
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + b"layers_description: *i\n"
)

_WRITTEN: tuple[Broken, ...] = (
    # Not a document at all.
    Broken("empty.json", b"", "is empty"),
    Broken("blank.yaml", b" \n\t\n ", "is empty"),
    Broken("comments_only.yaml", b"# nothing\n# here\n", "is empty"),
    Broken("byte_order_mark_only.json", b"\xef\xbb\xbf", "is empty"),
    Broken("utf16.json", _JSON.decode().encode("utf-16"), "UTF-8"),
    Broken("latin1.yaml", "name: Schicht für alles\n".encode("latin-1"), "line 1"),
    Broken("binary.json", bytes(range(256)), "UTF-8"),
    Broken("half_a_character.yaml", _YAML + "# µ".encode()[:-1], "UTF-8"),
    Broken("zero_byte.yaml", b"name: a\x00b\n", "line 1"),
    Broken("escape_byte.json", b'{\n"name": "a\x1bb"}', "line 2"),
    Broken("too_large.json", b" " * (2 * 1024 * 1024) + _JSON, "2 MB"),
    Broken("too_large.yaml", _YAML + b"#" * (2 * 1024 * 1024), "2 MB"),
    # Syntax.
    Broken("truncated.json", _JSON[:-40], "line 1"),
    Broken("unclosed_string.json", b'{"name": "x', "line 1"),
    Broken("no_value.json", b'{"name": }', "line 1, column 10"),
    Broken("comma_at_the_end.json", b'{"name": "x",}', "line 1, column 14"),
    Broken("json_with_comment.json", b'{"name": "x" // mine\n}', "line 1, column 14"),
    Broken("two_commas.json", b'{"name": "x",,}', "line 1"),
    Broken("no_comma.json", b'{"name": "x"\n"time_unit": "ms"}', "line 2"),
    Broken("two_objects.json", b"{}{}", "line 1"),
    Broken("text_after.json", b"{} x", "line 1"),
    Broken("lone_quote.json", b'"', "line 1"),
    Broken("tab_indent.yaml", b"layers_description:\n\t- name: x\n", "line 2"),
    Broken("colon_twice.yaml", b"name: a: b\n", "line 1"),
    Broken("bad_indent.yaml", b"training:\n    batch_size: 1\n  num_heads: 2\n", "line 3"),
    Broken("unclosed_bracket.yaml", b"layers_description: [\n", "line 2"),
    Broken("unclosed_quote.yaml", b"name: 'x\n", "line 2"),
    Broken("unknown_directive.yaml", b"%YAML 7.0\n---\nname: x\n", "line 1"),
    Broken("two_documents.yaml", _YAML + b"---\n" + _YAML, "one YAML document"),
    Broken("python_literal.json", repr(with_body(time=float("nan"))).encode(), f"{_BODY}.time"),
    # A document, but not a profile.
    Broken("list.json", b"[]", "must be a mapping"),
    Broken("list_of_layers.json", to_json(legal()["layers_description"]), "must be a mapping"),
    Broken("number.json", b"3", "must be a mapping"),
    Broken("text.yaml", b"hello\n", "must be a mapping"),
    Broken("null.json", b"null", "must be a mapping"),
    Broken("text.json", b'"hello"', "must be a mapping"),
    Broken("empty_object.json", b"{}", "layers_description"),
    Broken("other_json.json", b'{"hidden_size": 4096}', "layers_description"),
    Broken("settings.yaml", b"pipeline_config: {pipeline_num: 4}\n", "pipeline_config"),
    # Layers as a whole.
    Broken("layers_null.yaml", b"name: x\nlayers_description:\n", "layers_description"),
    Broken("layers_mapping.json", to_json(_with_top("layers_description", {"name": "x"})), "layers_description"),
    Broken("layers_text.json", to_json(_with_top("layers_description", "Block")), "layers_description"),
    Broken("layers_number.json", to_json(_with_top("layers_description", 3)), "layers_description"),
    Broken("layers_empty.json", to_json(_with_top("layers_description", [])), "layers_description"),
    Broken("layer_null.json", to_json(_with_top("layers_description", [None])), "layers_description[0]"),
    Broken("layer_number.json", to_json(_with_top("layers_description", [3])), "layers_description[0]"),
    Broken("layer_text.json", to_json(_with_top("layers_description", ["Block"])), "layers_description[0]"),
    Broken("layer_list.yaml", to_yaml(_with_top("layers_description", [[]])), "layers_description[0]"),
    Broken("layer_empty.json", to_json(_with_top("layers_description", [{}])), "layers_description[0].name"),
    Broken(
        "no_body.json", to_json(_changed(_only_ends)), "layers_description: must hold at least one layer of type BODY"
    ),
    Broken("too_many_kinds.json", to_json(_many(201, 1)), "layers_description: must hold at most 200"),
    Broken("too_many_layers.json", to_json(_many(101, 100)), "layers_description: must hold at most 10,000"),
    Broken("same_names.json", to_json(_changed(_same_names)), "layers_description[2].name"),
    Broken("no_common_mode.json", to_json(_changed(_two_bodies_without_common_mode)), "layers_description"),
    Broken("only_zero_times.json", to_json(_changed(_zero_times)), "layers_description"),
    Broken("both_spellings.json", to_json(_changed(_both_spellings)), f"{_BODY}.recompute_time"),
    Broken("blank_spelling_negative.json", to_json(_changed(_blank_spelling_negative)), f"{_BODY}.recompute_time"),
    Broken("coefficient_too_large.json", to_json(with_body(recompute_coef=1001)), f"{_BODY}.recompute_coef"),
    # Other keys of the profile.
    Broken("memory_limit_zero.json", to_json(_with_top("memory_limit", 0)), "memory_limit"),
    Broken("time_unit_number.json", to_json(_with_top("time_unit", 3)), "time_unit"),
    Broken("time_unit_long.json", to_json(_with_top("time_unit", "x" * 21)), "time_unit"),
    Broken("time_unit_null.yaml", to_yaml(_with_top("time_unit", None)), "time_unit"),
    Broken("training_list.json", to_json(_with_top("training", [1])), "training"),
    Broken("training_text.json", to_json(_with_top("training", "big")), "training"),
    Broken("training_null.yaml", to_yaml(_with_top("training", None)), "training"),
    # Keys.
    Broken("key_twice.json", _JSON.replace(b'"name": "Block"', b'"time": 1, "name": "Block"'), f"{_BODY}.time"),
    Broken("key_twice_top.json", b'{"name": "a", ' + _JSON[1:], "name: the key is given twice"),
    Broken("key_twice.yaml", _YAML.replace(b"  type: BODY", b"  type: BODY\n  time: 1"), f"{_BODY}.time"),
    Broken("layers_twice.yaml", _YAML + b"layers_description: []\n", "layers_description: the key is given twice"),
    Broken("key_number.yaml", _YAML + b"7: x\n", "keys must be text"),
    Broken("key_null.yaml", _YAML + b"~: x\n", "keys must be text"),
    Broken("key_true.yaml", _YAML + b"true: x\n", "keys must be text"),
    Broken("key_list.yaml", _YAML + b"[a, b]: x\n", "keys must be text"),
    Broken("key_mapping.yaml", _YAML + b"? {a: b}\n: x\n", "keys must be text"),
    Broken("key_nan.yaml", _YAML + b".nan: x\n", "finite"),
    Broken("half_surrogate.json", _JSON.replace(b'"Block"', b'"\\ud800"'), f"{_BODY}.name"),
    Broken("half_surrogate_key.json", b'{"\\udfff": 1, ' + _JSON[1:], "UTF-8"),
    # Tags, anchors, aliases.
    Broken("tag_integer.yaml", _YAML.replace(b"nb_layer: 24", b"nb_layer: !!int '24'"), f"{_BODY}.nb_layer"),
    Broken("tag_local.yaml", _YAML.replace(b"time: 113", b"time: ! 113"), "layers_description[2].time"),
    Broken("tag_on_mapping.yaml", _YAML.replace(b"training:", b"training: !!map"), "training"),
    Broken("tag_on_document.yaml", b"!!str x\n", "tags are not read"),
    Broken("alias_as_document.yaml", b"*a\n", "aliases are not read"),
    Broken("tag_python.yaml", b"name: !!python/object/apply:os.system ['true']\n", "name: tags are not read"),
    Broken("tag_binary.yaml", b"name: !!binary aGVsbG8=\n", "name: tags are not read"),
    Broken("anchor.yaml", _YAML.replace(b"time: 113", b"time: &t 113"), "layers_description[2].time: anchors"),
    Broken("alias.yaml", _YAML.replace(b"time: 113", b"time: *t"), "layers_description[2].time: aliases"),
    Broken("merge_key.yaml", b"a: &a {name: x}\nlayers_description:\n- <<: *a\n", "layers_description[0]"),
    Broken("alias_of_itself.yaml", b"a: &a [*a]\n", "a[0]"),
    Broken("alias_as_key.yaml", b"a: &a x\n*a : 1\n", "aliases are not read"),
    Broken("alias_bomb.yaml", _ALIAS_BOMB, "layers_description: aliases"),
    # Nesting.
    Broken("nested_21.json", to_json(_with_top("deep", _nested(20))), "deep[0]"),
    Broken("nested_21.yaml", to_yaml(_with_top("deep", _nested(20))), "deep[0]"),
    Broken("nested_100000.json", b"[" * 100_000 + b"]" * 100_000, "nested 20 deep"),
    Broken("nested_100000_open.json", b"[" * 100_000, "nested 20 deep"),
    Broken("nested_objects.json", b'{"a":' * 100_000, "a.a.a.a"),
    Broken("nested_flow.yaml", b"x: " + b"{a: " * 50_000, "x.a.a.a"),
    Broken("nested_block.yaml", b"- " * 100_000, "[0][0]"),
    Broken("nested_keys.yaml", b"? " * 100_000, "keys must be text"),
    # Many problems.
    Broken("million_nans.json", b'{"x": [' + b"NaN, " * 100_000 + b"NaN]}", "x[999]"),
    Broken("key_ten_thousand_times.json", b"{" + b'"a": 1, ' * 10_000 + b'"a": 1}', "a: the key is given twice"),
    Broken("strange_path.json", json.dumps({"a.b\n": float("nan")}).encode(), '["a.b\\n"]'),
)

BROKEN: tuple[Broken, ...] = (*_WRITTEN, *_generated())
