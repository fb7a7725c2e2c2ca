"""Ranking of stalled above good traces, whichever may be compared."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driftlab.outcome.truth import Floats, Ints
from driftlab.stats import Design, numbered

TABLE = 4_000_000  # pairs whose order is held at once
NARROW = 20  # traces of the smaller class, a score, up to which a matrix product is the faster way


@dataclass(frozen=True, eq=False)
class Stratum:
    """Traces that may be compared: every stalled one with every good one.

    Attributes
    ----------
    stalled, good : (n,) int arrays
        Indices of traces.
    start, width : int
        The steps whose largest score counts, ``[start, start + width)``.
    """

    stalled: Ints
    good: Ints
    start: int
    width: int


@dataclass(frozen=True, eq=False)
class Ranking:
    """Strata that together give one ROC curve: each stalled trace counts once.

    The curve is the mean of the strata's curves over stalled traces (Janes and Pepe, Biometrika 2009,
    covariate-adjusted ROC), so the area under it is the mean share of comparable good traces that score
    lower, ties counting half.

    Parameters
    ----------
    strata : tuple of Stratum
    by_pair : bool
        True lets each *pair* count once instead, as tables of matched pairs do.
    """

    strata: tuple[Stratum, ...]
    by_pair: bool = False

    @property
    def n_stalled(self) -> int:
        """Stalled traces that have someone to be compared with."""
        return sum(len(stratum.stalled) for stratum in self.strata)

    @property
    def good(self) -> Ints:
        """Indices of the good traces that occur in some stratum."""
        return np.unique(np.concatenate([s.good for s in self.strata])) if self.strata else np.zeros(0, dtype=np.int64)

    @property
    def stalled(self) -> Ints:
        """Indices of the stalled traces, in the order of the strata."""
        return np.concatenate([s.stalled for s in self.strata]) if self.strata else np.zeros(0, dtype=np.int64)

    @property
    def n_pairs(self) -> int:
        """Pairs of a stalled and a good trace that are compared."""
        return sum(len(s.stalled) * len(s.good) for s in self.strata)

    def auc(self, scores: Floats, offsets: Ints) -> float:
        """Return the area under the curve; `nan` when no two traces can be compared.

        Parameters
        ----------
        scores : (n_steps_in_all,) array
        offsets : (n_traces + 1,) array
        """
        places = self.placements(scores, offsets)
        if not places:
            return math.nan
        weights = [
            np.full(len(p), len(s.good) if self.by_pair else 1) for p, s in zip(places, self.strata, strict=True)
        ]
        return float(np.average(np.concatenate(places), weights=np.concatenate(weights)))

    def placements(self, scores: Floats, offsets: Ints) -> list[Floats]:
        """Return, a stratum at a time, each stalled trace's share of lower-scoring good traces."""
        out = []
        for stratum in self.strata:
            high, good = maxima(scores, offsets, stratum)
            good = np.sort(good)
            below, upto = np.searchsorted(good, high, "left"), np.searchsorted(good, high, "right")
            out.append((below + upto) / (2 * len(good)))
        return out

    def draws(self, scores: Floats, offsets: Ints, weights: NDArray[np.float32]) -> Floats:
        """Return the area in each bootstrap draw, shape (n_draws,); `nan` where a draw lacks a class.

        Parameters
        ----------
        weights : (n_traces, n_draws) int array
            How often each trace occurs in each draw, from `stats.cluster_weights`.
        """
        return self.mean_draws([scores], offsets, weights)

    def mean_draws(self, many: Sequence[Floats], offsets: Ints, weights: NDArray[np.float32]) -> Floats:
        """Return in each bootstrap draw the mean area of several scores, shape (n_draws,).

        One table of the mean order of each pair serves all of them.
        """
        total, count = np.zeros(weights.shape[1]), np.zeros(weights.shape[1])
        for stratum in self.strata:
            own, heavy = weights[stratum.stalled], weights[stratum.good]
            # One table serves many scores; for one, sorting is the shorter way.
            way = _by_table if min(len(own), len(heavy)) <= NARROW * len(many) else _by_order
            pairs = [maxima(scores, offsets, stratum) for scores in many]
            self._add(total, count, way(pairs, own, heavy), own.sum(axis=0), heavy.sum(axis=0))
        return np.divide(total, count, out=np.full_like(total, math.nan), where=count > 0)

    def _add(self, total: Floats, count: Floats, lower: Floats, own: Floats, good: Floats) -> None:
        """Add a stratum's sum over pairs: `good` pairs a stalled trace, weighed as one or as so many."""
        if self.by_pair:
            total += lower
            count += own * good
        else:
            total += np.divide(lower, good, out=np.zeros_like(total), where=good > 0)
            count += own * (good > 0)

    def design(self, units: Sequence[Hashable]) -> Design:
        """Return how much the compared pairs tell when `units` (traces or problems) are what is independent."""
        if not self.strata:
            return Design(0, 0)
        place = numbered(units)
        size = int(place.max()) + 1
        stalled, good = (
            np.stack([np.bincount(place[side], minlength=size) for side in sides]).astype(np.float64)
            for sides in ([s.stalled for s in self.strata], [s.good for s in self.strata])
        )
        m, n = stalled.sum(axis=1), good.sum(axis=1)
        weight = np.ones(len(m)) if self.by_pair else 1 / n
        weight = weight / (weight * m * n).sum()
        squares = float(weight @ ((stalled @ stalled.T) * (good @ good.T)) @ weight)
        sides = ((weight * n) @ stalled, (weight * m) @ good)
        shared = sum(float((side**2).sum()) - squares for side in sides) / 2
        return Design(1 / squares, shared / squares)

    def roc(self, scores: Floats, offsets: Ints) -> tuple[Floats, Floats]:
        """Return the curve as false-stop shares and recalls, both ascending from 0 to 1.

        The recall at a share f is the share of stalled traces that fewer than a share f of their
        comparable good traces outscore; ties are a straight line, so the area equals `auc`.
        """
        uppers, lowers = [], []
        for stratum in self.strata:
            high, good = maxima(scores, offsets, stratum)
            good = np.sort(good)
            lowers.append(1 - np.searchsorted(good, high, "right") / len(good))
            uppers.append(1 - np.searchsorted(good, high, "left") / len(good))
        if not uppers:
            return np.zeros(0), np.zeros(0)
        low, high = np.concatenate(lowers), np.concatenate(uppers)
        grid = np.unique(np.concatenate([[0.0, 1.0], low, high]))
        return _with_jumps(grid, low, high)

    def within(self, keys: Sequence[Hashable]) -> "Ranking":
        """Return the ranking in which only traces with an equal key are compared."""
        strata = []
        numbers: dict[Hashable, int] = {}
        names = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
        for s in self.strata:
            for name in np.unique(names[s.stalled]):
                stalled, good = s.stalled[names[s.stalled] == name], s.good[names[s.good] == name]
                if len(good):
                    strata.append(Stratum(stalled, good, s.start, s.width))
        return Ranking(tuple(strata), self.by_pair)


