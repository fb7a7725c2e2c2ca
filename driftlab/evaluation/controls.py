"""A score beside everything that knows nothing: length, age, noise, who produced the run."""

import math
from typing import Any

import numpy as np

from driftlab._util.extras import need
from driftlab.detectors import Detector, Plateau, Run
from driftlab.evaluation.auc import Auc
from driftlab.evaluation.evaluation import Evaluation
from driftlab.evaluation.labels import Floats, Ints, ratio
from driftlab.evaluation.ranking import Ranking, maxima
from driftlab.evaluation.stats import LEVEL

__all__ = ["LOUD", "average_precision", "control_rows", "controls", "steps_trace", "warning"]

Row = dict[str, Any]

LOUD = 0.6  # a setup control above this says that labels and setups hang together


def controls(evaluation: Evaluation, scores: Floats, detector: Detector, *, level: float = LEVEL) -> Row:
    """Return one row of a score beside all controls.

    Parameters
    ----------
    evaluation : Evaluation
        Of one task.
    scores : (n_steps_in_all,) array
    detector : Detector
        Whose accumulator the placebo goes through.
    level : float
        Of the intervals.

    Returns
    -------
    dict
        auc, auc_low, auc_high and average_precision at equal age; auc_trace over whole traces, which length
        decides, with steps_trace (the step counter there) and placebo_trace (noise there); for steps, placebo and
        setup the control's own AUC, and over_* with _low, _high, the paired difference to it; placebo_low and
        placebo_high, the band over draws of noise; for matched (length), problem, setup (same_*) and landmark the
        AUC among those traces with _low, _high and the number of pairs; warning, in words.

    Examples
    --------
    >>> from driftlab.detectors import StepCount
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Span, Step, Trace
    >>> loops = [Trace(id=f"l{n}", label="stalled", stalls=[Span(0)], steps=[Step()] * 9) for n in range(9)]
    >>> work = [Trace(id=f"w{n}", label="good", steps=[Step()] * 6) for n in range(20)]
    >>> counter = StepCount()
    >>> evaluation = Evaluation(measure(loops + work, counter.needs), draws=50)
    >>> found = controls(evaluation, counter.scores(evaluation.measurements), counter)
    >>> found["auc"], found["auc_trace"], found["over_steps"], found["pairs_matched"]
    (0.5, 1.0, 0.0, 0)
    """
    # Every control answers "could this area have come from something that knows nothing of the loop?": from age
    # (steps), from chance and the accumulator (placebo), from who made the run (setup), from length (matched,
    # landmark).
    ranked, offsets = evaluation.rank(scores), evaluation.measurements.offsets
    row = _area("auc", ranked, level)
    row |= {"average_precision": average_precision(evaluation.ranking, scores, offsets)}
    row |= {"auc_trace": evaluation.whole.auc(scores, offsets), "steps_trace": steps_trace(evaluation)}
    row |= {"placebo_trace": float(np.mean(evaluation.noise_areas(detector, evaluation.whole)))}
    placebo, setup = evaluation.placebo(detector), evaluation.setup()
    # The setup is ranked within folds, where its rate was not learned; the score must be compared on the same
    # pairs.
    in_folds = evaluation.rank(scores, evaluation.within_fold)
    for name, own, control in (
        ("steps", ranked, evaluation.steps()),
        ("placebo", ranked, placebo),
        ("setup", in_folds, setup),
    ):
        row |= {name: control.auc} | _over(name, own, control, level)
    row |= dict(zip(("placebo_low", "placebo_high"), placebo.band(level), strict=True))
    row |= dict(zip(("setup_low", "setup_high"), setup.interval(level), strict=True))
    for name, ranking in _alike(evaluation).items():
        row |= _area(name, evaluation.rank(scores, ranking), level) | {f"pairs_{name}": ranking.n_pairs}
    return row | {"warning": warning(row)}


def warning(row: Row) -> str:
    """Say where the setup may be what is measured; empty where it is not.

    Examples
    --------
    >>> warning({"setup": 0.8, "over_setup": -0.1})
    'setup alone ranks at 0.80 and beats this score: read same_setup, not auc'
    """
    if not row["setup"] > LOUD and not row["over_setup"] < 0:
        return ""
    beats = " and beats this score" if row["over_setup"] < 0 else ""
    return f"setup alone ranks at {row['setup']:.2f}{beats}: read same_setup, not auc"


