"""Which traces may be compared, over which steps: at equal age, at equal length, at a landmark."""

import numpy as np

from driftlab.evaluation.labels import Truth
from driftlab.evaluation.ranking import Ranking, Stratum

LONGEST, KEEP_STALLED, KEEP_GOOD = 16, 0.8, 20


def equal_age(truth: Truth, width: int) -> Ranking:
    """Compare each stalled trace over ``[onset, onset + width)`` with the good ones still running then.

    Examples
    --------
    >>> from driftlab.trace.schema import Span, TraceInfo
    >>> infos = [TraceInfo(id="a", label="stalled", stalls=(Span(1),)), TraceInfo(id="b", label="good")]
    >>> ranking = equal_age(Truth.of(infos, np.array([4, 3])), width=2)
    >>> ranking.auc(np.array([0, 0.5, 1, 1, 0, 0.75, 0.5]), np.array([0, 4, 7]))
    1.0
    """
    strata = []
    for onset in np.unique(truth.onset[truth.stalled]):
        alive = truth.lengths >= onset + width
        stalled = np.flatnonzero(truth.stalled & alive & (truth.onset == onset))
        good = np.flatnonzero(truth.good & alive)
        if len(stalled) and len(good):
            strata.append(Stratum(stalled, good, int(onset), width))
    return Ranking(tuple(strata))


def whole_trace(truth: Truth) -> Ranking:
    """Compare maxima over whole traces: what others publish, and what length alone decides."""
    return landmark(truth, 1, int(truth.lengths.max(initial=1)))


def matched(truth: Truth, tolerance: int = 2) -> Ranking:
    """Compare maxima over whole traces of nearly equal length, each pair once.

    Examples
    --------
    >>> from driftlab.trace.schema import Span, TraceInfo
    >>> infos = [TraceInfo(id="a", label="stalled", stalls=(Span(1),)), TraceInfo(id="b", label="good")]
    >>> [matched(Truth.of(infos, np.array([9, n]))).n_pairs for n in (7, 6)]
    [1, 0]
    """
    strata = []
    for length in np.unique(truth.lengths[truth.stalled]):
        near = (np.abs(truth.lengths - length) <= tolerance) & (truth.lengths > 0)
        stalled = np.flatnonzero(truth.stalled & (truth.lengths == length))
        good = np.flatnonzero(truth.good & near)
        if len(good):
            strata.append(Stratum(stalled, good, 0, int(length) + tolerance))
    return Ranking(tuple(strata), by_pair=True)


def landmark(truth: Truth, step: int, width: int | None = None) -> Ranking:
    """Compare maxima over the first `step` (or `width`) steps of the traces that run `step` steps.

    Examples
    --------
    >>> from driftlab.trace.schema import Span, TraceInfo
    >>> infos = [TraceInfo(id="a", label="stalled", stalls=(Span(1),)), TraceInfo(id="b", label="good")]
    >>> [landmark(Truth.of(infos, np.array([9, 6])), step).n_pairs for step in (6, 7)]
    [1, 0]
    """
    alive = truth.lengths >= step
    stalled, good = np.flatnonzero(truth.stalled & alive), np.flatnonzero(truth.good & alive)
    return Ranking((Stratum(stalled, good, 0, width or step),) if len(stalled) and len(good) else ())


def horizon(truth: Truth) -> int | None:
    """Return the ranking horizon H, from lengths alone.

    The largest H <= 16 with which at least 80 % of the stalled and 20 of the good traces can be
    compared; None when there is none.

    Examples
    --------
    >>> from driftlab.trace.schema import Span, TraceInfo
    >>> infos = [TraceInfo(id="s", label="stalled", stalls=(Span(1),))]
    >>> infos += [TraceInfo(id=str(n), label="good") for n in range(20)]
    >>> horizon(Truth.of(infos, np.array([30] + [9] * 20)))
    8
    """
    for width in range(LONGEST, 0, -1):
        ranking = equal_age(truth, width)
        if ranking.n_stalled >= KEEP_STALLED * truth.stalled.sum() and len(ranking.good) >= KEEP_GOOD:
            return width if ranking.strata else None
    return None
