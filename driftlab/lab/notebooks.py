"""The laboratory: JupyterLab on a working copy of the notebooks, the demo data beside them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from driftlab._util.errors import InputError
from driftlab._util.extras import need
from driftlab._util.resources import data_folder, notebooks_folder

__all__ = ["FIRST", "command", "open_lab", "working_copy"]

FIRST = "01_what_is_a_stall.ipynb"


def open_lab(folder: str | os.PathLike[str] = "driftlab-lab", *, browser: bool = True, port: int | None = None) -> int:
    """Open JupyterLab on a working copy; return when it is closed.

    Parameters
    ----------
    folder : path
        Made when it is missing; notebooks that are there already, with your changes in them, are kept.
    browser : bool
        False prints the address instead of opening it.
    port : int, optional

    Returns
    -------
    int
        Exit code of JupyterLab.

    Raises
    ------
    MissingExtra
        When JupyterLab is not installed.
    """
    need("jupyterlab", "lab")
    place = working_copy(folder)
    return subprocess.run(command(place, browser=browser, port=port), check=False).returncode


def working_copy(folder: str | os.PathLike[str]) -> Path:
    """Copy notebooks and demo data to a folder; files that are there already stay as they are.

    Returns
    -------
    Path
        The folder, absolute.

    Raises
    ------
    InputError
        When it cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> place = working_copy(tempfile.mkdtemp())
    >>> sorted(path.name for path in place.iterdir()), (place / "notebooks" / FIRST).exists()
    (['data', 'notebooks'], True)
    """
    place = Path(folder).resolve()
    try:
        for source, target in _files(place):
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                shutil.copyfile(source, target)
    except OSError as error:
        raise InputError(f"{place}: cannot be written: {error.strerror or error}") from error
    return place


def command(folder: Path, *, browser: bool = True, port: int | None = None) -> list[str]:
    """Return the command that starts JupyterLab on a working copy."""
    words = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder}"]
    words += [f"--LabApp.default_url=/lab/tree/notebooks/{FIRST}"]
    words += [] if browser else ["--no-browser"]
    return words if port is None else [*words, f"--port={port}"]


def _files(place: Path) -> Iterator[tuple[Path, Path]]:
    for source in sorted(notebooks_folder().glob("*.ipynb")):
        yield source, place / "notebooks" / source.name
    demo = data_folder() / "demo"
    for source in sorted(demo.glob("*.jsonl")):
        yield source, place / "data" / "demo" / source.name
