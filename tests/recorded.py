"""The recorded facts in `golden/` as our own types."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from sapp_core.domain.pipeline import Pipeline, Placement
from sapp_core.domain.schedule import Op, OpKind, Schedule, Slot

GOLDEN = Path(__file__).parent / "golden"
FILES = ("torch", "megatron", "paddle_vpp", "dualpipe", "seq1f1b", "zerobubble")
TOKEN = re.compile(r"([FBIW])(\d+)\.(\d+)(?:\.(\d+))?")


@cache
def cases(file: str) -> tuple[dict[str, Any], ...]:
    """All cases of one recorded file, those the reference refused included."""
    return tuple(json.loads((GOLDEN / "schedules" / f"{file}.json").read_text(encoding="utf-8")))


def accepted(file: str, *names: str) -> Iterator[dict[str, Any]]:
    """Cases with an order, of the named schedules (all when none is named)."""
    return (case for case in cases(file) if "orders" in case and (not names or case["schedule"] in names))


def label(case: dict[str, Any]) -> str:
    """What a failing case is called."""
    return f"{case['schedule']} S={case['ranks']} V={case['chunks']} M={case['microbatches']} {case['options']}"


def compute_order(case: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
    """The order without Paddle's receive, send and optimizer jobs."""
    return tuple(tuple(token for token in stage if TOKEN.match(token)) for stage in case["orders"])


def recorded_schedule(case: dict[str, Any]) -> Schedule:
    """A recorded order as a `Schedule`."""
    bidirectional = case["options"].get("bidirectional", False)
    loop = [[chunk * case["ranks"] + stage for chunk in range(case["chunks"])] for stage in range(case["ranks"])]
    if bidirectional:
        placement = Placement.BIDIRECTIONAL
    else:
        placement = Placement.LOOP if case["stage_of"] == loop else Placement.V
    pipeline = Pipeline(
        num_stages=case["ranks"],
        num_micro_batches=case["microbatches"],
        num_chunks=case["chunks"],
        num_sequence_splits=case["options"].get("seq_splits", 1),
        placement=placement,
    )
    slots = tuple(tuple(_slot(token) for token in stage) for stage in compute_order(case))
    return Schedule(case["schedule"], pipeline, slots)


def _slot(token: str) -> Slot:
    found = TOKEN.findall(token)
    return Slot(tuple(Op(OpKind(kind), int(chunk), int(m), int(split or 0)) for kind, chunk, m, split in found))
