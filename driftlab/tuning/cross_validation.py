"""What choosing a rule achieves on problems it has not seen: nested, repeated, grouped cross-validation."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftlab._util.extras import need
from driftlab.detectors import Detector, first_alarms, score
from driftlab.evaluation.labels import OUTCOMES, Floats, Ints, Labels, coded
from driftlab.evaluation.rates import Rates
from driftlab.evaluation.stats import LEVEL, cluster_weights, percentile
from driftlab.metrics.measurements import Measurements
from driftlab.trace.split import problems
from driftlab.tuning.certificate import certified, maxima_of, one_a_problem
from driftlab.tuning.folds import deal
from driftlab.tuning.objective import Choice, Objective, choices

DRAWS = 1000


@dataclass(frozen=True)
class Procedure:
    """How a rule is made: chosen by an objective within a limit, then certified on problems that chose nothing.

    Attributes
    ----------
    objective : str or callable
        See `objective.OBJECTIVES`.
    limit : float or None
        Largest false-stop rate.
    certify : bool
        False keeps the threshold that was chosen.
    risk : float or None
        Of the certificate; None is the mean promise.
    share : float
        Of the problems that choose; the rest certifies, 1.0 leaves none.
    """

    objective: str | Objective = "youden"
    limit: float | None = None
    certify: bool = False
    risk: float | None = None
    share: float = 1.0


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Out-of-fold decisions of a procedure, the whole choice repeated in every fold.

    Attributes
    ----------
    table : pandas.DataFrame
        One row a fold, as scikit-learn's ``cv_results_``: repeat, fold, detector, threshold, n_stalled, n_good,
        recall, false_stop_rate, saved, youden.
    recall, false_stop_rate, saved, precision, youden : float
        Of the pooled decisions, the mean over repeats; `nan` where a class is absent.
    intervals : dict of str to (float, float)
        Of those, by bootstrap over problems, widened for the training sets that folds share.
    repeats : dict of str to (float, float)
        Lowest and highest repeat: what the split alone decides.
    reported : float
        Youden's index of the best rule on the same traces that chose it.
    why : str
        Why nothing could be estimated; empty when it could.
    """

    table: Any
    recall: float
    false_stop_rate: float
    saved: float
    precision: float
    youden: float
    intervals: dict[str, tuple[float, float]]
    repeats: dict[str, tuple[float, float]]
    reported: float
    why: str = ""

    @property
    def optimism(self) -> float:
        """How much of Youden's index the choice on the same traces made up."""
        return self.reported - self.youden

    @property
    def stable(self) -> bool:
        """Whether the lower bound of Youden's index lies above 0: there are enough traces to choose."""
        return self.intervals.get("youden", (math.nan, math.nan))[0] > 0

    def __str__(self) -> str:
        if self.why:
            return f"on new problems nothing is known: {self.why}"
        low, high = self.intervals["youden"]
        few = "" if self.stable else "; too few traces to choose: this may be luck"
        return (
            f"on new problems: recall {self.recall:.2f}, {self.saved:.0%} of stalled steps saved, false-stop rate "
            f"{self.false_stop_rate:.3f}, Youden {self.youden:.2f} [{low:.2f}, {high:.2f}] "
            f"(same traces: {self.reported:.2f}){few}"
        )


