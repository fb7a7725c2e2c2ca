"""The README shows what its commands print; `python tests/test_readme.py` writes it again."""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from places import ROOT

README = ROOT / "README.md"
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)


def printed(block: str, folder: Path) -> str:
    """Run the commands of a console block in a folder that sees the data; return the block as it should be."""
    commands = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
    shown = []
    for command in commands:
        words = shlex.split(command)
        assert words[0] == "driftlab"
        run = [sys.executable, "-m", "driftlab.cli", *words[1:]]
        env = {**os.environ, "PYTHONWARNINGS": "ignore"}
        found = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=True, env=env)
        shown.append(f"$ {command}\n{found.stdout.rstrip()}\n")
    return "".join(shown)


def prepared(folder: Path) -> Path:
    """Make the data visible from a working folder that may be written to."""
    (folder / "data").symlink_to(ROOT / "data")
    return folder


@pytest.mark.parametrize("block", CONSOLE.findall(README.read_text()))
def test_console_blocks_show_what_is_printed(block, tmp_path):
    assert printed(block, prepared(tmp_path)) == block


@pytest.mark.parametrize("block", PYTHON.findall(README.read_text()))
def test_python_blocks_run(block, tmp_path):
    code = f"import matplotlib; matplotlib.use('Agg')\n{block}"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=prepared(tmp_path), capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    assert re.match(r"step \d+: ", found.stdout)


def test_every_file_the_readme_names_is_there():
    text = README.read_text()
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / target).exists(), target
    targets = re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), re.M)
    assert {"demo", "test", "lint", "bench"} <= set(targets)
    assert set(re.findall(r"make (\w+)", text)) <= set(targets)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        where = prepared(Path(name))
        text = CONSOLE.sub(lambda match: f"```console\n{printed(match[1], where)}```", README.read_text())
    README.write_text(text)
