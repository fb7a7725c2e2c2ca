"""Compares equal pairs of texts once a corpus."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from driftlab.metrics.base import Pairwise
from driftlab.reading import digest
from driftlab.text import Column

Key = tuple[bytes, bytes]
Pair = tuple[str, str]
Compare = Callable[[Pairwise, list[Pair]], Sequence[float] | NDArray[np.float64]]


class PairMemo:
    """Deltas of pairs already compared, by the digests of both texts.

    Metrics that differ only in view, mask, lag or `nearest` share what they know: they compare alike.
    """

    def __init__(self) -> None:
        self._known: dict[Pairwise, dict[Key, float]] = {}

    def deltas(self, metric: Pairwise, columns: Sequence[Column], compare: Compare) -> list[NDArray[np.float64]]:
        """Return the deltas of one view of several traces; `compare` is asked once for all new pairs.

        Parameters
        ----------
        metric : Pairwise
            What compares.
        columns : sequence of Column
            The metric's view of each trace.
        compare : callable
            From the metric and a list of different pairs to their deltas.

        Returns
        -------
        list of (n_steps,) arrays
            `nan` where the view is absent, 1.0 where there is no earlier text.
        """
        known = self._known.setdefault(metric.comparison, {})
        names: dict[str, bytes] = {}
        new: dict[Key, Pair] = {}
        places = [pair_places(metric, column) for column in columns]
        keys = [_keys(column, pairs, names, new, known) for column, pairs in zip(columns, places, strict=True)]
        if new:
            known.update(zip(new, compare(metric, list(new.values())), strict=True))
        return [
            _scatter(metric, column, pairs, [0.0 if key is None else known[key] for key in own])
            for column, pairs, own in zip(columns, places, keys, strict=True)
        ]


def pair_places(metric: Pairwise, column: Column) -> NDArray[np.int64]:
    """Return which steps a metric compares, shape (n_pairs, 2): earlier, later.

    A step that is equal to one of those it is compared with needs no other comparison: its delta is 0.
    """
    has = np.flatnonzero(column.symbols >= 0)
    lags = range(1, metric.lag + 1) if metric.nearest else (metric.lag,)
    pairs = [np.stack([has[:-lag], has[lag:]], axis=1) for lag in lags if lag < len(has)]
    if not pairs:
        return np.zeros((0, 2), dtype=np.int64)
    places = np.concatenate(pairs)
    same = column.symbols[places[:, 0]] == column.symbols[places[:, 1]]
    settled = np.zeros(len(column.symbols), dtype=bool)
    settled[places[same, 1]] = True
    wanted: NDArray[np.int64] = places[same | ~settled[places[:, 1]]]
    return wanted


def _keys(
    column: Column,
    places: NDArray[np.int64],
    names: dict[str, bytes],
    new: dict[Key, Pair],
    known: dict[Key, float],
) -> list[Key | None]:
    """Name each pair by its digests (None: equal texts); collect those that nobody compared yet."""
    keys: list[Key | None] = []
    equal = (column.symbols[places[:, 0]] == column.symbols[places[:, 1]]).tolist()
    for same, (first, second) in zip(equal, places.tolist(), strict=True):
        if same:
            keys.append(None)
            continue
        pair = (column.texts[first] or "", column.texts[second] or "")
        key = (_name(pair[0], names), _name(pair[1], names))
        keys.append(key)
        if key not in known:
            new[key] = pair
    return keys


def _name(text: str, names: dict[str, bytes]) -> bytes:
    found = names.get(text)
    if found is None:
        found = names[text] = digest(text)
    return found


def _scatter(
    metric: Pairwise, column: Column, places: NDArray[np.int64], deltas: Sequence[float]
) -> NDArray[np.float64]:
    """Put the deltas of pairs at their later step; the smallest counts where several meet."""
    out = np.where(column.symbols >= 0, 1.0, np.nan)
    np.fmin.at(out, places[:, 1], np.asarray(deltas, dtype=np.float64))
    return out
