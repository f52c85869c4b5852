"""A session from uploads to downloads, watched for what it writes: run as a program, it prints that as JSON."""

import json
import os
import signal
import sys

WRITTEN: set[str] = set()
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_MADE = ("os.mkdir", "os.rename", "os.link", "os.symlink", "os.truncate", "sqlite3.connect")


def watch(event: str, details: tuple) -> None:
    if event == "open":
        path, mode, flags = details
        if isinstance(path, str | bytes) and (set(mode or "") & set("wax+") or (flags or 0) & _WRITES):
            WRITTEN.add(os.fsdecode(path))
    elif event in _MADE:
        WRITTEN.add(os.fsdecode(details[-1] if event == "os.rename" else details[0]))


def cancel(opened) -> None:
    opened.at.button(key="cancel").click()


def kill(_) -> None:
    """A run that fails."""
    from pages.shared.jobs import jobs

    os.killpg(next(job.process.pid for job in jobs()._jobs.values() if job.process), signal.SIGKILL)


def main() -> None:
    import streamlit as st

    from tests.hostile import named
    from tests.pages.opened import Opened, profile_file

    # The library that browsers load is no part of a session; tests/browser watches a server that serves it.
    st.config.set_option("server.enableStaticServing", False)
    opened = Opened(stages="2", micro_batches="4").settled()
    opened.upload(profile_file()).settled()
    opened.upload(named.profile_bytes(), "named.yaml").settled()
    opened.upload(b"{", "broken.json")
    opened.at.selectbox(key="objective").set_value("sapp-1")
    opened.run().at.selectbox(key="solver").set_value("cbc")
    opened.run().balance()
    opened.upload(named.scenario_bytes(), "s.json", "scenario_file")
    opened.tab("Measured")
    opened.at.file_uploader(key="measured_upload").set_value([("m.csv", named.measured_bytes(), "text/csv")])
    opened.run().tab("Download")
    compare = Opened("pages/compare.py")
    compare.at.file_uploader(key="kept_files_0").set_value([("c.json", named.comparison_bytes(), "application/json")])
    compare.run()
    for end in (cancel, kill):
        long = Opened(profile="sim192", schedule="vpp", stages="16", interleave="3", micro_batches="64")
        assert long.running
        end(long)
        long.run().settled()
    print(json.dumps(sorted(WRITTEN)))


if __name__ == "__main__":
    sys.addaudithook(watch)
    main()
