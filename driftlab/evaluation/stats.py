"""The few statistics no kept library has."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driftlab._util.extras import need

__all__ = [
    "FEW",
    "LEVEL",
    "Design",
    "cluster_weights",
    "clustered",
    "difference",
    "effective",
    "method5",
    "newcombe",
    "normal_reach",
    "numbered",
    "percentile",
    "proportion",
]

Floats = NDArray[np.float64]

FEW = 25  # problems in a class below which the bootstrap alone is far too narrow (see `newcombe`)
LEVEL = 0.95


def newcombe(auc: float, m: int, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Interval of an AUC from independent traces.

    Covers at least 95 % down to 8 and 12 traces, where DeLong and the percentile bootstrap cover 67 %.

    Parameters
    ----------
    auc : float
        In [0, 1].
    m, n : int
        Traces of the two classes, every one compared with every one.
    level : float
        Coverage asked for.

    Returns
    -------
    (float, float)
        All theta with ``|auc - theta| <= z * se(theta)``; `nan`, `nan` when a class is empty.

    Notes
    -----
    Newcombe (2006), Statistics in Medicine 25:559-573, method 5.

    Examples
    --------
    >>> [round(bound, 3) for bound in newcombe(1.0, 8, 12)]
    [0.793, 1.0]
    """
    return method5(auc, Design(m * n, (m + n) / 2 - 1), level)


@dataclass(frozen=True)
class Design:
    """How much a set of compared pairs tells, whoever is compared with whom.

    Attributes
    ----------
    pairs : float
        Pairs that count, ``1 / sum(w^2)`` over the pairs' weights; ``m * n`` when all are compared alike.
    shared : float
        Other pairs that share a trace with a pair, the mean of both sides; ``(m + n) / 2 - 1`` when all are.
    """

    pairs: float
    shared: float


def method5(auc: float, design: Design, level: float = LEVEL) -> tuple[float, float]:
    """Newcombe's method 5 for any set of pairs; `newcombe` is the one where all are compared alike.

    Examples
    --------
    >>> [round(bound, 2) for bound in method5(0.5, Design(pairs=20, shared=0))]  # 20 unrelated pairs
    [0.3, 0.7]
    """
    if not design.pairs or math.isnan(auc):
        return math.nan, math.nan
    # Method 5 inverts the test instead of adding errors to the estimate: the error is that at theta, not at the
    # observed area, so an area of 1 still has a lower bound. Variance of Hanley and McNeil (1982) with Q1 = theta /
    # (2 - theta), Q2 = 2 theta^2 / (1 + theta), and in method 5 the mean class size (m + n) / 2 for both classes.
    z = normal_reach(level)

    def excess(theta: float) -> float:
        spread = 1 + design.shared * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        return abs(auc - theta) - z * math.sqrt(theta * (1 - theta) * spread / design.pairs)

    root = need("scipy.optimize", "study").brentq
    # At 0 and 1 the standard error vanishes; just inside, the observed value is always covered.
    inside = min(max(auc, 1e-12), 1 - 1e-12)
    low = root(excess, 0.0, inside) if auc > 0 else 0.0
    high = root(excess, inside, 1.0) if auc < 1 else 1.0
    return float(low), float(high)


def normal_reach(level: float) -> float:
    """Standard errors to each side that cover a share `level` of a normal distribution.

    Examples
    --------
    >>> round(normal_reach(0.95), 2)
    1.96
    """
    # The special function alone: scipy.stats would load for half a second to say the same.
    return float(need("scipy.special", "study").ndtri(0.5 + level / 2))


def difference(
    first: float, second: float, spread: tuple[float, float], other: tuple[float, float], correlation: float
) -> tuple[float, float]:
    """Interval of first - second from the interval of each and their correlation.

    Parameters
    ----------
    first, second : float
    spread, other : (float, float)
        Interval of `first`, of `second`.
    correlation : float
        Of the two estimates, from paired draws.

    Notes
    -----
    Zou and Donner (2008), Statistics in Medicine 27:1693-1702: the method of variance estimates recovery.

    Examples
    --------
    >>> [round(bound, 2) for bound in difference(0.8, 0.5, (0.6, 0.9), (0.5, 0.5), 0.0)]  # a constant
    [0.1, 0.4]
    """
    (low, high), (below, upto) = spread, other

    # Zou and Donner: each limit borrows the nearer limit of one estimate and the farther of the other.
    def reach(own: float, its: float) -> float:
        return math.sqrt(max(0.0, own**2 + its**2 - 2 * correlation * own * its))

    gap = first - second
    return gap - reach(first - low, upto - second), gap + reach(high - first, second - below)


