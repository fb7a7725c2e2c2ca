"""Areas under the curve in every bootstrap draw of a ranking's traces."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from driftlab.evaluation.labels import Floats
from driftlab.evaluation.ranking import Maxima, Ranking, Stratum

__all__ = ["Bootstrap"]

TABLE = 4_000_000  # pairs whose order is held at once
NARROW = 200  # traces of the smaller class, a score, up to which a matrix product is the faster way

Counts = NDArray[np.float32]
Side = tuple[Counts, Counts, Counts, Counts]  # weights of a stratum's stalled and good traces, their sums in each draw


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """A ranking's traces in every draw, looked up once for all scores.

    Parameters
    ----------
    ranking : Ranking
    weights : (n_traces, n_draws) float32 array
        How often each trace occurs in each draw, from `stats.cluster_weights`.

    Examples
    --------
    >>> from driftlab.evaluation.ranking import Stratum
    >>> from driftlab.evaluation.stats import cluster_weights
    >>> ranking = Ranking((Stratum(np.array([0, 1]), np.array([2, 3]), 0, 1),))
    >>> drawn = Bootstrap(ranking, cluster_weights("abcd", draws=3, seed=0))
    >>> drawn.areas(ranking.compared(np.array([0.75, 1, 0, 0.5]), np.arange(5))).tolist()
    [1.0, 1.0, 1.0]
    """

    ranking: Ranking
    weights: Counts

    def _side(self, stratum: Stratum) -> Side:
        light, heavy = self.weights[stratum.stalled], self.weights[stratum.good]
        return light, heavy, light.sum(axis=0), heavy.sum(axis=0)

    @cached_property
    def _kept(self) -> list[Side] | None:
        """What of each stratum is looked up once; None where copies for every onset would outgrow the weights."""
        rows = sum(len(stratum.stalled) + len(stratum.good) for stratum in self.ranking.strata)
        return [self._side(stratum) for stratum in self.ranking.strata] if rows <= 2 * len(self.weights) else None

    def areas(self, compared: Sequence[Maxima]) -> Floats:
        """Return the area in each draw, shape (n_draws,); `nan` where a draw lacks a class.

        Parameters
        ----------
        compared : sequence of (array, array)
            From `Ranking.compared`. Of several scores the mean area is returned: one table of the mean order of
            each pair serves all of them.
        """
        # The area of a draw is sum(w_s w_g won) / sum(w_s w_g) over pairs; a stratum in which a draw has no good
        # trace says nothing, and its stalled traces leave the denominator too.
        total, count = np.zeros(self.weights.shape[1]), np.zeros(self.weights.shape[1])
        sides = self._kept or map(self._side, self.ranking.strata)
        for (high, low), (stalled_weights, good_weights, stalled, good) in zip(compared, sides, strict=True):
            way = _by_table if min(len(stalled_weights), len(good_weights)) <= NARROW * len(high) else _by_order
            lower = way(high, low, stalled_weights, good_weights)
            if self.ranking.by_pair:  # each pair counts once, else each stalled trace
                total += lower
                count += stalled * good
            else:
                total += np.divide(lower, good, out=np.zeros_like(total), where=good > 0)
                count += stalled * (good > 0)
        return np.divide(total, count, out=np.full_like(total, math.nan), where=count > 0)


def _by_table(high: Floats, good: Floats, own: Counts, heavy: Counts) -> Floats:
    """Weighted pairs won in each draw, by one matrix product with the table of who beats whom."""
    total, rows = np.zeros(own.shape[1]), max(1, TABLE // good.size)
    for start in range(0, len(own), rows):
        part, some = own[start : start + rows], high[:, start : start + rows]
        won = _won(some, good)
        # The larger side is summed by the matrix product (BLAS), the smaller one afterwards: fewest numbers in
        # memory.
        few, other, table = (heavy, part, won.T) if len(heavy) < len(part) else (part, heavy, won)
        # The product runs in 32 bits, the sum over traces in 64: there the rounding would add up.
        total += np.einsum("gd,gd->d", table @ other, few, dtype=np.float64)
    return total


def _won(high: Floats, good: Floats) -> Counts:
    """Mean table of pairs: 1 where the stalled trace scores higher, 1/2 where both score alike."""
    left, right = high[:, :, None], good[:, None, :]
    halves = (left > right).sum(axis=0, dtype=np.float32) + (left >= right).sum(axis=0, dtype=np.float32)
    table: Counts = halves / np.float32(2 * len(high))
    return table


def _by_order(high: Floats, good: Floats, own: Counts, heavy: Counts) -> Floats:
    """Weighted pairs won in each draw, by running sums over the sorted good traces."""
    total = np.zeros(own.shape[1])
    for above, below in zip(high, good, strict=True):
        order = np.argsort(below, kind="stable")
        upto = np.zeros((len(below) + 1, own.shape[1]), dtype=np.float32)
        np.cumsum(heavy[order], axis=0, out=upto[1:])
        low, top = np.searchsorted(below[order], above, "left"), np.searchsorted(below[order], above, "right")
        # Stalled traces at one place among the good ones are one row: there are at most 2 n_good + 1 places.
        lined = np.argsort(low + top, kind="stable")
        first = np.unique((low + top)[lined], return_index=True)[1]
        mixed, place = np.add.reduceat(own[lined], first, axis=0), lined[first]
        total += np.einsum("sd,sd->d", mixed, upto[low[place]] + upto[top[place]], dtype=np.float64) / 2
    return total / len(high)
