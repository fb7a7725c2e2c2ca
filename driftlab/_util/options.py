"""Options of the calls that study traces, checked by name before any work."""

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from driftlab._util.errors import InputError
from driftlab._util.spec import between, unknown, whole

MEASURING = ("cache", "n_jobs", "progress")
SEARCHING = ("patience", "decay", "detectors")
DRAWING = ("draws", "seed")
SWEEPING = ("metrics", *SEARCHING, *DRAWING, *MEASURING)
LARGEST_SEED = 2**31 - 1  # every library that is seeded here takes 32 bits, and repeats count up from the seed


def checked(given: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
    """Return the options that were given: lists as lists, numpy's numbers as plain ones.

    Parameters
    ----------
    given : mapping of str to value
    known : iterable of str
        What the call takes.

    Raises
    ------
    InputError
        When an option is not known, or its value is of the wrong type or out of range.

    Examples
    --------
    >>> checked({"patience": range(1, 3), "seed": np.int64(4)}, SWEEPING)
    {'patience': [1, 2], 'seed': 4}
    >>> checked({"patiense": [1]}, ["patience", "seed"])
    Traceback (most recent call last):
        ...
    driftlab._util.errors.InputError: unknown option 'patiense'; did you mean 'patience'? known: patience, seed
    """
    known = tuple(known)
    strange = next((name for name in given if name not in known), None)
    if strange is not None:
        raise unknown("option", strange, known)
    return {name: _checked(name, _plain(value)) for name, value in given.items()}


def several(name: str, value: Any, example: str) -> list[Any]:
    """Return an option of several values as a list, numpy's numbers as plain ones.

    Examples
    --------
    >>> several("patience", 3, "[1, 2, 3]")
    Traceback (most recent call last):
        ...
    driftlab._util.errors.InputError: patience must be a list, for example [1, 2, 3], got 3
    """
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InputError(f"{name} must be a list, for example {example}, got {value!r}")
    return [_plain(each) for each in value]


def file_to_write(option: str, path: str | os.PathLike[str]) -> None:
    """Raise an `InputError` unless a file can be written at `path`; folders that are missing will be made.

    Examples
    --------
    >>> file_to_write("--output", "/")
    Traceback (most recent call last):
        ...
    driftlab._util.errors.InputError: --output '/' is a folder; name a file
    """
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"{option} {str(path)!r} is a {'folder' if os.path.isdir(path) else 'device'}; name a file")
    _writable(option, path, Path(path).parent)


def folder_to_write(option: str, path: str | os.PathLike[str]) -> None:
    """Raise an `InputError` unless files can be written in a folder at `path`; it will be made when it is missing.

    Examples
    --------
    >>> folder_to_write("--output", __file__)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    driftlab._util.errors.InputError: --output '...options.py' is a file; name a folder
    """
    if os.path.exists(path) and not os.path.isdir(path):
        raise InputError(f"{option} {str(path)!r} is a file; name a folder")
    _writable(option, path, Path(path))


def _writable(option: str, path: str | os.PathLike[str], folder: Path) -> None:
    there = next((each for each in (folder, *folder.parents) if os.path.lexists(each)), Path())
    reason = "" if os.access(there, os.W_OK | os.X_OK) else "is write-protected"
    if not there.is_dir():
        reason = "is a file" if there.exists() else "leads nowhere"
    if reason:
        raise InputError(f"{option} {str(path)!r} cannot be written: {str(there)!r} {reason}; name another place")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _checked(name: str, value: Any) -> Any:
    check = CHECKS.get(name, _anything)
    if name not in LISTS:
        check(name, value)
        return value
    values = several(name, value, LISTS[name])
    for each in values:
        check(name, each)
    return values


Check = Callable[[str, Any], None]


def _anything(name: str, value: Any) -> None:
    """Leave the check to the one who knows more of it."""


def _limit(name: str, value: Any) -> None:
    if value is not None:
        between(name, value, 0, 1, words=", or None to set none")


def _jobs(name: str, value: Any) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value == 0):
        raise InputError(f"{name} must be a number of processes, or -1 for all cores, got {value!r}")


def _flag(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise InputError(f"{name} must be True or False, got {value!r}")


def _name(name: str, value: Any) -> None:
    if not isinstance(value, str | None):
        raise InputError(f"{name} must be text, or None to leave it out, got {value!r}")


# Options that are lists, with an example; the check of such an option is that of each value in the list.
LISTS = {
    "patience": "[1, 2, 3]",
    "decay": "[0.6, 0.9]",
    "detectors": "['same_call(3)']",
    "positive": "['Repetition']",
}
CHECKS: dict[str, Check] = {
    "patience": partial(whole, least=1),
    "decay": partial(between, low=0, high=1, also=0, words=", or 0 to forget at once"),
    "draws": partial(whole, least=1),
    "seed": partial(whole, least=0, most=LARGEST_SEED),
    "random_state": partial(whole, least=0, most=LARGEST_SEED),
    "folds": partial(whole, least=2),
    "repeats": partial(whole, least=0),
    "share": partial(between, low=0, high=1, also=1, words=", or 1.0 where all problems choose and certify"),
    "risk": partial(between, low=0, high=1),
    "max_false_stop": _limit,
    "nudge": _limit,
    "n_jobs": _jobs,
    "progress": _flag,
    "outcome_source": _name,
}
