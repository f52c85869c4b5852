"""Everything hostile at its full size, every field in a process of its own: the slowest content and the hungriest one.

The goal is 2 s and 500 MB for each. Times are of the processor, so that other programs do not count.
"""

import json
import subprocess
import sys
from dataclasses import asdict

from tests.browser.server import PROJECT
from tests.hostile.fields import FIELDS
from tests.hostile.harness import try_all

WATCHDOG_SECONDS = 600


def main() -> None:
    """Print a table, a line a field."""
    print("| field | contents | taken | slowest, s | which | hungriest, MB | which | failures |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for field in FIELDS:
        command = [sys.executable, "-m", "tests.benchmarks.hostile", field.name]
        ended = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
        if ended.returncode:
            print(f"| {field.name} | {ended.stderr.strip().splitlines()[-1]} |", flush=True)
            continue
        tried = json.loads(ended.stdout.splitlines()[-1])
        slowest, hungriest = (max(tried, key=lambda each: each[key]) for key in ("seconds", "peak_mb"))
        failures = "; ".join(f"{each['name']}: {each['failure']}" for each in tried if each["failure"])
        print(
            f"| {field.name} | {len(tried)} | {sum(each['taken'] for each in tried)} | {slowest['seconds']:.2f} | "
            f"{slowest['name']} | {hungriest['peak_mb']:.0f} | {hungriest['name']} | {failures or 'none'} |",
            flush=True,
        )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps([asdict(each) for each in try_all(sys.argv[1], 0, 1, WATCHDOG_SECONDS)]))
    else:
        main()