def cluster_weights(groups: Sequence[Hashable], draws: int, seed: int) -> NDArray[np.float32]:
    """How often each trace occurs in each draw when whole groups are drawn with replacement.

    Parameters
    ----------
    groups : sequence of hashable, length n
        The problem of each trace.
    draws : int
        Bootstrap draws.
    seed : int
        The same seed gives the same draws, so that differences between metrics are paired.

    Returns
    -------
    (n, draws) float32 array of whole numbers

    Examples
    --------
    >>> weights = cluster_weights(["a", "a", "b"], draws=4, seed=0)
    >>> bool((weights[0] == weights[1]).all()), set((weights[0] + weights[2]).tolist())
    (True, {2.0})
    """
    place = numbered(groups)
    if not len(place):
        return np.zeros((0, draws), dtype=np.float32)
    random, count = np.random.default_rng(seed), int(place.max()) + 1
    # Problems are drawn, not traces: runs of one problem are alike, and drawing them apart would make intervals too
    # narrow.
    drawn = random.integers(count, size=(count, draws), dtype=np.int32) * np.int64(draws) + np.arange(draws)
    counts = np.bincount(drawn.ravel(), minlength=count * draws).reshape(count, draws)
    # 32 bits hold such counts exactly; these tables are read once for every score, and their size is what that costs.
    return counts.astype(np.float32)[place]


def numbered(groups: Sequence[Hashable]) -> NDArray[np.int64]:
    """Number groups by first appearance, shape (n,).

    Examples
    --------
    >>> numbered(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    names = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    return np.array([names[group] for group in groups], dtype=np.int64)


def percentile(draws: Floats, level: float = LEVEL) -> tuple[float, float]:
    """Percentile interval of bootstrap draws; `nan` draws (a class was not drawn) are left out.

    Examples
    --------
    >>> percentile(np.arange(5.0), 0.5)
    (1.0, 3.0)
    """
    kept = draws[~np.isnan(draws)]
    if not len(kept):
        return math.nan, math.nan
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def proportion(part: float, whole: float, method: str = "wilson", level: float = LEVEL) -> tuple[float, float]:
    """Interval of a share: "wilson" to show, "beta" (Clopper-Pearson) to promise; `nan` over nothing.

    Examples
    --------
    >>> [round(bound, 3) for bound in proportion(0, 46, "beta")]
    [0.0, 0.077]
    """
    if not whole:
        return math.nan, math.nan
    find = need("statsmodels.stats.proportion", "study").proportion_confint
    low, high = find(part, whole, alpha=1 - level, method=method)
    return float(low), float(high)


def effective(flags: Sequence[bool] | NDArray[np.bool_], groups: Sequence[Hashable]) -> float:
    """How many independent traces a share over runs of the same problems is worth.

    Parameters
    ----------
    flags : sequence of bool, length n
        Which traces count in the share.
    groups : sequence of hashable, length n
        The problem of each trace.

    Returns
    -------
    float
        At most n; the number of problems where all flags are equal, since then nothing tells how alike
        runs of one problem are.

    Notes
    -----
    Kish's design effect with the between-cluster variance; with "beta" it gives the interval of Korn and
    Graubard (1998), Survey Methodology 24:193-201.

    Examples
    --------
    >>> effective([True, True, False, False], "aabb"), effective([True, True, False, False], "abcd")
    (1.0, 4.0)
    """
    y, place = np.asarray(flags, dtype=np.float64), numbered(groups)
    n, count = len(y), len(set(groups))
    share = y.mean() if n else math.nan
    # With one run a problem the runs are the units; where all flags agree, only the problems can be counted as
    # seen.
    if count in (0, 1, n) or share in (0, 1):
        return float(count)
    # Variance of a mean over clusters of unequal size, the linearised estimator of survey statistics (Korn and
    # Graubard).
    between = (np.bincount(place, y - share) ** 2).sum() * count / (count - 1) / n**2
    independent = share * (1 - share) / n
    # Never more than n: runs of one problem that happen to differ are no reason to believe in more evidence.
    return float(np.clip(n * independent / max(between, 1e-300), 1.0, n))


def clustered(
    flags: Sequence[bool] | NDArray[np.bool_], groups: Sequence[Hashable], method: str = "wilson", level: float = LEVEL
) -> tuple[float, float]:
    """Interval of a share of traces when runs of one problem are alike; `nan` over nothing.

    Examples
    --------
    >>> [round(bound, 2) for bound in clustered([True, True, False, False], "abcd")]
    [0.15, 0.85]
    """
    n = effective(flags, groups)
    return proportion(float(np.mean(flags)) * n, n, method, level) if n else (math.nan, math.nan)
