"""Bytes of a JSON or YAML file to a tree of plain values, with nothing in it that could surprise a reader.

JSON and YAML are told apart by content: text that starts like JSON has to be JSON. YAML is read as the JSON-like core
of YAML 1.2: `1e3` is a number; `010`, `1_000` and `1:30`, numbers to some readers only, are text, and so is `yes`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import yaml

from sapp_core.documents.report import Report, quoted
from sapp_core.documents.tree import MAX_DEPTH, TreeBuilder
from sapp_core.errors import FormatError, SappError

MAX_BYTES = 2 * 1024 * 1024
MAX_VALUES, MAX_YAML_VALUES = 200_000, 100_000
"""Mappings, lists, and what is in them. A plan of 2,048 cells has ten thousand; YAML takes three times as long."""

_EVENTS = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml where PyYAML was built with it

_WORDS: Mapping[str, bool | None] = MappingProxyType(
    {
        **dict.fromkeys(("", "~", "null", "Null", "NULL")),
        **dict.fromkeys(("true", "True", "TRUE"), True),
        **dict.fromkeys(("false", "False", "FALSE"), False),
    }
)
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")

_EMPTY = "is empty; must hold a JSON or YAML mapping."
_UNFIT = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_STRING_OR_MARK = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{},]', re.DOTALL)


class _Members(list[tuple[str, object]]):
    """Keys and values of a JSON object, doubles included."""


class _Number(str):
    """A JSON number as it is written."""

    __slots__ = ()


def parse_document(data: bytes, source: str, error: type[SappError] = FormatError) -> object:
    """The document as dict, list, str, int, float, bool and None.

    Args:
        data: JSON or YAML text in UTF-8, with or without a byte order mark.
        source: name of the file, for messages only.
        error: what to raise.

    Raises:
        FormatError: or the type given, with all problems: not UTF-8, empty, above 2 MB, a syntax error, doubled
            keys, keys that are not text, tags, anchors, aliases, numbers that are not finite, nesting deeper than 20.
    """
    report = Report(source, error)
    tree = read_document(data, report)
    report.raise_problems()
    return tree


def read_document(data: bytes, report: Report) -> object:
    """As `parse_document`, but what can be read past goes to the report; `Refused.VALUE` stands in its place.

    Raises:
        SappError: nothing beyond the problem can be read.
    """
    text = _decode(data, report)
    if not text.lstrip().startswith(("{", "[")):
        return _from_yaml(text, report)
    if nesting := _nesting_problem(text, report):
        # The JSON reader is recursive and must not see this. The other one stops in time and knows the path.
        return _from_yaml(text, report, nesting)
    try:
        tree = json.loads(
            text, object_pairs_hook=_Members, parse_int=_Number, parse_float=_Number, parse_constant=_Number
        )
    except json.JSONDecodeError as error:
        if not text[: error.pos].strip(" \t\r\n{["):
            return _from_yaml(text, report)  # what follows the brackets is no JSON, so `{a: 1}` was meant
        report.stop("", f"line {error.lineno}, column {error.colno} is not valid JSON: {error.msg}.")
    return _from_json(tree, report)


def _decode(data: bytes, report: Report) -> str:
    if len(data) > MAX_BYTES:
        report.stop("", f"must not be larger than 2 MB ({MAX_BYTES:,} bytes), found {len(data):,} bytes.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        report.stop(
            "", f"must be text in UTF-8, found the byte 0x{data[error.start]:02x} in line {line}; save it as UTF-8."
        )
    if not text.strip():
        report.stop("", _EMPTY)
    if unfit := _UNFIT.search(text):
        line = text.count("\n", 0, unfit.start()) + 1
        report.stop("", f"must not hold control characters, found U+{ord(unfit.group()):04X} in line {line}.")
    return text


def _nesting_problem(text: str, report: Report) -> str | None:
    """Where JSON text nests too deep, if it does; one with too many values is not even given to the JSON reader."""
    depth = values = 0
    for token in _STRING_OR_MARK.finditer(text):
        character = text[token.start()]
        if character in ",[{":
            values += 1
            if values > MAX_VALUES:
                report.stop("", f"a file may hold {MAX_VALUES:,} values, found more.")
        if character in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                line = text.count("\n", 0, token.start()) + 1
                return f"line {line}: mappings and lists may be nested {MAX_DEPTH} deep, found more."
        elif character in "]}":
            depth -= 1
    return None


def _from_json(tree: object, report: Report) -> object:
    builder = TreeBuilder(report, MAX_VALUES)
    stack: list[Iterator[object]] = [iter((tree,))]
    while stack:
        for value in stack[-1]:
            if isinstance(value, _Members):
                builder.open({})
                stack.append(iter([part for member in value for part in member]))
                break
            if isinstance(value, list):
                builder.open([])
                stack.append(iter(value))
                break
            if isinstance(value, _Number):
                builder.number(value)
            else:
                builder.scalar(value)
        else:
            stack.pop()
            if stack:
                builder.close()
    return builder.root


def _from_yaml(text: str, report: Report, known_problem: str = "") -> object:
    """The tree of a YAML document; `known_problem` is said instead of a syntax error."""
    builder = TreeBuilder(report, MAX_YAML_VALUES)
    documents = 0
    try:
        for event in yaml.parse(text, Loader=_EVENTS):
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
            if documents > 1:
                report.stop("", "must hold one YAML document, found another one after a line `---`.")
            _take_event(event, builder)
    except yaml.YAMLError as error:
        report.stop("", known_problem or _yaml_problem(error))
    if not documents:
        report.stop("", _EMPTY)
    return builder.root


def _take_event(event: yaml.Event, builder: TreeBuilder) -> None:
    if isinstance(event, yaml.AliasEvent):
        builder.refuse(f"aliases are not read, found {quoted(f'*{event.anchor}')}; write the value out.")
    elif isinstance(event, yaml.ScalarEvent):
        _note_anchor(event, builder)
        if event.tag is not None:
            builder.refuse(f"tags are not read, found {quoted(event.tag)}; write the value without it.")
        else:
            _take_scalar(event.value, builder, plain=event.implicit[0])
    elif isinstance(event, yaml.CollectionStartEvent):
        _note_anchor(event, builder)
        if event.tag is not None:
            builder.note(f"tags are not read, found {quoted(event.tag)}; leave it out.")
        builder.open({} if isinstance(event, yaml.MappingStartEvent) else [])
    elif isinstance(event, yaml.CollectionEndEvent):
        builder.close()


def _note_anchor(event: yaml.NodeEvent, builder: TreeBuilder) -> None:
    if event.anchor is not None:
        builder.note(f"anchors are not read, found {quoted(f'&{event.anchor}')}; leave it out.")


def _take_scalar(text: str, builder: TreeBuilder, *, plain: bool) -> None:
    if plain and text in _WORDS:
        builder.scalar(_WORDS[text])
    elif plain and _NUMBER.fullmatch(text):
        builder.number(text)
    elif plain and _NOT_FINITE.fullmatch(text):
        builder.number(text.replace(".", ""))
    else:
        builder.scalar(text)


def _yaml_problem(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f"line {mark.line + 1}, column {mark.column + 1} is not valid YAML: {error.problem}."
    return "is not valid YAML."