def average_precision(ranking: Ranking, scores: Floats, offsets: Ints, prevalence: float | None = None) -> float:
    """Return the average precision over the traces that are compared; `nan` without any.

    Good traces weigh so that every stalled trace meets as many as it is compared with on average: at a
    random score the result is the prevalence.

    Parameters
    ----------
    prevalence : float, optional
        Share of stalled runs; default: of the traces compared.

    Examples
    --------
    >>> from driftlab.evaluation.ranking import Stratum
    >>> ranking = Ranking((Stratum(np.array([0]), np.array([1, 2]), 0, 1),))
    >>> average_precision(ranking, np.array([0.5, 0.75, 0.25]), np.arange(4))
    0.5
    """
    if not ranking.strata:
        return math.nan
    pairs = [maxima(scores, offsets, stratum) for stratum in ranking.strata]
    share = ratio(ranking.n_stalled, ranking.n_stalled + len(ranking.good)) if prevalence is None else prevalence
    if not 0 < share < 1:
        return math.nan
    # Precision depends on how many runs stall. Good traces are weighed to the prevalence, which keeps equal-age
    # strata.
    odds = (1 - share) / share
    values = np.concatenate([np.concatenate(pair) for pair in pairs])
    weights = np.concatenate([[1.0] * len(high) + [odds * len(high) / len(good)] * len(good) for high, good in pairs])
    kind = np.concatenate([[1] * len(high) + [0] * len(good) for high, good in pairs])
    average = need("sklearn.metrics", "study").average_precision_score
    return float(average(kind, values, sample_weight=weights))


def control_rows(task: str, evaluation: Evaluation) -> list[Row]:
    """Return the rows of the placebo and of the setup, which have no detector of their own, for a table of a task."""
    placebo, setup = evaluation.placebo(Plateau(accumulator=Run(1))), evaluation.setup()
    return [
        _row(task, "placebo", "control: noise", placebo, evaluation.horizon),
        _row(task, "setup", "control: who produced the run", setup, evaluation.horizon),
    ]


def _row(task: str, name: str, words: str, ranked: Auc, horizon: int | None) -> Row:
    # For noise the range of its single draws says what one noisy metric may reach; the mean spreads less.
    low, high = ranked.band() if len(ranked.noises) else ranked.interval()
    row: Row = {"verdict": words, "task": task, "detector": name, "metric": name, "view": "", "accumulator": ""}
    row |= {"auc": ranked.auc, "auc_low": low, "auc_high": high, "horizon": horizon}
    return row | {"n_stalled": ranked.n_stalled, "n_good": ranked.n_good, "tried": 1}


def steps_trace(evaluation: Evaluation) -> float:
    """Return the AUC of the step counter over whole traces: what length alone is worth here.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Span, Step, Trace
    >>> loop = Trace(id="l", label="stalled", stalls=[Span(0)], steps=[Step()] * 9)
    >>> work = Trace(id="w", label="good", steps=[Step()] * 6)
    >>> steps_trace(Evaluation(measure([loop, work], ["exact"])))
    1.0
    """
    lengths = evaluation.measurements.lengths
    counter = np.concatenate([np.arange(n, dtype=np.float64) for n in lengths]) if len(lengths) else np.zeros(0)
    return evaluation.whole.auc(counter, evaluation.measurements.offsets)


def _alike(evaluation: Evaluation) -> dict[str, Ranking]:
    return {
        "matched": evaluation.length_matched,
        "same_problem": evaluation.within_problem,
        "same_setup": evaluation.within_setup,
        "landmark": evaluation.landmark,
    }


def _area(name: str, ranked: Auc, level: float) -> Row:
    low, high = ranked.interval(level)
    return {name: ranked.auc, f"{name}_low": low, f"{name}_high": high}


def _over(name: str, ranked: Auc, control: Auc, level: float) -> Row:
    low, high = ranked.over(control, level) if not math.isnan(control.auc) else (math.nan, math.nan)
    return {f"over_{name}": ranked.auc - control.auc, f"over_{name}_low": low, f"over_{name}_high": high}