def cross_validate(
    measured: Measurements,
    detectors: Sequence[Detector],
    procedure: Procedure = Procedure(),
    *,
    folds: int = 5,
    repeats: int = 5,
    seed: int = 0,
) -> CrossValidation:
    """Estimate what a procedure achieves on new problems.

    In every fold detector, patience and threshold are chosen again on the other folds, and certified there
    where the procedure certifies; the decisions on the fold left out are pooled. Folds hold whole problems.

    Parameters
    ----------
    measured : Measurements
        With the columns the detectors need.
    detectors : sequence of Detector
    procedure : Procedure
    folds, repeats, seed : int

    Returns
    -------
    CrossValidation

    Examples
    --------
    >>> from driftlab.detectors import Plateau
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Span, Step, Trace
    >>> loops = [Trace(id=f"l{n}", label="stalled", stalls=[Span(1)], steps=[Step(state="x")] * 4) for n in range(9)]
    >>> work = [Trace(id=f"w{n}", label="good", steps=[Step(state=s) for s in "abcd"]) for n in range(9)]
    >>> found = cross_validate(measure(loops + work, ["exact"]), [Plateau("exact", "run(2)")], repeats=1)
    >>> found.youden, found.intervals["youden"]
    (1.0, (1.0, 1.0))
    """
    # Varma and Simon (2006): the best of many, judged where it was chosen, looks better than it is. So the whole
    # choice is made again in every fold, and judged on problems it has not met.
    labels = Labels.of(measured.infos, measured.lengths)
    place = deal(measured.infos, labels, folds, repeats, seed)
    if place is None or not detectors:
        return untold("one class only, or fewer than 2 problems of each" if detectors else "no detector to choose from")
    scores = score(measured, detectors)
    train = np.concatenate([row != np.arange(row.max() + 1)[:, None] for row in place])
    choosing = _choosing(measured, train, procedure, seed)
    # The last set is everything: what a choice on the same traces would report.
    everyone = np.vstack([choosing, np.ones(len(labels.lengths), dtype=bool)])
    chosen = choices(scores, measured.offsets, labels, everyone, objective=procedure.objective, limit=procedure.limit)
    rules = [_rule(chosen, row, measured, train[row] & ~choosing[row], procedure) for row in range(len(train))]
    return _pooled(rules, place, measured, labels, _reported(chosen))


Rule = tuple[Detector, float, Floats]


def _choosing(measured: Measurements, train: NDArray[np.bool_], procedure: Procedure, seed: int) -> NDArray[np.bool_]:
    """Which training traces choose."""
    if procedure.share == 1:
        return train
    rows = []
    groups = [info.group for info in measured.infos]
    for number, inside in enumerate(train):
        first = problems((groups[row] for row in np.flatnonzero(inside)), procedure.share, seed + number)
        rows.append(inside & np.array([group in first for group in groups]))
    return np.stack(rows)


def _rule(chosen: Sequence[Choice], row: int, measured: Measurements, rest: NDArray[np.bool_], how: Procedure) -> Rule:
    # Of equals the first asked for: a tie may not depend on the order of a set.
    best = max(chosen, key=lambda each: each.objective[row])
    if not how.certify or how.limit is None:
        return best.detector, best.threshold(row), best.scores
    inside = np.flatnonzero(rest)
    part = Measurements(tuple(measured.infos[i] for i in inside), np.zeros(1, dtype=np.int64), {})
    rows = inside[one_a_problem(part, row)] if len(inside) else inside
    maxima = maxima_of(best.scores, measured.offsets, rows.tolist())
    return best.detector, certified(maxima, best.scores, best.detector, how.limit, how.risk).threshold, best.scores


def _reported(chosen: Sequence[Choice]) -> float:
    best = max(chosen, key=lambda each: each.objective[-1])
    if not np.isfinite(best.objective[-1]):
        return 0.0  # nothing is allowed: no alarm, no false stop
    rates = best.rates(-1)
    return rates["recall"] - rates["false_stop_rate"]


