"""What a stop rule is chosen by: a false-stop limit, a price, a score."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftlab._util.errors import InputError
from driftlab._util.registry import Registry
from driftlab._util.spec import share
from driftlab.detectors import Detector
from driftlab.evaluation.labels import Floats, Ints, Labels, ratio
from driftlab.evaluation.rates import Rates
from driftlab.evaluation.thresholds import Curve, curves

__all__ = [
    "MARGIN",
    "OBJECTIVES",
    "RATES",
    "Choice",
    "Objective",
    "Price",
    "above",
    "choices",
    "f_beta",
    "margin_of",
    "objective_named",
    "ordered",
    "value_at",
]

Objective = Callable[[Curve], Floats]

RATES = ("saved", "recall", "false_stop_rate")
MARGIN = 1e-4  # law 4: deltas out of a model agree within this, so no threshold may sit closer to a score


@dataclass(frozen=True)
class Price:
    """What a rule earns a run: steps saved at their price, less false stops at theirs; 0 is doing nothing.

    A premature alarm costs a false stop: what the run would still have done is lost.

    Parameters
    ----------
    false_stop, wasted_step : float
        What one costs, in one currency, >= 0.
    prevalence : float, optional
        Share of runs that stall where the rule will work; default: the share in the traces it is chosen on.

    Examples
    --------
    >>> import numpy as np
    >>> from driftlab.evaluation.labels import Labels
    >>> from driftlab.evaluation.tally import Tally
    >>> from driftlab.evaluation.thresholds import curve
    >>> from driftlab.trace.schema import Span, TraceInfo
    >>> infos = [TraceInfo(id="a", label="stalled", stalls=(Span(0),)), TraceInfo(id="b", label="good")]
    >>> found = curve(np.array([1.0, 1, 1, 0.5, 0]), np.array([0, 3, 5]), Labels.of(infos, np.array([3, 2])))
    >>> Price(false_stop=10, wasted_step=1)(found).tolist()  # at 0.5 the good run is stopped too
    [-4.0, 1.0]
    >>> float(Price(false_stop=10, wasted_step=1)(Tally(1, 0, 0, 0, 0, 1, 0, 2, 3, 0, 2, 0.0)))
    1.0
    """

    false_stop: float
    wasted_step: float
    prevalence: float | None = None

    def __post_init__(self) -> None:
        if self.false_stop < 0 or self.wasted_step < 0:
            raise InputError(f"prices must be >= 0, got {self!r}")
        if self.prevalence is not None:
            share("prevalence", self.prevalence)

    def __str__(self) -> str:
        return f"{self.false_stop:g} a false stop and {self.wasted_step:g} a step"

    def __call__(self, curve: Rates) -> Floats:
        share = ratio(curve.n_stalled, curve.n_stalled + curve.n_good) if self.prevalence is None else self.prevalence
        # Per stalled run what its saved steps are worth, less what stopping it before its stall destroyed.
        earned = ratio(self.wasted_step * curve.saved_steps - self.false_stop * curve.premature, curve.n_stalled)
        lost = self.false_stop * curve.false_stop_rate
        # A class that is absent earns and costs nothing; without both there is nothing to choose by.
        parts = np.nan_to_num(earned) * share - np.nan_to_num(lost) * (1 - share)
        found: Floats = np.where(np.isnan(earned) & np.isnan(lost), np.nan, parts)
        return found


def f_beta(beta: float) -> Objective:
    """Return the F score in which recall weighs `beta` times as much as precision.

    Examples
    --------
    >>> from driftlab.evaluation.thresholds import curve
    >>> from driftlab.trace.schema import Span, TraceInfo
    >>> labels = Labels.of([TraceInfo(id="a", label="stalled", stalls=(Span(0),))], np.array([1]))
    >>> f_beta(1)(curve(np.array([0.5]), np.array([0, 1]), labels)).tolist()
    [1.0]
    """
    if not beta > 0:
        raise InputError(f"beta must be above 0, got {beta!r}")
    # Van Rijsbergen (1979): recall is held beta times as important as precision.
    square = beta**2

    def objective(curve: Curve) -> Floats:
        p, r = curve.precision, curve.recall
        found: Floats = ratio((1 + square) * p * r, square * p + r)
        return np.where(np.isnan(p) | np.isnan(r), np.nan, np.nan_to_num(found))

    return objective


OBJECTIVES: Registry[Objective] = Registry(
    "objective",
    {
        "saved": lambda curve: curve.saved,
        "recall": lambda curve: curve.recall,
        "youden": lambda curve: curve.youden,
        "f1": f_beta(1),
        "f0.5": f_beta(0.5),
        "f2": f_beta(2),
    }.items(),
)


def objective_named(objective: str | Objective) -> Objective:
    """Return what a name in `OBJECTIVES` stands for; a function of a curve is returned as it is.

    Examples
    --------
    >>> objective_named("youdon")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    driftlab.InputError: unknown objective 'youdon'; did you mean 'youden'? known: f0.5, f1, f2, ...
    """
    return objective if callable(objective) else OBJECTIVES[objective]


@dataclass(frozen=True, eq=False)
class Choice:
    """The best threshold of one detector on each of several sets of traces.

    Attributes
    ----------
    detector : Detector
    objective : (n_sets,) array
        -inf where no threshold is allowed.
    place : (n_sets,) int array
        Where in the curve the best threshold is; of equally good ones the highest, which stops fewest.
    curve : Curve
        Counts of all sets.
    scores : (n_steps_in_all,) array
    """

    detector: Detector
    objective: Floats
    place: Ints
    curve: Curve
    scores: Floats

    def threshold(self, row: int = 0) -> float:
        """Middle of the range of thresholds that a set of traces cannot tell from the best one; `inf` without any."""
        if not np.isfinite(self.objective[row]):
            return math.inf
        c, place = self.curve, int(self.place[row])
        counts = np.stack([each[row] for each in (c.hit, c.premature, c.late, c.false_stop, c.saved_steps)])
        moves = np.flatnonzero((np.diff(counts, axis=1) != 0).any(axis=0))
        after, before = moves[moves >= place], moves[moves < place]
        low = float(c.thresholds[before[-1]]) if len(before) else 0.0
        high = float(c.thresholds[after[0] if len(after) else -1])
        margin, middle = margin_of(self.detector), low + (high - low) / 2
        # Other traces may score inside the range: the threshold goes to the middle of a gap they leave.
        below = float(self.scores[self.scores <= middle].max(initial=low))
        cut = above(max(low, below), self.scores, margin)
        return cut if cut <= high else above(low, self.scores, margin)

    def rates(self, row: int = 0) -> dict[str, float]:
        """Return share saved, recall and false-stop rate on the set itself: the best of many, so too good."""
        if not np.isfinite(self.objective[row]):  # no alarm: 0 of those there are
            curve = self.curve
            whole = {"saved": curve.stalled_steps, "recall": curve.n_stalled, "false_stop_rate": curve.n_good}
            return {name: float(ratio(0, count[row, 0])) for name, count in whole.items()}
        place = self.place[row]
        return {n: float(getattr(self.curve, n)[row, place]) for n in RATES}


def choices(
    scores: Mapping[Detector, Floats],
    offsets: Ints,
    labels: Labels,
    members: NDArray[np.bool_],
    *,
    objective: str | Objective = "saved",
    limit: float | None = None,
) -> list[Choice]:
    """Find each detector's best threshold on each set of traces.

    Parameters
    ----------
    scores : mapping of Detector to (n_steps_in_all,) array
    offsets, labels
        As for `thresholds.curve`.
    members : (n_sets, n_traces) bool array
        The traces of each set.
    objective : str or callable
        A name in `OBJECTIVES`, or a function from a curve to a number a threshold, the larger the better.
    limit : float, optional
        Largest false-stop rate allowed on the set.

    Examples
    --------
    >>> from driftlab.detectors import StepCount
    >>> from driftlab.trace.schema import Span, TraceInfo
    >>> infos = [TraceInfo(id="a", label="stalled", stalls=(Span(0),)), TraceInfo(id="b", label="good")]
    >>> labels, everyone = Labels.of(infos, np.array([2, 1])), np.ones((1, 2), dtype=bool)
    >>> choices({StepCount(): np.array([0.5, 0.75, 0.25])}, np.array([0, 2, 3]), labels, everyone)[0].threshold()
    0.375
    """
    value = objective_named(objective)
    return [_best(each, own, curves(own, offsets, labels, members), value, limit) for each, own in scores.items()]


def _best(detector: Detector, scores: Floats, curve: Curve, objective: Objective, limit: float | None) -> Choice:
    value = np.asarray(objective(curve), dtype=np.float64)
    allowed = ~np.isnan(value) if limit is None else ~np.isnan(value) & (curve.false_stop_rate <= limit)
    value = np.where(allowed, value, -math.inf)
    if not value.shape[1]:  # every score is 0: there is no threshold
        value = np.full((len(value), 1), -math.inf)
    # Of equal values the last, the highest threshold: it stops fewest runs that nobody asked about.
    place = value.shape[1] - 1 - value[:, ::-1].argmax(axis=1)
    return Choice(detector, value.max(axis=1), place, curve, scores)


def margin_of(detector: Detector) -> float:
    """Return how far a threshold must stay from any score: law 4 where a model makes the deltas, else 0."""
    return MARGIN if any(hasattr(each, "model") for each in detector.needs) else 0.0


def above(line: float, scores: Floats, margin: float = 0.0) -> float:
    """Return the midpoint of the first gap between observed scores above a line; `inf` if there is none.

    Parameters
    ----------
    line : float
        A score that must not raise an alarm.
    scores : array
        Every observed score.
    margin : float
        Least distance to any observed score.

    Examples
    --------
    >>> above(0.5, np.array([0.25, 0.5, 0.75, 1.0])), above(1.0, np.array([1.0]))
    (0.625, inf)
    """
    higher = np.unique(scores[scores > line])
    edges = np.concatenate([[line], higher])
    wide = np.flatnonzero(np.diff(edges) > 2 * margin)
    if not len(wide):
        return math.inf
    low, high = edges[wide[0]], edges[wide[0] + 1]
    middle = float(low + (high - low) / 2)
    # Two neighbouring floats have no number between them; the upper one is a threshold that spares the lower.
    return middle if low < middle else float(high)


def value_at(threshold: float, curve: Curve, objective: Objective) -> float:
    """Return what one threshold is worth, whichever were tried; -inf where it alarms nowhere.

    Examples
    --------
    >>> from driftlab.evaluation.thresholds import curve
    >>> from driftlab.trace.schema import Span, TraceInfo
    >>> labels = Labels.of([TraceInfo(id="a", label="stalled", stalls=(Span(0),))], np.array([2]))
    >>> found = curve(np.array([0.5, 0.75]), np.array([0, 2]), labels)
    >>> [value_at(threshold, found, OBJECTIVES["saved"]) for threshold in (0.25, 0.6, 0.9)]
    [0.5, 0.0, -inf]
    """
    place = int(np.searchsorted(curve.thresholds, threshold, "left"))
    value = float(objective(curve)[place]) if place < len(curve.thresholds) else -math.inf
    return -math.inf if math.isnan(value) else value


def ordered(chosen: Iterable[Choice], row: int = 0) -> list[dict[str, Any]]:
    """Return one row a detector for one set of traces, best first; ties keep the order they were asked in."""
    rows = [
        {"detector": each.detector, "objective": float(each.objective[row]), "threshold": each.threshold(row)}
        | each.rates(row)
        for each in chosen
    ]
    if not rows:
        raise InputError("there is no detector to choose from; name at least one metric whose signal made no label")
    return sorted(rows, key=lambda each: -each["objective"])
