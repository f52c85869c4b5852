"""Contents that no upload field expects: broken, enormous, compressed, nested, and text that means something elsewhere.

They are made when they are asked for, from a few characters each; none is larger than the largest upload.
"""

import codecs
import gzip
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import IO, NamedTuple

NAMES = (
    "<img src=x onerror=\"window.__hacked='img'\">",
    "<script>window.__hacked='script'</script>",
    "</script><script>window.__hacked='end'</script>",
    "[a](javascript:window.__hacked=1) ![p](http://out.invalid/p.png)",
    "<a href=\"javascript:window.__hacked='a'\">a</a><b>b</b><br>",
    "%{x} %{customdata[0]} {{7*7}} {0} %s ${a}",
    ":red[r] :material/home: :streamlit: :smile: $x^2$ `c` ~~s~~ **b** _i_ a | b -> c",
    "http://out.invalid/ www.out.invalid me@out.invalid",
    "=cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd",
    "../../etc/passwd",
    "C:\\con",
    "con",
    "-rf",
    "'; DROP TABLE x; --",
    "# h\u00ad",
    "ä" * 200,
)
"""Of 200 characters at most; all but one are printable, so readers have to take them as names."""

FILE_NAMES = (
    "../../etc/passwd",
    "C:\\windows\\con.json",
    "/dev/zero",
    "x" * 1_000_000 + ".json",
    "a\u202egpj.exe\x00\n<b>.yaml",
    "",
    *NAMES[:4],
)

_NUMBERS = (
    "1e308", "-1e308", "1e999", "1" + "0" * 400, "9" * 5_000, "-0.0", "1e-320", "-1", "9223372036854775808", "0.5",
    "NaN", "-Infinity", "null", "true", '"1"', '"\\ud800"', '"\\u202e"', '""', "[]", "{}", "[[[[[[]]]]]]", "[0]",
)  # fmt: skip
"""JSON texts to stand where something else is expected."""


_BLOCK = 2**20


class Hostile(NamedTuple):
    """One content.

    Attributes:
        name: unique.
        make: the bytes, about as many as it is asked for where size is what is hostile about them.
    """

    name: str
    make: Callable[[int], bytes]


def _yaml_bomb(_: int) -> bytes:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 10)]
    return "\n".join(lines).encode()


def _gzip_bomb(n: int) -> bytes:
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file:
        _write_zeros(file, 50 * n)
    return packed.getvalue()


def _zip_bomb(n: int) -> bytes:
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("../../etc/passwd", "w") as file,
    ):
        _write_zeros(file, 50 * n)
    return packed.getvalue()


