"""How long a trace of 150 MB takes to become a profile, and how much memory, in a process of its own."""

import gzip
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sapp_core.profiles.trace_measure import measure
from sapp_core.profiles.trace_profile import trace_profile
from sapp_core.profiles.trace_proposal import propose
from sapp_core.profiles.trace_reader import read_trace

MEGABYTES = 150
MOST_SECONDS, MOST_MB = 20, 500
LAYERS, OPS = 16, 60
"""Layers of a stage, and ops of a layer; each op is there for the host and for the device."""


def main() -> None:
    """Print a table; more than the agreed seconds or memory is an exception."""
    print("| trace | events | reading, s | proposal, times, profile, s | in all, s | peak memory of the process, MB |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        plain, packed = Path(folder) / "trace.json", Path(folder) / "trace.json.gz"
        _write(plain)
        with plain.open("rb") as source, gzip.open(packed, "wb", compresslevel=5) as target:
            shutil.copyfileobj(source, target)
        for file in (plain, packed):
            command = [sys.executable, "-m", "tests.benchmarks.traces", str(file)]
            ended = subprocess.run(command, capture_output=True, text=True, check=True)
            found = json.loads(ended.stdout)
            size = file.stat().st_size / 1e6
            print(
                f"| {file.name}, {size:.0f} MB | {found['events']:,} | {found['reading']:.1f} | {found['rest']:.1f} | "
                f"{found['reading'] + found['rest']:.1f} | {found['peak_mb']:.0f} |",
                flush=True,
            )
            assert found["reading"] + found["rest"] <= MOST_SECONDS
            assert found["peak_mb"] <= MOST_MB


def _write(file: Path) -> None:
    """A trace shaped like those of PyTorch's profiler on a GPU."""
    with file.open("w", encoding="utf-8") as opened:
        opened.write('{"schemaVersion": 1, "traceEvents": [\n')
        for number, line in enumerate(_lines()):
            opened.write(f",\n{line}" if number else line)
            if opened.tell() >= MEGABYTES * 10**6:
                break
        opened.write("\n]}\n")


def _lines() -> Iterator[str]:
    now, number = 1.7e9, 0
    while True:
        for layer in [*range(LAYERS), *reversed(range(LAYERS))]:
            direction = "forward" if number // (LAYERS * OPS) % 2 == 0 else "backward"
            begun = now
            for op in range(OPS):
                yield json.dumps(_event(f"aten::op_{op}", "cpu_op", now, 3.25, number, pid=4711, tid=4711))
                yield json.dumps(_event(f"void kernel_{op}<float, 128>", "kernel", now + 50, 9.5, number, pid=0, tid=7))
                now += 10.125
                number += 1
            for category, late in (("user_annotation", 0), ("gpu_user_annotation", 50)):
                place = {"pid": 0, "tid": 7} if late else {"pid": 4711, "tid": 4711}
                yield json.dumps(
                    _event(f"layer {layer} {direction}", category, begun + late, now - begun, number, **place)
                )


def _event(name: str, category: str, start: float, duration: float, number: int, *, pid: int, tid: int) -> dict:
    args = {"External id": number, "Sequence number": number, "Input Dims": [[1, 4096, 8192], [8192, 8192], []]}
    return {
        "ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": duration, "args": args,
    }  # fmt: skip


def _measure(file: Path) -> dict[str, float]:
    begun = time.perf_counter()
    with file.open("rb") as opened:
        trace = read_trace([(file.name, opened)])
    read = time.perf_counter()
    made = trace_profile(measure(trace, propose(trace)), file.name, None)
    assert made.profile.num_body_layers == LAYERS
    return {
        "events": trace.num_events,
        "reading": read - begun,
        "rest": time.perf_counter() - read,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(_measure(Path(sys.argv[1]))))
    else:
        main()
