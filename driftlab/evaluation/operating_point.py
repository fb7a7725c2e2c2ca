"""What a rule does on labelled traces at one threshold, every rate with its interval."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftlab._util.extras import need
from driftlab.detectors import Detector, first_alarms
from driftlab.evaluation.cost import cost
from driftlab.evaluation.labels import Floats, Ints, Labels, outcomes, ratio
from driftlab.evaluation.stats import LEVEL, clustered, normal_reach
from driftlab.evaluation.tally import delays_of, tally
from driftlab.metrics.columns.spent import UNITS
from driftlab.metrics.measurements import Measurements

__all__ = ["operating_point", "per_100", "risk"]

Row = dict[str, Any]


def operating_point(
    measured: Measurements,
    scores: Floats,
    detector: Detector,
    threshold: float,
    *,
    prevalence: float | None = None,
    level: float = LEVEL,
) -> Row:
    """Return one row of everything a rule does at one threshold.

    Intervals of shares are Wilson's with the number of traces that runs of the same problems are worth;
    recall never comes without the share saved.

    Parameters
    ----------
    measured : Measurements
        Labelled traces.
    scores : (n_steps_in_all,) array
    detector : Detector
    threshold : float
        `inf` never alarms.
    prevalence : float, optional
        Share of stalled runs in the fleet the rule is meant for; default: the share here.
    level : float
        Of the intervals.

    Returns
    -------
    dict
        threshold; n_stalled, n_good, undetectable; prevalence; precision, recall, false_stop_rate, each with
        _low, _high; precision_at (the prevalence asked for); attainable (recall); saved; premature, late, miss
        (traces); false_stops_per_100 with _low, _high (good steps, up to the alarm); delay (median), delay_mean,
        delay_90 (9 of 10 hits are as fast), wasted_steps, lost_steps; and saved_, wasted_, lost_ with tokens and
        seconds where steps tell them.

    Examples
    --------
    >>> from driftlab.detectors import StepCount
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> measured = measure([Trace(id="a", label="good", steps=[Step()] * 3)], StepCount().needs)
    >>> found = operating_point(measured, StepCount().scores(measured), StepCount(), 0.5)
    >>> found["false_stop_rate"], found["recall"], found["false_stops_per_100"]
    (1.0, nan, 50.0)
    """
    # Intervals here describe these traces at a threshold that was fixed beforehand. Where the threshold was chosen
    # on them they are too narrow: `cross_validate` and `certify` are for that.
    labels = Labels.of(measured.infos, measured.lengths)
    alarms = first_alarms(scores, measured.offsets, threshold)
    counts, named = tally(alarms, labels, detector.patience), outcomes(alarms, labels)
    groups = np.array([info.group for info in measured.infos], dtype=object).reshape(-1, 2)
    # Recall and the false-stop rate do not depend on how many runs stall; precision does, so its prevalence stands
    # beside it.
    here = float(ratio(counts.n_stalled, counts.n_stalled + counts.n_good))
    row: Row = {"threshold": threshold, "n_stalled": counts.n_stalled, "n_good": counts.n_good}
    row |= {"undetectable": counts.undetectable, "prevalence": here}
    fired = (labels.stalled | labels.good) & (alarms >= 0)
    shares = {
        "precision": ("hit", fired),
        "recall": ("hit", labels.stalled),
        "false_stop_rate": ("false stop", labels.good),
    }
    for name, (word, among) in shares.items():
        row |= _share(name, (named == word)[among], groups[among], level)
    row |= {"precision_at": counts.precision_at(here if prevalence is None else prevalence)}
    row |= {"attainable": counts.attainable, "saved": counts.saved}
    row |= {"premature": counts.premature, "late": counts.late, "miss": counts.miss}
    row |= per_100(counts.false_stop, counts.good_steps - counts.lost_steps, level)
    delays = delays_of(alarms, labels)
    slow = float(np.quantile(delays, 0.9)) if len(delays) else math.nan
    row |= {"delay": counts.delay, "delay_mean": counts.mean_delay, "delay_90": slow}
    row |= {"wasted_steps": counts.wasted_steps, "lost_steps": counts.lost_steps}
    return row | _costs(alarms, labels, measured)


def per_100(count: int, steps: int, level: float = LEVEL) -> Row:
    """Return false stops per 100 watched steps of good traces with the exact Poisson interval.

    Examples
    --------
    >>> {name: round(value, 2) for name, value in per_100(2, 400).items()}
    {'false_stops_per_100': 0.5, 'false_stops_per_100_low': 0.06, 'false_stops_per_100_high': 1.81}
    """
    names = ("false_stops_per_100", "false_stops_per_100_low", "false_stops_per_100_high")
    if not steps:
        return dict.fromkeys(names, math.nan)
    # Garwood (1936): a false stop ends its run, so over many steps their number is close to Poisson.
    exact = need("statsmodels.stats.rates", "study").confint_poisson
    low, high = exact(count, steps, method="exact-c", alpha=1 - level)
    # Without an event the library's lower quantile is undefined; the bound is 0.
    return dict(zip(names, (100 * count / steps, 100 * float(np.nan_to_num(low)), 100 * float(high)), strict=True))


def risk(alarms: Ints, labels: Labels, level: float = LEVEL) -> Any:
    """Return the cumulative risk of a false stop by step (Kaplan-Meier): good runs that ended are censored.

    Returns
    -------
    pandas.DataFrame
        One row a step at which a good run was stopped: step (from 0), at_risk, risk, low, high (Greenwood).

    Examples
    --------
    >>> from driftlab.trace.schema import TraceInfo
    >>> labels = Labels.of([TraceInfo(id=i, label="good") for i in "abcd"], np.array([2, 9, 9, 9]))
    >>> risk(np.array([-1, 4, -1, -1]), labels)[["step", "at_risk", "risk"]].round(3).values.tolist()
    [[4.0, 3.0, 0.333]]
    """
    good = labels.good & (labels.lengths > 0)
    stopped = alarms[good] >= 0
    pandas = need("pandas", "study")
    if not stopped.any():
        return pandas.DataFrame({name: [] for name in ("step", "at_risk", "risk", "low", "high")})
    # A good run that ended without a stop might have been stopped later: it is censored there, not counted as
    # spared.
    last = np.where(stopped, alarms[good], labels.lengths[good] - 1)
    # The library wants times above 0 and censors after events: step t is time t + 1.
    fitted = need("statsmodels.duration.survfunc", "study").SurvfuncRight(last + 1, stopped)
    cumulative, reach = 1 - fitted.surv_prob, normal_reach(level) * np.nan_to_num(fitted.surv_prob_se)
    columns = {"step": fitted.surv_times - 1, "at_risk": fitted.n_risk, "risk": cumulative}
    columns |= {"low": np.clip(cumulative - reach, 0, 1), "high": np.clip(cumulative + reach, 0, 1)}
    return pandas.DataFrame(columns)


def _share(name: str, flags: NDArray[np.bool_], groups: NDArray[Any], level: float) -> Row:
    low, high = clustered(flags, [tuple(group) for group in groups], level=level)
    value = float(flags.mean()) if len(flags) else math.nan
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def _costs(alarms: Ints, labels: Labels, measured: Measurements, units: Iterable[str] = UNITS) -> Row:
    row: Row = {}
    for unit in units:
        costs = cost(alarms, labels, measured, unit)
        if costs is not None:
            row |= {f"{word}_{unit}": getattr(costs, word) for word in ("saved", "wasted", "lost")}
    return row
