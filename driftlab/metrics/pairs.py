"""Compares equal pairs of texts once a corpus."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driftlab.metrics.base import Pairwise
from driftlab.metrics.column import digest
from driftlab.trace.views import TextColumn

__all__ = ["PairMemo", "Pairing", "pair_places", "pairing"]

Key = tuple[bytes, bytes]
Pair = tuple[str, str]
Compare = Callable[[Pairwise, list[Pair]], Sequence[float] | NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Pairing:
    """Which different pairs occur where: the same for every metric that looks as far back.

    Attributes
    ----------
    columns : sequence of TextColumn
        One view of several traces.
    places : list of (n_pairs, 2) int arrays
        A column's pairs: earlier step, later step.
    which : list of (n_pairs,) int arrays
        Number of the pair in `pairs`, -1 where both texts are equal.
    pairs : list of (str, str)
        Different pairs of different texts.
    keys : list of (bytes, bytes)
        Their digests.
    """

    columns: Sequence[TextColumn]
    places: list[NDArray[np.int64]]
    which: list[NDArray[np.int64]]
    pairs: list[Pair]
    keys: list[Key]


class PairMemo:
    """Deltas of pairs already compared, by the digests of both texts.

    Metrics that differ only in view, mask, lag or `nearest` share what they know: they compare alike.
    """

    def __init__(self) -> None:
        self._known: dict[Pairwise, dict[Key, float]] = {}
        self._pairings: dict[tuple[str, str, int, bool], Pairing] = {}

    def deltas(self, metric: Pairwise, columns: Sequence[TextColumn], compare: Compare) -> list[NDArray[np.float64]]:
        """Return the deltas of one view of several traces; `compare` is asked once for all new pairs.

        Parameters
        ----------
        metric : Pairwise
            What compares.
        columns : sequence of TextColumn
            The metric's view of each trace.
        compare : callable
            From the metric and a list of different pairs to their deltas.

        Returns
        -------
        list of (n_steps,) arrays
            `nan` where the view is absent, 1.0 where there is no earlier text.
        """
        known = self._known.setdefault(metric.comparison, {})
        paired = self._paired(metric, columns)
        new = {key: pair for key, pair in zip(paired.keys, paired.pairs, strict=True) if key not in known}
        if new:
            known.update(zip(new, compare(metric, list(new.values())), strict=True))
        # The number -1, equal texts, picks the 0 at the end.
        values = np.array([*(known[key] for key in paired.keys), 0.0])
        parts = zip(columns, paired.places, paired.which, strict=True)
        return [_scatter(column, places, values[which]) for column, places, which in parts]

    def _paired(self, metric: Pairwise, columns: Sequence[TextColumn]) -> Pairing:
        """Pair up one view of some traces, or return what the metric before was given."""
        key = (*metric.reads, metric.lag, metric.nearest)
        found = self._pairings.get(key)
        if found is None or not _same(found.columns, columns):
            found = self._pairings[key] = pairing(metric, columns)
        return found


def pairing(metric: Pairwise, columns: Sequence[TextColumn]) -> Pairing:
    """Find the different pairs that a metric has to compare."""
    numbers: dict[Pair, int] = {}
    places = [pair_places(metric, column) for column in columns]
    which = [_numbered(column, pairs, numbers) for column, pairs in zip(columns, places, strict=True)]
    names: dict[str, bytes] = {}
    keys = [(_name(first, names), _name(second, names)) for first, second in numbers]
    return Pairing(columns, places, which, list(numbers), keys)


def pair_places(metric: Pairwise, column: TextColumn) -> NDArray[np.int64]:
    """Return which steps a metric compares, shape (n_pairs, 2): earlier, later.

    A step that is equal to one of those it is compared with needs no other comparison: its delta is 0.
    """
    has = np.flatnonzero(column.symbols >= 0)
    lags = range(1, metric.lag + 1) if metric.nearest else (metric.lag,)
    pairs = [np.array([has[:-lag], has[lag:]]).T for lag in lags if lag < len(has)]
    if len(pairs) < 2:
        return pairs[0] if pairs else np.zeros((0, 2), dtype=np.int64)
    places = np.concatenate(pairs)
    same = column.symbols[places[:, 0]] == column.symbols[places[:, 1]]
    settled = np.zeros(len(column.symbols), dtype=bool)
    settled[places[same, 1]] = True
    wanted: NDArray[np.int64] = places[same | ~settled[places[:, 1]]]
    return wanted


def _numbered(column: TextColumn, places: NDArray[np.int64], numbers: dict[Pair, int]) -> NDArray[np.int64]:
    """Number the pairs of one column by first appearance in any, -1 where both texts are equal."""
    symbols, texts = column.symbols.tolist(), column.texts
    found = [
        -1
        if symbols[first] == symbols[second]
        else numbers.setdefault((texts[first] or "", texts[second] or ""), len(numbers))
        for first, second in places.tolist()
    ]
    return np.array(found, dtype=np.int64)


def _same(before: Sequence[TextColumn], now: Sequence[TextColumn]) -> bool:
    return len(before) == len(now) and all(a is b for a, b in zip(before, now, strict=True))


def _name(text: str, names: dict[str, bytes]) -> bytes:
    found = names.get(text)
    if found is None:
        found = names[text] = digest(text)
    return found


def _scatter(column: TextColumn, places: NDArray[np.int64], deltas: NDArray[np.float64]) -> NDArray[np.float64]:
    """Put the deltas of pairs at their later step; the smallest counts where several meet."""
    out = np.where(column.symbols >= 0, 1.0, np.nan)
    np.fmin.at(out, places[:, 1], deltas)
    return out