def _pooled(
    rules: Sequence[Rule], place: Ints, measured: Measurements, labels: Labels, reported: float
) -> CrossValidation:
    """Join the decisions of all folds, each on the traces that were left out of it."""
    alarms, rows, number = np.full(place.shape, -1, dtype=np.int64), [], 0
    for repeat, folds in enumerate(place):
        for fold in range(int(folds.max()) + 1):
            detector, threshold, scores = rules[number]
            inside = folds == fold
            alarms[repeat, inside] = first_alarms(scores, measured.offsets, threshold)[inside]
            own_rates = _rates(alarms[[repeat]][:, inside], labels.take(inside))
            rates = {name: float(value[0]) for name, value in own_rates.items()}
            at = {"repeat": repeat, "fold": fold, "detector": repr(detector), "threshold": threshold}
            counts = {"n_stalled": int(labels.stalled[inside].sum()), "n_good": int(labels.good[inside].sum())}
            rows.append(at | counts | rates)
            number += 1
    # Pooled over folds, then averaged over repeats: a fold has too few stalled traces for a recall of its own.
    single = _rates(alarms, labels)
    means: dict[str, Any] = {name: float(np.mean(values)) for name, values in single.items()}
    intervals = _intervals(alarms, measured, labels, means, int(place.max()) + 1)
    ranges = {name: (float(values.min()), float(values.max())) for name, values in single.items()}
    table = need("pandas", "study").DataFrame(rows)
    return CrossValidation(table, **means, intervals=intervals, repeats=ranges, reported=reported)


RATES = ("recall", "false_stop_rate", "saved", "precision", "youden")


@dataclass(frozen=True, eq=False)
class _Decisions(Rates):
    """Counts of several rows of decisions, or of bootstrap draws, all (n,)."""

    hit: Floats
    premature: Floats
    late: Floats
    false_stop: Floats
    saved_steps: Floats
    n_stalled: Floats
    n_good: Floats
    stalled_steps: Floats


def _rates(alarms: Ints, labels: Labels, weights: NDArray[Any] | None = None) -> dict[str, Floats]:
    """Rates of several rows of alarms; with weights (n_traces, n_draws), of each draw, rows averaged."""
    code = coded(alarms, labels)
    hit, premature, late, stop = (code == OUTCOMES.index(name) for name in ("hit", "premature", "late", "false stop"))
    whole = (labels.stalled, labels.good, labels.stalled * labels.lengths)
    each = [hit, premature, late, stop, hit * (labels.lengths - 1 - alarms)]
    each += [np.broadcast_to(part, alarms.shape) for part in whole]
    counted = np.stack(each).astype(np.float64)
    decisions = _Decisions(*(counted.sum(axis=2) if weights is None else counted.mean(axis=1) @ weights))
    return {name: getattr(decisions, name) for name in RATES}


def _intervals(
    alarms: Ints, measured: Measurements, labels: Labels, means: Mapping[str, float], folds: int
) -> dict[str, tuple[float, float]]:
    """Bootstrap over problems, widened because folds share what they learn from (Nadeau and Bengio, 2003).

    The decisions of k folds vary as if independent; their training sets overlap, which adds k / (k - 1) times
    that variance.
    """
    weights = cluster_weights([info.group for info in measured.infos], DRAWS, 0)
    # With test share 1 / k: variance times 1 + k * n_test / n_train = 1 + k / (k - 1), their corrected resampled
    # t-test.
    wider, intervals = math.sqrt(1 + folds / (folds - 1)), {}
    for name, values in _rates(alarms, labels, weights).items():
        low, high = (means[name] + wider * (bound - means[name]) for bound in percentile(values, LEVEL))
        least = -1.0 if name == "youden" else 0.0
        intervals[name] = (float(np.clip(low, least, 1.0)), float(np.clip(high, least, 1.0)))
    return intervals


def untold(why: str) -> CrossValidation:
    """Return the estimate that says nothing, and why.

    Examples
    --------
    >>> print(untold("the rule only watches"))
    on new problems nothing is known: the rule only watches
    """
    empty: Mapping[str, Any] = dict.fromkeys(RATES, math.nan)
    undefined = dict.fromkeys(RATES, (math.nan, math.nan))
    return CrossValidation(
        need("pandas", "study").DataFrame(), **empty, intervals=undefined, repeats=undefined, reported=math.nan, why=why
    )


__all__ = ["CrossValidation", "Procedure", "cross_validate", "untold"]
