"""Which traces may be compared, over which steps: at equal age, at equal length, at a landmark."""

import math
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from driftlab.evaluation.labels import Floats, Labels
from driftlab.evaluation.ranking import Ranking, Stratum
from driftlab.trace.schema import TraceInfo

__all__ = ["equal_age", "horizon", "landmark", "matched", "stall_rates", "whole_trace"]

LONGEST, KEEP_STALLED, KEEP_GOOD = 16, 0.8, 20
FOLDS = 5  # of problems, for what a setup's stall rate is worth


def equal_age(labels: Labels, width: int) -> Ranking:
    """Compare each stalled trace over ``[onset, onset + width)`` with the good ones still running then.

    Examples
    --------
    >>> from driftlab.trace.schema import Span, TraceInfo
    >>> infos = [TraceInfo(id="a", label="stalled", stalls=(Span(1),)), TraceInfo(id="b", label="good")]
    >>> ranking = equal_age(Labels.of(infos, np.array([4, 3])), width=2)
    >>> ranking.auc(np.array([0, 0.5, 1, 1, 0, 0.75, 0.5]), np.array([0, 4, 7]))
    1.0
    """
    strata = []
    for onset in np.unique(labels.onset[labels.stalled]):
        # Who ended earlier is not compared: that a run ended tells its label, and a maximum over fewer steps is
        # smaller (law 15).
        alive = labels.lengths >= onset + width
        stalled = np.flatnonzero(labels.stalled & alive & (labels.onset == onset))
        good = np.flatnonzero(labels.good & alive)
        if len(stalled) and len(good):
            strata.append(Stratum(stalled, good, int(onset), width))
    return Ranking(tuple(strata))


def whole_trace(labels: Labels) -> Ranking:
    """Compare maxima over whole traces: what others publish, and what length alone decides."""
    return landmark(labels, 1, int(labels.lengths.max(initial=1)))


def matched(labels: Labels, tolerance: int = 2) -> Ranking:
    """Compare maxima over whole traces of nearly equal length, each pair once.

    Examples
    --------
    >>> from driftlab.trace.schema import Span, TraceInfo
    >>> infos = [TraceInfo(id="a", label="stalled", stalls=(Span(1),)), TraceInfo(id="b", label="good")]
    >>> [matched(Labels.of(infos, np.array([9, n]))).n_pairs for n in (7, 6)]
    [1, 0]
    """
    strata = []
    for length in np.unique(labels.lengths[labels.stalled]):
        # Length decides a maximum over a whole trace, so only traces of nearly equal length say anything.
        near = (np.abs(labels.lengths - length) <= tolerance) & (labels.lengths > 0)
        stalled = np.flatnonzero(labels.stalled & (labels.lengths == length))
        good = np.flatnonzero(labels.good & near)
        if len(good):
            strata.append(Stratum(stalled, good, 0, int(length) + tolerance))
    return Ranking(tuple(strata), by_pair=True)


def landmark(labels: Labels, step: int, width: int | None = None) -> Ranking:
    """Compare maxima over the first `step` (or `width`) steps of the traces that run `step` steps.

    Examples
    --------
    >>> from driftlab.trace.schema import Span, TraceInfo
    >>> infos = [TraceInfo(id="a", label="stalled", stalls=(Span(1),)), TraceInfo(id="b", label="good")]
    >>> [landmark(Labels.of(infos, np.array([9, 6])), step).n_pairs for step in (6, 7)]
    [1, 0]
    """
    alive = labels.lengths >= step
    stalled, good = np.flatnonzero(labels.stalled & alive), np.flatnonzero(labels.good & alive)
    return Ranking((Stratum(stalled, good, 0, width or step),) if len(stalled) and len(good) else ())


def horizon(labels: Labels) -> int | None:
    """Return the ranking horizon H, from lengths alone.

    The largest H <= 16 with which at least 80 % of the stalled and 20 of the good traces can be
    compared; None when there is none.

    Examples
    --------
    >>> from driftlab.trace.schema import Span, TraceInfo
    >>> infos = [TraceInfo(id="s", label="stalled", stalls=(Span(1),))]
    >>> infos += [TraceInfo(id=str(n), label="good") for n in range(20)]
    >>> horizon(Labels.of(infos, np.array([30] + [9] * 20)))
    8
    """
    for width in range(LONGEST, 0, -1):
        # From lengths alone: a horizon chosen by the areas it gives would be one more choice that luck may make.
        ranking = equal_age(labels, width)
        if ranking.n_stalled >= KEEP_STALLED * labels.stalled.sum() and len(ranking.good) >= KEEP_GOOD:
            return width if ranking.strata else None
    return None


def stall_rates(infos: Sequence[TraceInfo], labels: Labels, seed: int) -> tuple[Floats, list[Hashable]]:
    """Return the stall rate of each trace's setup, learned on other folds, and the fold of its problem.

    Out of fold, because a rate learned on the trace that it ranks would know its label: the setup control
    would look better than any setup is. A setup the other folds never met gets their overall rate.

    Examples
    --------
    >>> from driftlab.trace.schema import Span
    >>> infos = [TraceInfo(id=f"l{n}", label="stalled", stalls=(Span(0),), setup="x") for n in range(9)]
    >>> infos += [TraceInfo(id=f"w{n}", label="good", setup="y") for n in range(9)]
    >>> rates, folds = stall_rates(infos, Labels.of(infos, np.ones(18, dtype=int)), seed=0)
    >>> rates[:9].tolist() == [1.0] * 9, rates[9:].tolist() == [0.0] * 9
    (True, True)
    """
    groups = [info.group for info in infos]
    names = sorted(set(groups))
    fold_of = dict(zip(names, np.random.default_rng(seed).permutation(len(names)) % FOLDS, strict=True))
    folds = np.array([fold_of[group] for group in groups], dtype=np.int64)
    setups = np.array([info.setup or "" for info in infos], dtype=object)
    rates = np.zeros(len(groups))
    for fold in range(FOLDS):
        train = folds != fold
        base = _share(labels.stalled[train], labels.good[train])
        for setup in np.unique(setups[~train].astype(str)):
            known = train & (setups == setup)
            rate = _share(labels.stalled[known], labels.good[known])
            rates[~train & (setups == setup)] = base if math.isnan(rate) else rate
    return np.nan_to_num(rates), [int(fold) for fold in folds]


def _share(stalled: NDArray[np.bool_], good: NDArray[np.bool_]) -> float:
    labelled = int(stalled.sum() + good.sum())
    return float(stalled.sum() / labelled) if labelled else math.nan
