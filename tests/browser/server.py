"""A server under test, and how to start the system's Chromium."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

PROJECT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or "chromium"
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Server:
    """A Streamlit server of its own on a free port of the loopback address.

    Args:
        app: what it serves.
        environment: variables it has besides those of this process.
    """

    def __init__(self, app: Path = PROJECT / "app.py", environment: Mapping[str, str] | None = None) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", str(app), "--server.port", str(port)],
            cwd=PROJECT,
            env={**os.environ, **(environment or {})},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        end = time.monotonic() + 60
        while not self._healthy():
            assert time.monotonic() < end, "the server does not answer"
            assert self.process.poll() is None, "the server ended"
            time.sleep(0.1)

    def _healthy(self) -> bool:
        with suppress(OSError), urllib.request.urlopen(f"{self.url}_stcore/health", timeout=5) as answer:
            return answer.status == 200
        return False

    def children(self) -> list[int]:
        """Processes the server started that are still there."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with suppress(OSError):
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                    if int(fields[1]) == self.process.pid:
                        found.append(int(entry.name))
        return found

    def memory_mb(self) -> float:
        """Memory of the server process, MiB."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def stop(self) -> None:
        """End the server by its own id."""
        os.kill(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
