"""First patterns for a trace: names that repeat with a number are layers, the rest is told by its words.

Three ways to write names are known: one label a layer (`nn.Module: LlamaDecoderLayer_3`, `layer 3 forward`), and of
MindSpore the scope of an op as a path (`Default/network/model/layers/3-DecoderLayer/attention/MatMul-op12`), or in
lanes, an event for each step of the path (`3-DecoderLayer`, during `Default` or `Gradients`).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sapp_core.documents.trace_events import DEVICE_ANNOTATION
from sapp_core.domain.profile import LayerKind
from sapp_core.profiles.trace import Trace
from sapp_core.profiles.trace_kinds import KindPatterns
from sapp_core.profiles.trace_patterns import DURING, NUMBER, OR
from sapp_core.profiles.trace_times import Match, inside

_LAYER = re.compile(r"((?<!\w)\w*?(?:layer|block|decoder|encoder)[A-Za-z]*[ ._/:-]{0,2})(\d{1,9})(?!\d)", re.IGNORECASE)
_LANE = re.compile(r"(\d{1,9})-(\w*(?:layer|block|decoder|encoder)\w*)", re.IGNORECASE)
_GRADIENTS, _RECOMPUTING = "Gradients", "recompute_*"
"""Lanes of MindSpore beside those of the forward."""
_BACKWARD = re.compile(r"grad|backward|bwd", re.IGNORECASE)
_RECOMPUTED = re.compile(r"recompute", re.IGNORECASE)
_HEAD = re.compile(r"embed", re.IGNORECASE)
_TAIL = re.compile(r"lm_?head|loss|logits", re.IGNORECASE)
_CLASS = re.compile(r"[A-Za-z_]\w*")
_LONGEST_NAME = 1000
"""Characters; the time to look for layers in a word grows with the square of its length."""
_MOST_ALTERNATIVES = 3
_MOST_KINDS = 8
_SMALL_SHARE = 0.05
"""Of the time of the longest kind: less is no layer of the model."""
_MOSTLY = 0.5
"""Labels of which more run inside those of a layer belong to parts of it."""


_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True)
class _Found:
    """A pattern that some names suggest.

    Attributes:
        pattern: of the names.
        kind: what the layer is called.
        match: what one event is.
    """

    pattern: str
    kind: str
    match: Match


@dataclass(slots=True)
class _Names:
    """Names that suggest the same pattern.

    Attributes:
        texts: of the names.
        time: of all their events, µs.
        layers: numbers in the names.
    """

    texts: list[str] = field(default_factory=list)
    time: float = 0.0
    layers: set[int] = field(default_factory=set)

    def add(self, text: str, time: float) -> None:
        """One more name."""
        self.texts.append(text)
        self.time += time


def propose(trace: Trace) -> tuple[KindPatterns, ...]:
    """Head, body kinds and tail as far as the names tell them; always a BODY, with an empty pattern if need be."""
    totals = np.bincount(trace.name, trace.duration, len(trace.names))
    forward: dict[str, float] = defaultdict(float)
    backward: dict[str, float] = defaultdict(float)
    # Where labels have the times of the device, nothing else is worth proposing.
    on_device = any(name.category == DEVICE_ANNOTATION for name in trace.names)
    for known, total in zip(trace.names, totals.tolist(), strict=True):
        if (on_device and known.category != DEVICE_ANNOTATION) or len(known.text) > _LONGEST_NAME:
            continue
        if not _RECOMPUTED.search(known.text):
            (backward if _BACKWARD.search(known.text) else forward)[known.text] += total
    bodies, gradients = _bodies(trace, forward), _bodies(trace, backward)
    body_kinds = [] if bodies else _in_lanes(trace)
    for i, body in enumerate(bodies[:_MOST_KINDS]):
        pair = next((other for other in gradients if other.kind == body.kind), None)
        if pair is None and len(bodies) == len(gradients) == 1:
            pair = gradients[0]
        name = body.kind if [other.kind for other in bodies].count(body.kind) == 1 else f"{body.kind} {i + 1}"
        body_kinds.append(KindPatterns(name, LayerKind.BODY, body.pattern, pair.pattern if pair else "", body.match))
    return (
        *_end(trace, "Head", LayerKind.HEAD, _HEAD, forward, backward),
        *(body_kinds or [KindPatterns("Body", LayerKind.BODY, "")]),
        *_end(trace, "Tail", LayerKind.TAIL, _TAIL, forward, backward),
    )


def _bodies(trace: Trace, totals: Mapping[str, float]) -> list[_Found]:
    """Patterns of layers, in the order they first run; where labels nest, the outermost."""
    names: dict[_Found, _Names] = defaultdict(_Names)
    for text, total in totals.items():
        if named := _LAYER.search(text):
            found = _pattern(text, named)
            names[found].add(text, total)
            names[found].layers.add(int(named[2]))
    usual = {found: own for found, own in names.items() if len(own.layers) > 1}
    wholes = {found: own for found, own in usual.items() if found.match is Match.LAYER}
    chosen = _outermost(trace, wholes) if wholes else list(usual)
    return sorted(chosen, key=lambda found: float(trace.start[_events(trace, names[found].texts)].min()))


def _in_lanes(trace: Trace) -> list[KindPatterns]:
    """Layers of the lanes of scopes, where names say nothing better: a lane has parts of layers, all of one name."""
    texts = {name.text for name in trace.names}
    kinds: dict[str, set[str]] = defaultdict(set)
    for text in sorted(texts):
        if named := _LANE.fullmatch(text):
            kinds[named[2]].add(named[1])
    during = [_GRADIENTS] if _GRADIENTS in texts else []
    if during and any(text.startswith(_RECOMPUTING[:-1]) for text in texts):
        during.append(_RECOMPUTING)
    found = []
    for kind, numbers in sorted(kinds.items())[:_MOST_KINDS]:
        if len(numbers) > 1:
            own = f"{NUMBER}-{kind}"
            backward = OR.join(f"{scope}{DURING}{own}" for scope in during)
            found.append(KindPatterns(kind, LayerKind.BODY, own, backward, Match.PART))
    return found


def _outermost(trace: Trace, names: Mapping[_Key, _Names]) -> list[_Key]:
    """Those whose events mostly do not run inside those of others, longest first, without very short ones."""
    longest = sorted(names, key=lambda key: -names[key].time)
    outer = np.zeros(trace.num_events, bool)
    chosen = []
    for key in longest:
        if names[key].time < _SMALL_SHARE * names[longest[0]].time:
            break
        own = _events(trace, names[key].texts)
        rows = np.flatnonzero(own | outer)
        if np.mean(inside(trace, rows, outer[rows])[own[rows]]) < _MOSTLY:
            chosen.append(key)
            outer |= own
    return chosen


def _events(trace: Trace, texts: Iterable[str]) -> NDArray[np.bool_]:
    """`[event]`: whether it has one of the names."""
    wanted = set(texts)
    return np.array([name.text in wanted for name in trace.names])[trace.name]


def _pattern(text: str, named: re.Match[str]) -> _Found:
    before, after = text[: named.start(2)], text[named.end(2) :]
    if "/" not in text:
        kind = (_CLASS.search(named[1]) or named)[0].rstrip("_.")
        return _Found(f"{_escaped(before)}{NUMBER}{_escaped(after)}", kind, Match.LAYER)
    # The way to the layer has names of its own; its root tells forward from backward.
    root, _, _ = text.partition("/")
    start = before.rfind("/", 0, named.end(1) - 1) + 1
    step, slash, _ = after.partition("/")
    opening = _escaped(before) if start == 0 else f"{_escaped(root)}/*{_escaped(before[start:])}"
    kind = (_CLASS.search(step) or _CLASS.search(named[1]) or named)[0].rstrip("_.")
    if slash:
        return _Found(f"{opening}{NUMBER}{_escaped(step)}/*", kind, Match.PART)
    return _Found(f"{opening}{NUMBER}{_escaped(step)}", kind, Match.LAYER)


def _end(
    trace: Trace,
    name: str,
    kind: LayerKind,
    words: re.Pattern[str],
    forward: Mapping[str, float],
    backward: Mapping[str, float],
) -> Iterator[KindPatterns]:
    """Head or tail by the words of its names, outside the layers."""
    ahead, back = (_named(trace, words, totals) for totals in (forward, backward))
    if ahead:
        is_one = all(len(patterns) <= 1 and "*" not in "".join(patterns) for patterns in (ahead, back))
        match = Match.LAYER if is_one else Match.PART
        yield KindPatterns(name, kind, OR.join(ahead), OR.join(back), match)


def _named(trace: Trace, words: re.Pattern[str], totals: Mapping[str, float]) -> list[str]:
    """Patterns of names with a word, the outermost, those with most time."""
    names: dict[str, _Names] = defaultdict(_Names)
    for text, total in totals.items():
        steps = text.split("/")
        # Cells around the whole model are called after what they add to it, such as network-WithLossCell.
        places = [i for i, step in enumerate(steps) if words.search(step) and not step.startswith("network")]
        if not places or _LAYER.search(text):
            continue
        place = places[-1]
        pattern = _escaped(steps[place])
        if place > 0:
            pattern = f"{_escaped(steps[0])}/*{pattern}"
        if place < len(steps) - 1:
            pattern += "/*"
        names[pattern].add(text, total)
    return _outermost(trace, names)[:_MOST_ALTERNATIVES]


def _escaped(text: str) -> str:
    """A name as a pattern: it has no sign for a hash, a bar or a > that are meant, and a star matches them too."""
    return text.replace(NUMBER, "*").replace(OR, "*").replace(DURING, "*")
