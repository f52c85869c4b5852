"""Traces for tests: shaped like those of PyTorch's profiler (recorded, in golden) and MindSpore's (made here)."""

import gzip
import json
from io import BytesIO
from pathlib import Path

from sapp_core.profiles.trace import Trace
from sapp_core.profiles.trace_reader import read_trace

GOLDEN = Path(__file__).parents[1] / "golden" / "traces"
"""Of PyTorch 2.13 on a CPU: four layers, 3 steps × 4 micro-batches; only events of the layers are left in them."""


def event(name: str, start: float, duration: float, **other) -> dict:
    return {"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": duration, **other}


def written(events: list, *, as_object: bool = True, packed: bool = False) -> bytes:
    data = json.dumps({"schemaVersion": 1, "traceEvents": events, "traceName": "x"} if as_object else events).encode()
    return gzip.compress(data) if packed else data


def read(data: bytes | list, name: str = "trace.json") -> Trace:
    return read_trace([(name, BytesIO(data if isinstance(data, bytes) else written(data)))])


def golden(name: str) -> Trace:
    return read((GOLDEN / f"{name}.json").read_bytes(), f"{name}.json")


def mindspore(*, layers: int = 4, runs: int = 6, slow_run: int | None = None) -> list[dict]:
    """Ops named by their scope, times as text, in the array form: a layer takes 3 × 100.5 µs, backward twice that.

    Args:
        layers: of the model.
        runs: steps × micro-batches.
        slow_run: one in which everything takes ten times as long.
    """
    events, now = [{"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "Ascend Hardware"}}], 1e6

    def op(name: str, duration: float) -> None:
        nonlocal now
        events.append({"ph": "X", "name": name, "pid": 7, "tid": 3, "ts": f"{now:.3f}", "dur": f"{duration:.3f}"})
        now += duration + 1

    for run in range(runs):
        slow = 10 if run == slow_run else 1
        for scope, factor in (("Default", slow), ("recompute_Default", slow), ("Gradients/Default", 2 * slow)):
            model = f"{scope}/network-WithLoss/backbone"
            op(f"{model}/embedding-Embedding/Gather-op1", 50 * factor)
            for layer in range(layers):
                for part in ("attention/MatMul", "attention/Softmax", "ffn/MatMul"):
                    op(f"{model}/layers/{layer}-DecoderLayer/{part}-op{layer}", 100.5 * factor)
            op(f"{scope}/network-WithLoss/loss-CrossEntropy/Log-op9", 30 * factor)
    return events


def lanes(*, layers: int = 3, runs: int = 4) -> list[dict]:
    """MindSpore's lanes of scopes: one thread for each step of the path, a layer in two parts of 70 and 30 µs.

    The backward takes twice that, with a lane `Default` below it; recomputing as long as the forward.
    """
    events, now = [], 0.0
    for _ in range(runs):
        for scope, factor in (("Default", 1), ("recompute_Default", 1), ("Gradients", 2)):
            begun = now
            for part in (70, 30):
                for layer in range(layers):
                    events.append(event(f"{layer}-DecoderLayer", now, part * factor, tid=3))
                    now += part * factor
            events.append(event(scope, begun, now - begun, tid=0))
            events.append(event("Default", begun, now - begun, tid=1))
    return events