def maxima(scores: Floats, offsets: Ints, stratum: Stratum) -> tuple[Floats, Floats]:
    """Return the largest score of each stalled and of each good trace of a stratum over its steps."""
    high = _largest(scores, offsets, stratum.stalled, stratum)
    return high, _largest(scores, offsets, stratum.good, stratum)


def _largest(scores: Floats, offsets: Ints, rows: Ints, stratum: Stratum) -> Floats:
    """Largest score of each trace over the stratum's steps, cut at the trace's end."""
    steps = np.arange(stratum.start, stratum.start + stratum.width)
    last = offsets[rows + 1][:, None] - 1
    found: Floats = scores[np.minimum(offsets[rows][:, None] + steps, last)].max(axis=1)
    return found


Pair = tuple[Floats, Floats]


def _by_table(many: Sequence[Pair], own: NDArray[np.float32], heavy: NDArray[np.float32]) -> Floats:
    """Weighted pairs won in each draw, by one matrix product with the table of who beats whom."""
    total, rows = np.zeros(own.shape[1]), max(1, TABLE // len(heavy))
    for start in range(0, len(own), rows):
        part = own[start : start + rows]
        won = sum(_won(high[start : start + rows], good) for high, good in many) / np.float32(len(many))
        few, other, table = (heavy, part, won.T) if len(heavy) < len(part) else (part, heavy, won)
        total += np.einsum("gd,gd->d", table @ other, few, dtype=np.float64)
    return total


def _won(high: Floats, good: Floats) -> NDArray[np.float32]:
    """Table of pairs: 1 where the stalled trace scores higher, 1/2 where both score alike."""
    found: NDArray[np.float32] = (high[:, None] > good) + np.float32(0.5) * (high[:, None] == good)
    return found


def _by_order(many: Sequence[Pair], own: NDArray[np.float32], heavy: NDArray[np.float32]) -> Floats:
    """Weighted pairs won in each draw, by running sums over the sorted good traces."""
    total = np.zeros(own.shape[1])
    for high, good in many:
        order = np.argsort(good, kind="stable")
        upto = np.zeros((len(good) + 1, own.shape[1]), dtype=np.float32)
        np.cumsum(heavy[order], axis=0, out=upto[1:])
        low, top = np.searchsorted(good[order], high, "left"), np.searchsorted(good[order], high, "right")
        # Stalled traces at one place among the good ones are one row: there are at most 2 n_good + 1 places.
        lined = np.argsort(low + top, kind="stable")
        first = np.unique((low + top)[lined], return_index=True)[1]
        mixed, place = np.add.reduceat(own[lined], first, axis=0), lined[first]
        total += np.einsum("sd,sd->d", mixed, upto[low[place]] + upto[top[place]], dtype=np.float64) / 2
    return total / len(many)


def _with_jumps(grid: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Mean over stalled traces of ramps from 0 at `low` to 1 at `high`; equal ends are a jump."""
    jump = low == high
    ramps = np.clip((grid[:, None] - low[~jump]) / (high - low)[~jump], 0, 1).sum(axis=1)
    before = np.searchsorted(np.sort(low[jump]), grid, "left")
    after = np.searchsorted(np.sort(low[jump]), grid, "right")
    share = np.repeat(grid, 2)
    recall = np.stack([ramps + before, ramps + after], axis=1).ravel() / len(low)
    return np.concatenate([[0.0], share, [1.0]]), np.concatenate([[0.0], recall, [1.0]])
