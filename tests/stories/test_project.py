"""The promises of the project about itself: one list of dependencies, light imports, documented names."""

import ast
import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from places import ROOT

import driftlab as dl

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HEAVY = ("pandas", "sklearn", "scipy", "statsmodels", "matplotlib", "seaborn", "torch", "pyarrow", "joblib", "typer")


def test_conda_installs_the_same_project():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    (pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    assert environment["name"] == PROJECT["name"]
    assert "-e .[dev]" in pip
    assert f"python{PROJECT['requires-python']}" in environment["dependencies"]
    others = [entry for entry in environment["dependencies"] if isinstance(entry, str)]
    assert {entry.split(">")[0] for entry in others} == {"python", "pip"}


def test_all_holds_every_other_extra():
    extras = PROJECT["optional-dependencies"]
    (everything,) = extras["all"]
    assert set(everything.removeprefix("driftlab[").removesuffix("]").split(",")) <= set(extras)
    assert "driftlab[all]" in extras["dev"]


@pytest.mark.parametrize("module", ["driftlab", "driftlab.monitor"])
def test_a_guard_in_production_stays_light(module):
    code = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize("name", dl.__all__)
def test_every_public_name_is_documented_with_an_example(name):
    value = getattr(dl, name)
    if isinstance(value, Mapping) or inspect.ismodule(value):
        return
    text = inspect.getdoc(value) or ""
    assert text
    is_error = isinstance(value, type) and issubclass(value, Exception)
    assert is_error or ">>>" in text, f"{name} has no example"


def test_the_public_surface_is_what_is_said_and_nothing_else():
    assert [name for name in dir(dl) if not name.startswith("_")] == sorted(dl.__all__)
    rooms = {path.name for path in (ROOT / "driftlab").iterdir()}
    there = {name for name in vars(dl) if not name.startswith("_")} - rooms
    assert there - {"TYPE_CHECKING"} <= set(dl.__all__)


@pytest.mark.parametrize("name", [name for name in dl.__all__ if callable(getattr(dl, name)) and name != "report"])
def test_a_public_name_says_that_it_is_driftlab_s(name):
    value = getattr(dl, name)
    assert value.__module__ == ("driftlab.lab.labeller.widget" if name == "Labeller" else "driftlab")


def test_every_module_says_what_it_offers():
    silent = [path for path in (ROOT / "driftlab").rglob("*.py") if "\n__all__ = " not in path.read_text()]
    assert [str(path.relative_to(ROOT)) for path in silent if path.name != "__main__.py"] == []


def test_the_house_hides_no_import_and_no_option():
    for path in (ROOT / "driftlab").rglob("*.py"):
        text = path.read_text()
        assert 'import_module("driftlab' not in text, path
        assert 'need("driftlab' not in text, path
        assert "**options: Any" not in text, path
    parts = {path.name for path in (ROOT / "driftlab").iterdir()} - {
        "__init__.py",
        "__main__.py",
        "__pycache__",
        "py.typed",
    }
    assert len(parts) <= 15, sorted(parts)


def test_an_unknown_name_of_the_package_is_an_attribute_error():
    with pytest.raises(AttributeError, match="sweeep"):
        _ = dl.sweeep


@pytest.mark.parametrize("path", sorted((ROOT / "driftlab").rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT)))
def test_modules_stay_readable(path):
    text = path.read_text()
    assert len(text.splitlines()) <= 300
    doc = ast.get_docstring(ast.parse(text)) or ""
    assert doc, "a module says in one sentence what it is for"


def test_contributing_sends_nobody_to_a_place_that_is_not_there():
    named = re.findall(
        r"`((?:driftlab|tests|figures|benchmarks|notebooks)/[\w./]*)`", (ROOT / "CONTRIBUTING.md").read_text()
    )
    assert len(named) > 20
    assert [place for place in named if not (ROOT / place).exists()] == []


def test_no_trace_of_a_machine_is_left():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    texts = [
        ROOT / name
        for name in tracked
        if (ROOT / name).exists() and name.endswith((".py", ".md", ".toml", ".yml", ".ipynb", ".jsonl", "Makefile"))
    ]
    for path in texts:
        found = [word for word in ("/work/main", "/work/shared", "/root/") if word in path.read_text(errors="replace")]
        assert not found or path == Path(__file__), f"{path}: {found}"
