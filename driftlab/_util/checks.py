"""Checks of values that several calls take: one sentence that names the option, the value, what is allowed."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from driftlab._util.errors import InputError
from driftlab._util.spec import between, whole

__all__ = ["flag", "jobs", "limit", "measuring", "seeded", "several"]

LARGEST_SEED = 2**31 - 1  # every library that is seeded here takes 32 bits, and repeats count up from the seed


def several(name: str, value: Any, example: str) -> list[Any]:
    """Return an option of several values as a list, numpy's numbers as plain ones.

    Examples
    --------
    >>> several("patience", 3, "[1, 2, 3]")
    Traceback (most recent call last):
        ...
    driftlab.InputError: patience must be a list, for example [1, 2, 3], got 3
    """
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InputError(f"{name} must be a list, for example {example}, got {value!r}")
    return [item.item() if isinstance(item, np.generic) else item for item in value]


def limit(name: str, value: Any) -> None:
    """Raise an `InputError` unless a value is a share between 0 and 1, or None where no limit is set."""
    if value is not None:
        between(name, value, 0, 1, words=", or None to set none")


def jobs(value: Any) -> None:
    """Raise an `InputError` unless a value is a number of processes as joblib takes it."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value == 0):
        raise InputError(f"n_jobs must be a number of processes, or -1 for all cores, got {value!r}")


def flag(name: str, value: Any) -> None:
    """Raise an `InputError` unless a value is True or False: "no" would count as yes."""
    if not isinstance(value, bool):
        raise InputError(f"{name} must be True or False, got {value!r}")


def measuring(n_jobs: Any, progress: Any) -> None:
    """Check what `dl.measure` is handed, before the work that comes ahead of it."""
    jobs(n_jobs)
    flag("progress", progress)


def seeded(value: Any, name: str = "seed") -> int:
    """Return a seed as a plain int.

    Examples
    --------
    >>> seeded(np.int64(4))
    4
    """
    return whole(name, value, 0, LARGEST_SEED)
