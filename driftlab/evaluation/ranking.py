"""Ranking of stalled above good traces, whichever may be compared."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from driftlab.evaluation.labels import Floats, Ints
from driftlab.evaluation.stats import Design, numbered

__all__ = ["Maxima", "Ranking", "Stratum", "maxima"]

Maxima = tuple[Floats, Floats]  # the largest scores of a stratum's stalled and of its good traces, (..., n) each


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
        return float(self.areas(self.compared(scores, offsets))[0])

    def compared(self, scores: Floats, offsets: Ints) -> list[Maxima]:
        """Return what is compared in each stratum: all that an area, a curve or a bootstrap draw asks of scores.

        Parameters
        ----------
        scores : (n_steps_in_all,) or (n_scores, n_steps_in_all) array
        offsets : (n_traces + 1,) array
        """
        return [maxima(np.atleast_2d(scores), offsets, stratum) for stratum in self.strata]

    def areas(self, compared: Sequence[Maxima]) -> Floats:
        """Return the area of each of the scores that were compared, shape (n_scores,); one `nan` without any pair."""
        if not compared:
            return np.array([math.nan])
        # Mann and Whitney (1947): the area is the share of pairs in the right order. Dividing by the good traces of
        # the stratum makes every stalled trace count once (Janes and Pepe 2009), whatever its onset has to be
        # compared with.
        total = np.zeros(len(compared[0][0]))
        for high, good in compared:
            pairs = np.array([_lower(*pair) for pair in zip(high, np.sort(good), strict=True)])
            total += pairs if self.by_pair else pairs / good.shape[1]
        return total / (self.n_pairs if self.by_pair else self.n_stalled)

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
        # Two pairs tell the same twice as far as they share a unit; 1 / sum(w^2) is how many pairs of their own
        # they are worth.
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
                # Compared only with their like: what the key explains can no longer make a difference.
                stalled, good = s.stalled[names[s.stalled] == name], s.good[names[s.good] == name]
                if len(good):
                    strata.append(Stratum(stalled, good, s.start, s.width))
        return Ranking(tuple(strata), self.by_pair)


def maxima(scores: Floats, offsets: Ints, stratum: Stratum) -> Maxima:
    """Return the largest score of each stalled and of each good trace of a stratum over its steps.

    Parameters
    ----------
    scores : (..., n_steps_in_all) array
        The results have the same leading axes.
    """
    return _largest(scores, offsets, stratum.stalled, stratum), _largest(scores, offsets, stratum.good, stratum)


def _largest(scores: Floats, offsets: Ints, rows: Ints, stratum: Stratum) -> Floats:
    """Largest score of each trace over the stratum's steps, cut at the trace's end."""
    steps = np.arange(stratum.start, stratum.start + stratum.width)[:, None]
    largest: Floats = scores[..., np.minimum(offsets[rows] + steps, offsets[rows + 1] - 1)].max(axis=-2)
    return largest


def _lower(high: Floats, ordered: Floats) -> float:
    """Pairs in which the stalled trace scores higher, ties counting half; good maxima ascending."""
    below, upto = np.searchsorted(ordered, high, "left"), np.searchsorted(ordered, high, "right")
    return float(below.sum() + upto.sum()) / 2


def _with_jumps(grid: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Mean over stalled traces of ramps from 0 at `low` to 1 at `high`; equal ends are a jump."""
    jump = low == high
    ramps = np.clip((grid[:, None] - low[~jump]) / (high - low)[~jump], 0, 1).sum(axis=1)
    before = np.searchsorted(np.sort(low[jump]), grid, "left")
    after = np.searchsorted(np.sort(low[jump]), grid, "right")
    share = np.repeat(grid, 2)
    recall = np.stack([ramps + before, ramps + after], axis=1).ravel() / len(low)
    return np.concatenate([[0.0], share, [1.0]]), np.concatenate([[0.0], recall, [1.0]])
