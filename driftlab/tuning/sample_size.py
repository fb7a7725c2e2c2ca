"""How many good traces a false-stop limit needs, which of them sets the line."""

import math
from fractions import Fraction

import numpy as np

from driftlab._util.extras import need
from driftlab._util.spec import between

__all__ = ["conformal_rank", "good_traces_needed", "tolerance_rank"]


def conformal_rank(n: int, limit: float) -> int | None:
    """Which of `n` good maxima, counted from 1, a threshold must exceed so that the mean promise holds.

    Stopping when the score exceeds the k-th smallest maximum, ``k = ceil((n + 1)(1 - limit))``, stops a
    new exchangeable good trace with probability at most `limit`, on average over calibrations.

    Returns
    -------
    int or None
        None when `n` is too small for any finite threshold.

    Notes
    -----
    Split conformal prediction; Vovk, Gammerman, Shafer (2005). In exact fractions: floats are off by one.

    Examples
    --------
    >>> conformal_rank(19, 0.05), conformal_rank(18, 0.05)
    (19, None)
    """
    share = 1 - _fraction(limit)
    rank = math.ceil((n + 1) * share)
    return rank if rank <= n else None


def tolerance_rank(n: int, limit: float, risk: float = 0.1) -> int | None:
    """Which of `n` good maxima a threshold must exceed so that the confident promise holds.

    With probability at least ``1 - risk`` over calibrations, the false-stop rate is at most `limit`.

    Returns
    -------
    int or None
        Smallest k with ``P(Binomial(n, 1 - limit) >= k) <= risk``; None when there is none.

    Notes
    -----
    Wilks (1941), one-sided distribution-free tolerance bound.

    Examples
    --------
    >>> tolerance_rank(60, 0.05, 0.05), tolerance_rank(58, 0.05, 0.05)
    (60, None)
    """
    _fraction(limit)
    tail = need("scipy.stats", "study").binom.sf(np.arange(n), n, 1 - limit)  # P(X >= k) for k = 1..n
    # P(X >= k): the chance that k or more of n good maxima lie below the (1 - limit) quantile, that is, that the
    # k-th smallest falls short of it.
    enough = np.flatnonzero(tail <= risk)
    return int(enough[0]) + 1 if len(enough) else None


def good_traces_needed(limit: float, risk: float | None = None) -> int:
    """Fewest good traces with which a finite threshold can be promised; `risk` None is the mean promise.

    Examples
    --------
    >>> good_traces_needed(0.05), good_traces_needed(0.05, 0.05)
    (19, 59)
    """
    if risk is None:
        share = _fraction(limit)
        return math.ceil((1 - share) / share)
    between("risk", risk, 0, 1)
    # The largest of n maxima falls short of the quantile with probability (1 - limit)^n.
    return math.ceil(math.log(risk) / math.log(1 - limit))


def _fraction(limit: float) -> Fraction:
    between("a false-stop limit", limit, 0, 1)
    return Fraction(str(limit))