def _write_zeros(file: IO[bytes], count: int) -> None:
    for _ in range(-(-count // _BLOCK)):
        file.write(bytes(_BLOCK))


def _kinds(n: int) -> bytes:
    layer = {"type": "BODY", "nb_layer": 1, "time": 1, "memory_parameter": 1, "memory_activation": 1}
    kinds = [{"name": f"L{i}"} | layer for i in range(n // 100)]
    return json.dumps({"name": "many", "layers_description": kinds}).encode()


def _repeated(text: bytes, n: int, before: bytes = b"", after: bytes = b"") -> bytes:
    return before + text * max(1, (n - len(before) - len(after)) // len(text)) + after


_SIZED: dict[str, Callable[[int], bytes]] = {
    "zero bytes": bytes,
    "gzip bomb": _gzip_bomb,
    "zip bomb": _zip_bomb,
    "blank": lambda n: _repeated(b" \n\t\r\n", n),
    "deep lists": lambda n: b"[" * n,
    "deep lists, closed": lambda n: b"[" * (n // 2) + b"]" * (n // 2),
    "deep mappings": lambda n: _repeated(b'{"a":', n),
    "deep YAML": lambda n: _repeated(b"{a: ", n, b"x: "),
    "deep YAML block": lambda n: _repeated(b"- ", n),
    "deep YAML keys": lambda n: _repeated(b"? ", n),
    "alias bomb": _yaml_bomb,
    "merge keys": lambda n: _repeated(b"c: {<<: *a}\n", n, b"a: &a {b: 1}\n"),
    "YAML documents": lambda n: _repeated(b"---\na: 1\n", n),
    "digits": lambda n: b"9" * n,
    "digits in a list": lambda n: b"[" + b"9" * n + b"]",
    "digits under a key": lambda n: b'{"hidden_size": ' + b"9" * n + b"}",
    "decimals": lambda n: b"[0." + b"9" * n + b"e-99999999999999999999]",
    "duplicate keys": lambda n: _repeated(b'"name": 1, ', n, b"{", b'"name": 2}'),
    "duplicate YAML keys": lambda n: _repeated(b"name: 1\n", n),
    "many keys": lambda n: json.dumps({f"k{i}": i for i in range(n // 18)}).encode(),
    "many YAML keys": lambda n: b"".join(b"k%d: 1\n" % i for i in range(n // 10)),
    "long key": lambda n: json.dumps({"k" * n: 1}).encode(),
    "long text": lambda n: json.dumps({"name": "n" * n}).encode(),
    "long names": lambda n: json.dumps({"name": "a", "layers_description": [{"name": "n" * (n // 2)}] * 2}).encode(),
    "values": lambda n: _repeated(b"1,", n, b"[", b"1]"),
    "lists": lambda n: _repeated(b"[],", n, b"[", b"[]]"),
    "mappings": lambda n: _repeated(b'{"":0},', n, b"[", b"{}]"),
    "not numbers": lambda n: _repeated(b"NaN,", n, b'{"layers_description": [', b"1e999]}"),
    "kinds": _kinds,
    "YAML kinds": lambda n: _repeated(b"- {name: a}\n", n, b"layers_description:\n"),
    "script beginnings": lambda n: _repeated(b"<script", n, b"<html>"),
    "script beginnings with id": lambda n: _repeated(b'<script id="scenario">', n, b"<html>"),
    "script with a bomb": lambda n: _repeated(b"[", n, b'<html><script id="scenario">', b"</script>"),
    "separators": lambda n: _repeated(b"|", n, after=b"\nx"),
    "separators, as long as a layout": lambda n: _repeated(b"|", min(n, 99_000), after=b"\nx"),
    "repeats": lambda n: _repeated(b"t*99999", n, b"E", b"L"),
    "repeats, as long as a layout": lambda n: _repeated(b"t*99999", min(n, 99_000), b"E", b"L"),
    "letters": lambda n: b"E" * n,
    "letters, as long as a layout": lambda n: b"E" * min(n, 99_000),
    "brackets": lambda n: _repeated(b"()", min(n, 99_000), b"E", b"L"),
    "quotation marks": lambda n: _repeated(b"a\\'", min(n, 99_000), b"'"),
    "flags": lambda n: _repeated(b"--pipeline-model-parallel-layout ", min(n, 99_000)),
    "flag with a long word": lambda n: b"--x " + b"a" * n,
    "flag with a word as long as a layout": lambda n: b"--x " + b"a" * min(n, 99_000),
    "commas": lambda n: b"," * n,
    "lines": lambda n: _repeated(b"\n", n, b"stage,kind,duration\n"),
    "quoted cell": lambda n: _repeated(b"a\n", n, b'stage,kind,duration\n"'),
    "cells": lambda n: _repeated(b"0,F,", n, b"stage,kind,duration\n"),
    "wrong cells": lambda n: _repeated(b"1e308,F,nan\n-1,Z,inf\n", n, b"stage,kind,duration\n"),
    "rows": lambda n: _repeated(b"0,F,1\n", n, b"stage,kind,duration\n"),
    "negative rows": lambda n: _repeated(b"0,F,-1\n", n, b"stage,kind,duration\n"),
    "events": lambda n: _repeated(b'{"ph":"X","name":"stage 0 F0.0","ts":1,"dur":1},', n, b"[", b"{}]"),
    "wrong events": lambda n: _repeated(b'{"ph":"X","name":"stage 9 F0.0","ts":"1","dur":-1},', n, b"[", b"{}]"),
}

_SMALL: dict[str, bytes] = {
    "empty": b"",
    "every byte": bytes(range(256)) * 100,
    "UTF-16": '{"name": "x"}'.encode("utf-16"),
    "UTF-16 without mark": '{"name": "x"}'.encode("utf-16-be"),
    "UTF-32": '{"name": "x"}'.encode("utf-32"),
    "UTF-7": b'{"name": "+ADw-script+AD4-"}',
    "Latin-1": "name: größe".encode("latin-1"),
    "half a character": "name: µ".encode()[:-1],
    "byte order mark alone": codecs.BOM_UTF8,
    "byte order marks": codecs.BOM_UTF8 * 3 + b"{}",
    "overlong slash": b"name: \xc0\xaf",
    "surrogate in UTF-8": b"name: \xed\xa0\x80",
    "PDF": b"%PDF-1.7\n1 0 obj <</Type /Catalog>> endobj\n%%EOF",
    "PNG": b"\x89PNG\r\n\x1a\n" + bytes(1000),
    "program": b"\x7fELF\x02\x01\x01" + bytes(1000),
    "pickle": b"cos\nsystem\n(S'true'\ntR.",
    "almost too deep": b'{"traceEvents": ' + b"[" * 900 + b"]" * 900 + b"}",
    "alias of itself": b"a: &a [*a]\n",
    "YAML tag": b"!!python/object/apply:os.system ['true']",
    "YAML tags below": b"name: !!python/name:os.system\nlayers_description: !!python/object/new:type [a]\n",
    "YAML directives": b"%YAML 9.9\n%TAG ! tag:out.invalid,2000:\n--- a",
    "lone surrogates": b'{"name": "\\ud800", "\\udfff": "\\udfff\\ud800"}',
    "control characters": b'{"name": "a\\u0000\\u001b[31m\\u202e\\u2028\\r\\n"}',
    "HTML": b"<!DOCTYPE html><html><script>window.__hacked=1</script></html>",
    "HTML with nothing": b"<!-- -->",
    "SVG": b"<svg onload='window.__hacked=1'/>",
    "script in script": b'<html><script id="scenario">{"a": "<script id=scenario>"}</script>',
    "script without JSON": b'<html><script id="scenario">alert(1)</script>',
    "repeat with digits": b"Et*" + b"9" * 5_000,
    "flag with digits": b"--pipeline-model-parallel-layout EtL --recompute-num-layers " + b"9" * 5_000,
    "flag as a command": b"--pipeline-model-parallel-layout $(touch /tmp/x);`touch /tmp/x`",
    "formulas": b"stage,kind,duration\n=cmd|' /C calc'!A0,@a,+1\n",
    "trace with a huge time": b'[{"ph":"X","name":"stage 0 F0.0","ts":1' + b"0" * 400 + b',"dur":1}]',
    "trace with a huge base": b'{"baseTimeNanoseconds":1' + b"0" * 400 + b',"traceEvents":[]}',
    "names": "\n".join(NAMES).encode(),
}

ANYWHERE: tuple[Hostile, ...] = (
    *(Hostile(name, make) for name, make in _SIZED.items()),
    *(Hostile(name, lambda _, data=data: data) for name, data in _SMALL.items()),
)
"""For every field."""


def planted(document: object, most: int = 60) -> Iterator[Hostile]:
    """A legal document with one of its values replaced, one after the other, by each of the odd ones; with odd names.

    Args:
        document: as JSON has it.
        most: values that are replaced; the first ones.
    """
    places = list(_leaves(document, ()))[:most]
    for number, place in enumerate(places):
        # Every value meets every third odd one, so that each place and each odd one has its turn.
        for odd in _NUMBERS[number % 3 :: 3]:
            shown = odd if len(odd) < 20 else f"{odd[:5]}… of {len(odd)}"
            yield Hostile(f"{'.'.join(map(str, place))} = {shown}", _replaced(document, place, odd))
    for place in places:
        if isinstance(_at(document, place), str):
            for name in NAMES:
                yield Hostile(
                    f"{'.'.join(map(str, place))} = {name[:30]}", _replaced(document, place, json.dumps(name))
                )


def _replaced(document: object, place: tuple[object, ...], odd: str) -> Callable[[int], bytes]:
    def make(_: int) -> bytes:
        changed = deepcopy(document)
        _at(changed, place[:-1])[place[-1]] = "@odd@"
        return json.dumps(changed).replace('"@odd@"', odd).encode()

    return make


def _at(document, place):
    for key in place:
        document = document[key]
    return document


def _leaves(value: object, place: tuple[object, ...]) -> Iterator[tuple[object, ...]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, (*place, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value[:3]):
            yield from _leaves(inner, (*place, index))
    if place:
        yield place
