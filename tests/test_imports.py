"""Who may import whom. Reads every import statement, so that the house of the README stays as it is drawn."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

FLOORS = (
    ("sapp_core.errors",),
    ("sapp_core.domain", "sapp_core.documents"),
    (
        "sapp_core.profiles",
        "sapp_core.schedules",
        "sapp_core.simulator",
        "sapp_core.charts",
        "sapp_core.interchange",
    ),
    ("sapp_core.balancer",),
    ("sapp_core.study", "sapp_core.sensitivity", "sapp_core.regret"),
    ("sapp_core.words", "sapp_core.advice", "sapp_core.pictures", "sapp_core.comparison", "sapp_core.sweep"),
    ("sapp_core.report",),
    ("sapp_core.exports", "sapp_core.reopen"),
    ("sapp_core.command_options", "sapp_core.command_files"),
    ("sapp_core.sweep_command", "sapp_core.trace_command"),
    ("sapp_core.__main__",),
    ("pages.shared",),
    ("pages",),
    ("app",),
)
"""From the ground up: a part may import itself and every floor below, never its neighbours on the same floor."""

EVERYWHERE = ("sapp_core",)
"""The package itself holds nothing but its docstring."""

THIRD_PARTIES = {
    "numpy": (
        "sapp_core.domain.in_flight",
        "sapp_core.profiles",
        "sapp_core.schedules",
        "sapp_core.simulator",
        "sapp_core.charts",
        "sapp_core.balancer",
        "sapp_core.sensitivity",
    ),
    "pandas": ("sapp_core.charts", "pages", "pages.shared"),
    "pulp": ("sapp_core.balancer",),
    "highspy": ("sapp_core.balancer",),
    "yaml": ("sapp_core.documents", "sapp_core.profiles", "sapp_core.interchange"),
    "plotly": ("sapp_core.charts",),
    "kaleido": ("sapp_core.charts",),
    "jinja2": ("sapp_core.report",),
    "markupsafe": ("sapp_core.report",),
    "distributed": ("sapp_core.sweep",),
    "streamlit": ("pages", "pages.shared", "app"),
}
"""Package → the parts, or single modules, that may import it; packages that are not here may be imported nowhere."""

FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}


def part_of(module: str) -> str | None:
    """The part a module belongs to: the longest one that its name begins with."""
    parts = [part for floor in FLOORS for part in floor if f"{module}.".startswith(f"{part}.")]
    return max(parts, key=len, default=None)


def floor_of(part: str) -> int:
    return next(number for number, floor in enumerate(FLOORS) if part in floor)


def imported(tree: ast.AST, module: str, *, is_package: bool) -> Iterator[str]:
    """Every module that a source imports, wherever the statement stands; relative ones in full."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = module.split(".")[: None if is_package else -1]
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            source = ".".join(filter(None, (base, node.module)))
            # `from sapp_core import study` imports the module sapp_core.study.
            yield from (f"{source}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in {"__import__", "importlib.import_module"}:
            yield f"<{ast.unparse(node)}>"  # whatever it imports: imports are statements here


def wrong_imports(module: str, source: str, *, is_package: bool = False) -> list[str]:
    """One sentence for each import that the rules forbid."""
    part = part_of(module)
    if part is None and module not in EVERYWHERE:
        return [f"{module} has no floor in the house"]
    problems = []
    for name in imported(ast.parse(source), module, is_package=is_package):
        top = name.split(".")[0]
        target = part_of(name)
        if top in sys.stdlib_module_names or (target is not None and target == part):
            continue
        if top in THIRD_PARTIES:
            if {part, module}.isdisjoint(THIRD_PARTIES[top]):
                problems.append(f"{module} imports {name}: {top} is only for {', '.join(THIRD_PARTIES[top])}")
        elif target is None or part is None:
            problems.append(f"{module} imports {name}: not a part of the house")
        elif floor_of(target) >= floor_of(part):
            problems.append(f"{module} imports {name}: {target} is not below {part}")
    return problems


def sources() -> list[Path]:
    return sorted(
        path
        for path in (*ROOT.glob("app.py"), *ROOT.glob("pages/**/*.py"), *ROOT.glob("sapp_core/**/*.py"))
        if "__pycache__" not in path.parts
    )


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_every_import_goes_down():
    problems = [
        problem
        for path in sources()
        for problem in wrong_imports(
            module_name(path), path.read_text(encoding="utf-8"), is_package=path.name == "__init__.py"
        )
    ]
    assert not problems, "\n".join(problems)


def test_the_sources_are_found():
    names = {module_name(path) for path in sources()}
    assert {"sapp_core.errors", "sapp_core.domain.plan", "sapp_core.__main__", "sapp_core.charts"} <= names


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("sapp_core.domain.plan", "import numpy"),
        ("sapp_core.domain.plan", "from sapp_core.simulator.engine import simulate"),
        ("sapp_core.domain.plan", "def late():\n    from sapp_core import study"),
        ("sapp_core.errors", "from sapp_core.domain import plan"),
        ("sapp_core.interchange.result", "from sapp_core.simulator.memory import peaks"),
        ("sapp_core.interchange.result", "from ..profiles import load"),
        ("sapp_core.charts.gantt", "import sapp_core.schedules.registry"),
        ("sapp_core.charts.gantt", "import streamlit as st"),
        ("sapp_core.simulator.engine", "import pulp"),
        ("sapp_core.schedules.vpp", "import yaml"),
        ("sapp_core.study", "import plotly.graph_objects as go"),
        ("sapp_core.study", "from sapp_core.__main__ import main"),
        ("sapp_core.balancer.balance", "import sapp_core.study"),
        ("sapp_core.balancer.balance", "import requests"),
        ("sapp_core.study", "from sapp_core.sweep.run import sweep"),
        ("pages.shared.session", "import distributed"),
        ("sapp_core.balancer.balance", "import importlib\nimportlib.import_module('streamlit')"),
        ("sapp_core.charts.gantt", "from pages.shared import session"),
        ("pages.shared.session", "from pages import balance"),
        ("sapp_core.somewhere", "import json"),
    ],
)
def test_a_wrong_import_is_seen(module, source):
    assert wrong_imports(module, source)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("sapp_core.domain.plan", "from dataclasses import dataclass\nfrom sapp_core.errors import PlanError"),
        ("sapp_core.interchange.result", "from . import cells\nfrom sapp_core.domain.plan import Plan"),
        ("sapp_core.balancer.balance", "import pulp\nfrom sapp_core.simulator.engine import simulate"),
        (
            "sapp_core.__main__",
            "from sapp_core.interchange import text\nfrom sapp_core.balancer.balance import balance",
        ),
        ("pages.balance", "import streamlit as st\nfrom pages.shared import session\nfrom sapp_core import study"),
        ("app", "import streamlit as st"),
    ],
)
def test_a_right_import_passes(module, source):
    assert not wrong_imports(module, source)


def test_no_module_is_a_drawer_for_everything():
    drawers = [path for path in sources() if FORBIDDEN_NAMES & {*path.relative_to(ROOT).parts, path.stem}]
    assert not drawers


IMPORT_ALL = """
import importlib, pkgutil, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "streamlit":
            raise ModuleNotFoundError("No module named 'streamlit'", name=name)

sys.meta_path.insert(0, Absent())
import sapp_core
names = [module.name for module in pkgutil.walk_packages(sapp_core.__path__, "sapp_core.")]
for name in names:
    importlib.import_module(name)
print(len(names))
"""


def test_the_core_works_without_streamlit():
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    modules = [path for path in sources() if path.is_relative_to(ROOT / "sapp_core")]
    assert int(done.stdout) == len(modules) - 1, "every module but the package itself was imported"
