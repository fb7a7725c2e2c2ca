"""Whether a rule pays: cost curve, the fleet's prevalence, when not to use one."""

import math
from collections.abc import Iterable
from typing import Any

from driftlab._util.extras import need
from driftlab.evaluation.labels import ratio
from driftlab.evaluation.stats import proportion
from driftlab.evaluation.tally import Tally
from driftlab.evaluation.thresholds import Curve
from driftlab.tuning.objective import Price

__all__ = ["SOFT", "advice", "cost_curve"]

SLOW = 0.1  # so small a share saved is not worth a mechanism
SOFT = ("do not deploy yet: ", "do not stop by it: ")  # reasons that leave a rule good enough to flag


def cost_curve(curve: Curve, price: Price) -> Any:
    """Return what every threshold earns a run; doing nothing earns 0.

    Returns
    -------
    pandas.DataFrame
        Columns: threshold, earned (per run, in the currency of the price), recall, saved, false_stop_rate. The
        last row is the threshold `inf`: no rule at all.

    Examples
    --------
    >>> import numpy as np
    >>> from driftlab.evaluation.thresholds import curve
    >>> from driftlab.trace.schema import Span, TraceInfo
    >>> from driftlab.evaluation.labels import Labels
    >>> infos = [TraceInfo(id="a", label="stalled", stalls=(Span(0),)), TraceInfo(id="b", label="good")]
    >>> found = curve(np.array([1.0, 1, 1, 0.5, 0]), np.array([0, 3, 5]), Labels.of(infos, np.array([3, 2])))
    >>> cost_curve(found, Price(false_stop=10, wasted_step=1))[["threshold", "earned"]].values.tolist()
    [[0.5, -4.0], [1.0, 1.0], [inf, 0.0]]
    """
    columns = {"threshold": curve.thresholds, "earned": price(curve), "recall": curve.recall, "saved": curve.saved}
    table = need("pandas", "study").DataFrame(columns | {"false_stop_rate": curve.false_stop_rate})
    whole = (curve.n_stalled, curve.stalled_steps, curve.n_good)
    table.loc[len(table)] = [math.inf, 0.0, *(ratio(0, count) for count in whole)]
    return table


def advice(
    verdict: str,
    counts: Tally,
    *,
    precision: float = math.nan,
    price: Price | None = None,
    limit: float | None = None,
    cap: float | None = None,
    blind: str = "",
    luck: str = "",
) -> tuple[bool, tuple[str, ...]]:
    """Say whether to deploy a rule, and every reason not to, in words.

    Parameters
    ----------
    verdict : str
        Of the rule's metric beside its controls (`auc.verdict`); empty where there was none.
    counts : Tally
        On traces that did not choose the rule.
    precision : float
        At the fleet's prevalence.
    price : Price, optional
        What a false stop and a wasted step cost; a rule that earns nothing at it is none.
    limit : float, optional
        Share of good traces that may be stopped; without one no promise can be broken.
    cap : float, optional
        Share of stalled steps that counting steps saves within the same limit.
    blind, luck : str
        Why the rule has no finite threshold; why nested cross-validation cannot tell the choice from luck. Empty
        where neither is so.

    Returns
    -------
    (bool, tuple of str)
        Whether to deploy; the reasons against, or the one for it. A reason that begins with one of `SOFT` leaves
        the rule good enough to flag.

    Examples
    --------
    >>> useless = Tally(0, 0, 0, 10, 2, 8, 0, 0, 90, 0, 70, float("nan"))
    >>> advice("not better than steps", useless)[1][0]
    'do not deploy: the metric is not better than steps'
    """
    # All reasons, not the first: who fixes one should know of the next.
    against = list(_unproven(verdict))
    against += [f"do not deploy: the rule can only watch: {blind}"] if blind else _harmful(counts, limit, cap)
    if price is not None and not float(price(counts)) > 0:
        against.append(f"do not deploy: at {price} it earns {float(price(counts)):.2f} a run")
    if luck:
        against.append(f"do not deploy: there are too few traces to choose from, this may be luck: {luck}")
    if precision < 0.5:
        wrong = f"at your prevalence {1 - precision:.0%} of alarms would be wrong"
        against.append(f"do not stop by it: {wrong}; flag instead")
    if against:
        return False, tuple(against)
    return True, (f"deploy: {counts.hit} of {counts.n_stalled} stalls hit, {counts.saved:.0%} of their steps saved",)


def _unproven(verdict: str) -> Iterable[str]:
    """What the controls say against the metric."""
    if verdict.startswith("circular"):
        yield f"do not deploy: {verdict}; measure it against labels it did not make"
    if verdict.startswith("undefined"):
        why = verdict.removeprefix("undefined: ")
        yield f"do not deploy: nobody can tell whether the metric detects stalls: {why}"
    if verdict.startswith(("not better", "unreachable", "absent")):
        yield f"do not deploy: the metric is {verdict}"
    if "setup" in verdict and "not explained" not in verdict:
        yield f"do not deploy yet: the metric {verdict.rpartition('; ')[-1]}"


def _harmful(counts: Tally, limit: float | None, cap: float | None) -> Iterable[str]:
    """What the outcomes say against the rule."""
    if not counts.n_stalled:
        yield "do not deploy: there is no stalled trace to measure recall on"
    elif counts.hit == 0:
        yield f"do not deploy: none of {counts.n_stalled} stalls was hit"
    elif cap is None and counts.saved < SLOW:
        yield f"do not deploy: {counts.saved:.1%} of stalled steps are saved, a cap on steps may do as well"
    elif cap is not None and counts.saved <= cap:
        saved = f"it saves {cap:.1%} of stalled steps, the rule {counts.saved:.1%}"
        yield f"do not deploy: counting steps does as well: {saved}"
    if not counts.n_good:
        yield "do not deploy: there is no good trace to measure false stops on"
    # The lower exact bound: the promise is broken only when that many stops would be luck in fewer than 1 of 40
    # samples.
    elif limit is not None and proportion(counts.false_stop, counts.n_good, "beta")[0] > limit:
        stopped = f"{counts.false_stop} of {counts.n_good} good traces stopped, {limit:.0%} allowed"
        yield f"do not deploy: it broke its promise: {stopped}"
    # In steps, the one currency that every run has: without a price a rule must at least not lose more than it
    # saves.
    if counts.lost_steps >= counts.saved_steps and counts.hit:
        steps = f"{counts.lost_steps} steps of good traces and saves {counts.saved_steps} of stalled ones"
        yield f"do not deploy: it loses {steps}"
    if counts.false_stop_rate >= counts.recall:
        hits = f"hits {counts.recall:.0%} of stalls"
        yield f"do not deploy: it stops {counts.false_stop_rate:.0%} of good runs and {hits}"
    # Before the onset the run still made progress: such a rule sees slow work, not stalls.
    if counts.premature > counts.hit:
        yield "do not deploy: most alarms come before the stall; convergence is slow here, or onsets are marked late"
