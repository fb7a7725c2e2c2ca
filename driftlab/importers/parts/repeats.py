"""Finds where one file repeats the beginning of another."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

__all__ = ["Prefix", "chained"]

Item = TypeVar("Item")


@dataclass
class Prefix(Generic[Item]):
    """Records of one run, put together from one file or several.

    Parameters
    ----------
    name : str
        The run's id.
    records : list
        Its records, each once.
    keys : list
        What stands for each record.
    forked_from : str, optional
        The run whose beginning it repeated; only what it added is in `records`.
    """

    name: str
    records: list[Item] = field(default_factory=list)
    keys: list[Hashable] = field(default_factory=list)
    forked_from: str | None = None
    files: int = 1


def chained(files: Sequence[tuple[str, Sequence[tuple[Hashable, Item]]]]) -> tuple[list[Prefix[Item]], int]:
    """Join files that continue each other, drop what they repeat.

    A file that begins with all of an earlier run continues it; one that begins with a part of it is a fork,
    of which only the new records are kept.

    Parameters
    ----------
    files : sequence of (name, records)
        Each record with a key that stands for it.

    Returns
    -------
    list of Prefix, int
        The runs, and how many records were dropped.

    Examples
    --------
    >>> first, second = ("a", [(1, "x"), (2, "y")]), ("b", [(1, "x"), (2, "y"), (3, "z")])
    >>> runs, dropped = chained([first, second])
    >>> [(run.name, run.records) for run in runs], dropped
    ([('a', ['x', 'y', 'z'])], 2)
    """
    runs: list[Prefix[Item]] = []
    whole: dict[str, list[Hashable]] = {}
    dropped = 0
    for name, pairs in files:
        keys, records = [key for key, _ in pairs], [record for _, record in pairs]
        best = max(runs, key=lambda run: _shared(whole[run.name], keys), default=None)
        same = _shared(whole[best.name], keys) if best else 0
        dropped += same
        if best is not None and same and same == len(whole[best.name]):
            best.records += records[same:]
            whole[best.name] = keys
            best.files += 1
        elif same < len(keys):
            unique = name if name not in whole else f"{name}#{len(whole) + 1}"
            whole[unique] = keys
            runs.append(Prefix(unique, records[same:], keys[same:], best.name if best and same else None))
    return runs, dropped


def _shared(earlier: Sequence[Hashable], later: Sequence[Hashable]) -> int:
    same = 0
    for first, second in zip(earlier, later, strict=False):
        if first != second:
            break
        same += 1
    return same
