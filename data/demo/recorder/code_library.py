"""Small correct functions with the bugs that are put into them, read from code_library.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Bug:
    """A right line, the wrong one that replaces it and wrong repairs an agent may try."""

    right: str
    wrong: str
    tries: tuple[str, ...]


@dataclass(frozen=True)
class Exercise:
    """One file with one function, its possible bugs and calls to test it with."""

    name: str
    source: str
    bugs: tuple[Bug, ...]
    calls: tuple[str, ...]


def _exercise(table: dict[str, Any]) -> Exercise:
    bugs = tuple(Bug(bug["right"], bug["wrong"], tuple(bug["tries"])) for bug in table["bugs"])
    return Exercise(table["name"], table["source"], bugs, tuple(table["calls"]))


_LIBRARY = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
EXERCISES = tuple(_exercise(table) for table in _LIBRARY["exercise"])
