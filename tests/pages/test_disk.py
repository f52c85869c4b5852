"""What a session writes: nothing that stays, and nothing outside the folder for temporary files."""

import json
import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]


def contents(folder: Path) -> dict[str, int]:
    """Path → time of the last change, of every file that is no cache of a tool."""
    found = (
        path for path in folder.rglob("*") if path.is_file() and not path.relative_to(folder).parts[0].startswith(".")
    )
    return {str(path): path.stat().st_mtime_ns for path in found if "__pycache__" not in path.parts}


def test_uploads_runs_and_downloads_leave_nothing_on_the_disk(tmp_path):
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    home.mkdir()
    temporary.mkdir()
    before = contents(PROJECT)
    ended = subprocess.run(
        [sys.executable, "-m", "tests.pages.disk_session"],
        cwd=PROJECT,
        env=os.environ | {"HOME": str(home), "TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    written = [Path(path) for path in json.loads(ended.stdout.splitlines()[-1])]
    assert any(path.is_relative_to(temporary) for path in written)  # the watch works
    assert [path for path in written if not path.is_relative_to(temporary) and path != Path(os.devnull)] == []
    assert list(temporary.rglob("*")) == []
    assert list(home.rglob("*")) == []
    assert contents(PROJECT) == before
