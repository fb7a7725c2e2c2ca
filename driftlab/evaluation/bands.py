"""Curves and score distributions behind the figures, as arrays."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftlab.detectors import Accumulator, Run
from driftlab.evaluation.evaluation import Evaluation
from driftlab.evaluation.labels import Floats
from driftlab.evaluation.ranking import Ranking, Stratum, maxima
from driftlab.evaluation.thresholds import Curve

GRID = np.linspace(0, 1, 101)
BAND_DRAWS = 300  # pointwise bands need fewer draws than the interval of the area


@dataclass(frozen=True, eq=False)
class Band:
    """Lowest and highest recall expected at each share of `grid`; empty arrays when none can be given."""

    grid: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Extremes:
    """Largest scores of the traces a ranking compares, over the steps it compares.

    Attributes
    ----------
    stalled : (n_stalled,) array
    good, weight : (n,) arrays
        A good trace occurs once for every onset it is compared at; weights sum to `n_stalled`.
    """

    stalled: Floats
    good: Floats
    weight: Floats

    def shares(self, threshold: float) -> tuple[float, float]:
        """Return the shares of stalled and of good extremes at or above a threshold; `nan` without traces."""
        if not len(self.stalled):
            return float("nan"), float("nan")
        return float(np.mean(self.stalled >= threshold)), float(np.average(self.good >= threshold, weights=self.weight))


def extremes(ranking: Ranking, scores: Floats, offsets: NDArray[np.int64]) -> Extremes:
    """Return what a ranking compares.

    Examples
    --------
    >>> stratum = Stratum(np.array([0]), np.array([1]), start=1, width=2)
    >>> found = extremes(Ranking((stratum,)), np.array([0, 0.5, 1, 1, 0, 0.75, 0.5]), np.array([0, 4, 7]))
    >>> found.stalled.tolist(), found.good.tolist(), found.shares(0.8)
    ([1.0], [0.75], (1.0, 0.0))
    """
    # A stalled trace counts once however many good ones it meets: those of its stratum share a weight of 1 a
    # stalled trace.
    pairs = [maxima(scores, offsets, stratum) for stratum in ranking.strata]
    weights = [np.full(len(good), len(high) / len(good)) for high, good in pairs]
    nothing = np.zeros(0)
    return Extremes(
        np.concatenate([high for high, _ in pairs] or [nothing]),
        np.concatenate([good for _, good in pairs] or [nothing]),
        np.concatenate(weights or [nothing]),
    )


def roc_band(evaluation: Evaluation, scores: Floats, *, level: float = 0.95) -> Band:
    """Return the pointwise bootstrap band of a ROC curve, whole problems drawn.

    Empty where a class has too few problems: there the bootstrap is too narrow to be shown.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> few = Evaluation(measure([Trace(id="a", label="good", steps=[Step(state="x")])], ["exact"]))
    >>> len(roc_band(few, np.zeros(1)).grid)
    0
    """
    if not evaluation.ranking.strata or evaluation.rank(scores).few:
        return Band(np.zeros(0), np.zeros(0), np.zeros(0))
    # Pointwise: 95 % at each share taken alone. A whole curve leaves such a band more often.
    low, high = np.nanquantile(roc_draws(evaluation, scores), [(1 - level) / 2, (1 + level) / 2], axis=1)
    return Band(GRID, low, high)


def roc_draws(evaluation: Evaluation, scores: Floats, draws: int = BAND_DRAWS) -> Floats:
    """Return the ROC curve of each bootstrap draw at the shares of `GRID`, shape (101, n_draws).

    `nan` where a draw lacks a class.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> one = Evaluation(measure([Trace(id="a", label="good", steps=[Step(state="x")])], ["exact"]))
    >>> roc_draws(one, np.zeros(1), draws=5).shape
    (101, 5)
    """
    # The first draws of those that gave the interval of the area: band and interval tell of the same samples.
    weights = evaluation.weights[:, :draws]
    total, count = np.zeros((len(GRID), weights.shape[1])), np.zeros(weights.shape[1])
    for stratum in evaluation.ranking.strata:
        low, high, stalled_weights = _shares(scores, evaluation.measurements.offsets, stratum, weights)
        count += stalled_weights.sum(axis=0)
        total += np.stack([(stalled_weights * _ramp(share, low, high)).sum(axis=0) for share in GRID])
    recalls: Floats = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
    return recalls


def placebo_band(evaluation: Evaluation, accumulator: Accumulator | None = None) -> Band:
    """Return the range of the ROC curves of several draws of noise through one accumulator.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> few = Evaluation(measure([Trace(id="a", label="good", steps=[Step(state="x")])], ["exact"]))
    >>> placebo_band(few).low.tolist()
    []
    """
    if not evaluation.ranking.strata:
        return Band(np.zeros(0), np.zeros(0), np.zeros(0))
    offsets = evaluation.measurements.offsets
    curves = [evaluation.ranking.roc(scores, offsets) for scores in evaluation.noise(accumulator or Run(1))]
    recalls = np.stack([np.interp(GRID, *roc) for roc in curves])
    return Band(GRID, recalls.min(axis=0), recalls.max(axis=0))


def values_at(curve: Curve, value: str, thresholds: Floats) -> Floats:
    """Read one rate of a curve at any thresholds; above the highest score there is no alarm.

    Parameters
    ----------
    value : {"precision", "recall", "saved", "false_stop_rate", "mean_delay"}

    Examples
    --------
    >>> from driftlab.evaluation.thresholds import curve
    >>> from driftlab.trace.schema import TraceInfo
    >>> from driftlab.evaluation.labels import Labels
    >>> labels = Labels.of([TraceInfo(id="a", label="good")], np.array([2]))
    >>> found = curve(np.array([0.0, 0.5]), np.array([0, 2]), labels)
    >>> values_at(found, "false_stop_rate", np.array([0.25, 0.5, 0.75])).tolist()
    [1.0, 1.0, 0.0]
    """
    divided = {"recall": curve.n_stalled, "saved": curve.stalled_steps, "false_stop_rate": curve.n_good}
    silent = 0.0 if divided.get(value, 0) else float("nan")
    known = np.append(np.asarray(getattr(curve, value), dtype=np.float64), silent)
    # An alarm at x is an alarm at the next score that occurs: the curve lists every score that does.
    values: Floats = known[np.searchsorted(curve.thresholds, thresholds, side="left")]
    return values


def _shares(
    scores: Floats, offsets: NDArray[np.int64], stratum: Stratum, weights: NDArray[np.integer[Any]]
) -> tuple[Floats, Floats, Floats]:
    """Share of good traces strictly above, at or above each stalled trace, and its weight, in each draw."""
    high, good = maxima(scores, offsets, stratum)
    order = np.argsort(good, kind="stable")
    good, heavy = good[order], weights[stratum.good[order]]
    upto = np.concatenate([np.zeros((1, heavy.shape[1])), np.cumsum(heavy, axis=0)])
    # A draw without good traces divides by 1; its stalled traces get weight 0 below.
    whole = np.maximum(upto[-1], 1)
    above = 1 - upto[np.searchsorted(good, high, "right")] / whole
    reached = 1 - upto[np.searchsorted(good, high, "left")] / whole
    return above, reached, weights[stratum.stalled] * (upto[-1] > 0)


def _ramp(share: float, low: Floats, high: Floats) -> Floats:
    """1 right of `high`, 0 left of `low`, a straight line between; equal ends are a jump."""
    width = high - low
    line = np.divide(share - low, width, out=np.where(share >= low, 1.0, 0.0), where=width > 0)
    ramp: Floats = np.clip(line, 0, 1)
    return ramp


__all__ = ["Band", "Extremes", "extremes", "placebo_band", "roc_band", "roc_draws", "values_at"]
