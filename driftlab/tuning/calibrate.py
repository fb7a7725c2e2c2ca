"""A stop rule chosen on some problems, certified on others."""

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from driftlab._util.checks import limit, measuring, seeded
from driftlab._util.errors import InputError
from driftlab._util.extras import need
from driftlab._util.spec import between, whole
from driftlab.detectors import Detector, score
from driftlab.evaluation.labels import Floats, Labels
from driftlab.evaluation.tally import Tally, curve, tally
from driftlab.metrics import Metric
from driftlab.metrics.measurements import Measurements
from driftlab.rules.policy import StopRule
from driftlab.rules.provenance import data_hash
from driftlab.trace.schema import Trace
from driftlab.trace.split import problems
from driftlab.trace.summary import shared_specs
from driftlab.tuning.calibration import Calibration
from driftlab.tuning.cells import DECAY, PATIENCE, choosable
from driftlab.tuning.certificate import Certificate, certify, certify_grid
from driftlab.tuning.cross_validation import CrossValidation, Procedure, cross_validate, untold
from driftlab.tuning.objective import RATES, Objective, Price, above, choices, objective_named, ordered, value_at
from driftlab.tuning.sample_size import good_traces_needed
from driftlab.tuning.sweep import LIMIT

Promise = Literal["mean", "confident"]
RISK = 0.1
MOST_FOLDS = 20


def calibrate(
    traces: Iterable[Trace] | Measurements,
    metrics: Iterable[str | Metric] | None = None,
    *,
    task: str | None = None,
    max_false_stop: float | None = LIMIT,
    promise: Promise = "mean",
    objective: str | Objective = "saved",
    nudge: float | None = None,
    risk: float = RISK,
    patience: Iterable[int] = PATIENCE,
    decay: Iterable[float] = DECAY,
    detectors: Iterable[str | Detector] = (),
    share: float = 0.5,
    folds: int = 5,
    repeats: int = 5,
    seed: int | None = None,
    random_state: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    n_jobs: int | None = 1,
    progress: bool = False,
) -> Calibration:
    """Choose detector, patience and threshold for a false-stop limit, a price or a score.

    Problems are cut in two. On one part every detector is tried and the one that is worth most within the
    limit is kept; on the other part only good traces, one a problem, set its threshold.

    Parameters
    ----------
    traces : corpus, iterable of Trace, or Measurements
        Labelled runs.
    metrics : iterable of str or Metric, optional
        As in `dl.sweep`.
    task : str, optional
        The kind of work the rule is for; None takes all traces together.
    max_false_stop : float or None
        Largest share of good traces that may be stopped, in (0, 1). None promises nothing: the threshold is
        the one that is worth most, and the other part only tells what it does there.
    promise : {"mean", "confident"}
        "mean": at most that share on average over calibrations (split conformal). "confident": at most that
        share with probability ``1 - risk`` (binomial tolerance bound).
    objective : str or callable
        What decides among detectors: "saved" (share of stalled steps), "recall", "youden", "f1", "f0.5", "f2",
        a `objective.Price`, or any function from a `Curve` to a number a threshold.
    nudge : float, optional
        A larger limit for a second threshold of the same detector, at which the loop is nudged, not stopped.
    risk : float
        Of the confident promise.
    patience, decay, detectors : iterable
        What is tried, as in `dl.sweep`.
    share : float
        Of the problems that choose; the rest certify. 1.0 lets all of them choose *and* certify and pays for
        every detector tried (confident promise only).
    folds : int
        Of the nested cross-validation; more are taken where a fold would leave too few to certify.
    repeats : int
        Of the nested cross-validation; 0 leaves it out.
    seed : int, optional
        Of all draws, by default 0; `random_state` is the same under scikit-learn's name.
    cache, n_jobs, progress
        As in `dl.measure`.

    Returns
    -------
    Calibration

    Raises
    ------
    InputError
        When no trace has the task, there is nothing to choose from, an option is of the wrong type or out of
        range, or contradicts another.

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> work = [Trace(id=str(n), problem=str(n), label="good", steps=[Step(state=s) for s in "abc"]) for n in range(8)]
    >>> found = calibrate(work, metrics=["exact"])
    >>> found.rule.threshold, found.missing
    (inf, 15)
    """
    seed = _one_seed(seed, random_state)
    folds, repeats = whole("folds", folds, 2), whole("repeats", repeats, 0)
    between("risk", risk, 0, 1)
    measuring(n_jobs, progress)
    _check(promise, share, max_false_stop, nudge, objective)
    chosen = _of_task(traces, task)
    measured, wanted = choosable(
        chosen,
        metrics,
        patience=patience,
        decay=decay,
        detectors=detectors,
        cache=cache,
        n_jobs=n_jobs,
        progress=progress,
    )
    # Chosen on some problems, certified on others: a threshold certified on what chose it would break its promise.
    how = Procedure(objective, max_false_stop, max_false_stop is not None, None if promise == "mean" else risk, share)
    made = _reused if share == 1 else _split
    best, certificate, rest, rows = made(measured, wanted, how, seed)
    origin = {"data": data_hash(chosen), "seed": seed, "share": share, "candidates": len(rows)}
    origin |= {"selection": _words(how), "max_false_stop": "none" if max_false_stop is None else max_false_stop}
    estimate = _estimate(measured, wanted, how, certificate, (folds, repeats, seed))
    evidence = {"sources": ", ".join(sorted({info.source or "(none)" for info in measured.infos}))}
    # Numbers stay with the rule: a file that says 0.05 without how many runs it rests on is an anecdote.
    evidence |= {"apart": " that chose nothing" if share < 1 else f" that chose too: paid for by risk / {len(rows)}"}
    evidence |= {
        f"nested_{name}": getattr(estimate, name) for name in ("recall", "false_stop_rate", "youden") if estimate
    }
    rule, counted = _ruled(best, certificate, rest, task, evidence)
    rule = replace(rule, signals=shared_specs(measured.infos))
    softer = None if nudge is None else _nudge(rule, (rest, measured), nudge, how.risk, seed)
    return Calibration(rule, counted, certificate.n_good, certificate.missing, _frame(rows), origin, estimate, softer)


def _estimate(
    measured: Measurements,
    wanted: Sequence[Detector],
    how: Procedure,
    certificate: Certificate,
    plan: tuple[int, int, int],
) -> CrossValidation | None:
    """Cross-validate the procedure with folds so many that what is left of a fold can still certify."""
    folds, repeats, seed = plan
    if not repeats or how.share == 1:
        return None
    if how.certify:
        # The estimate is of the procedure as it is used. Where a fold leaves too few good problems to certify, it
        # would be of another one, which only ever watches.
        least = good_traces_needed(how.limit or LIMIT, how.risk)
        if certificate.n_good < least:
            return untold("the rule only watches")
        enough = [k for k in range(folds, MOST_FOLDS + 1) if certificate.n_good * (k - 1) / k >= least + 1]
        if not enough:
            return untold(f"of {certificate.n_good} good traces a fold leaves too few to certify, which takes {least}")
        folds = enough[0]
    return cross_validate(measured, wanted, how, folds=folds, repeats=repeats, seed=seed)


Made = tuple[Detector, Certificate, Measurements, list[dict[str, Any]]]


def _split(measured: Measurements, wanted: Sequence[Detector], how: Procedure, seed: int) -> Made:
    """Choose on one part of the problems, certify on the other."""
    first, second = halves(measured, how.share, seed)
    rows = _candidates(first, score(first, wanted), how)
    best = rows[0]["detector"]
    # All scores, so that the threshold falls into a gap of both halves and no run sits on its edge.
    observed = best.scores(measured)
    if how.limit is not None:
        return best, certify(second, best, how.limit, how.risk, seed=seed, observed=observed), second, rows
    threshold = rows[0]["threshold"]
    why = "" if math.isfinite(threshold) else "no threshold is worth anything on the problems that choose"
    good = len({info.group for info in second.infos if info.label == "good"})
    return best, Certificate(threshold, math.nan, good, 0, "none", why), second, rows


def _reused(measured: Measurements, wanted: Sequence[Detector], how: Procedure, seed: int) -> Made:
    """Certify every detector on all problems, then choose: the promise is paid for all of them."""
    scores = score(measured, wanted)
    certificates = certify_grid(measured, scores, how.limit or LIMIT, how.risk or RISK, seed=seed)
    rows = _candidates(measured, scores, how)
    labels, value = Labels.of(measured.infos, measured.lengths), objective_named(how.objective)
    for row in rows:
        rule = StopRule(row["detector"], certificates[row["detector"]].threshold)
        made, counted = curve(scores[rule.detector], measured.offsets, labels), tally(rule.alarms(measured), labels)
        row |= {"threshold": rule.threshold, "objective": value_at(rule.threshold, made, value)}
        row |= {name: getattr(counted, name) for name in RATES}
    # Sorted again: what a rule is worth at the certified threshold, not at the one it would have liked.
    rows.sort(key=lambda row: -row["objective"])
    return rows[0]["detector"], certificates[rows[0]["detector"]], measured, rows


def halves(measured: Measurements, share: float, seed: int) -> tuple[Measurements, Measurements]:
    """Cut measurements in two so that no problem is on both sides; see `Corpus.split_by_problem`."""
    first = problems((info.group for info in measured.infos), share, seed)
    inside = np.array([info.group in first for info in measured.infos], dtype=bool)
    return measured.take(np.flatnonzero(inside)), measured.take(np.flatnonzero(~inside))


def _candidates(measured: Measurements, scores: dict[Detector, Floats], how: Procedure) -> list[dict[str, Any]]:
    labels, everyone = Labels.of(measured.infos, measured.lengths), np.ones((1, len(measured.infos)), dtype=bool)
    return ordered(choices(scores, measured.offsets, labels, everyone, objective=how.objective, limit=how.limit))


def _ruled(
    best: Detector, certificate: Certificate, rest: Measurements, task: str | None, evidence: dict[str, Any]
) -> tuple[StopRule, Tally]:
    bare = StopRule(best, certificate.threshold, task)
    counted = tally(bare.alarms(rest), Labels.of(rest.infos, rest.lengths), best.patience)
    names = ("precision", "recall", "saved", "false_stop_rate", "premature", "late", "delay", "n_stalled", "n_good")
    promised: dict[str, Any] = {
        "promise": certificate.promise,
        "good_problems": certificate.n_good,
        "missing": certificate.missing,
    }
    promised |= {"why": certificate.why} if certificate.why else {}
    promised |= {name: getattr(counted, name) for name in names}
    return StopRule(best, certificate.threshold, task, evidence=promised | evidence), counted


def _nudge(
    rule: StopRule, parts: tuple[Measurements, Measurements], limit: float, risk: float | None, seed: int
) -> StopRule:
    rest, everything = parts
    observed = rule.detector.scores(everything)  # as for the stop: with other scores the nudge could come after it
    certificate = certify(rest, rule.detector, limit, risk, seed=seed, observed=observed)
    evidence: dict[str, Any] = {"promise": certificate.promise, "good_problems": certificate.n_good}
    evidence |= {"sources": rule.evidence["sources"]}
    return replace(rule, threshold=certificate.threshold, action="nudge", evidence=evidence)


def _of_task(traces: Iterable[Trace] | Measurements, task: str | None) -> list[Trace] | Measurements:
    runs: Sequence[Any] = traces.infos if isinstance(traces, Measurements) else list(traces)
    rows = [place for place, trace in enumerate(runs) if task is None or trace.task == task]
    if not runs:
        raise InputError("there are no traces: nothing can be calibrated")
    if not rows:
        tasks = sorted({trace.task for trace in runs if trace.task is not None})
        raise InputError(f"no trace has task {task!r}; tasks: {', '.join(tasks) or '(none)'}")
    return traces.take(rows) if isinstance(traces, Measurements) else [runs[place] for place in rows]


def _one_seed(seed: int | None, random_state: int | None) -> int:
    """Return the seed, given under either name."""
    if seed is not None and random_state is not None:
        given = {"seed": seed, "random_state": random_state}
        raise InputError(f"seed and random_state are one option; give one of them, got {given}")
    return seeded(seed or 0) if random_state is None else seeded(random_state, "random_state")


def _check(promise: str, share: float, highest: float | None, nudge: float | None, objective: str | Objective) -> None:
    if promise not in ("mean", "confident"):
        raise InputError(f"promise must be 'mean' or 'confident', got {promise!r}")
    objective_named(objective)
    limit("max_false_stop", highest)
    limit("nudge", nudge)
    between("share", share, 0, 1, also=1, words=", or 1.0 where all problems choose and certify")
    if share == 1 and (promise == "mean" or highest is None):
        raise InputError(
            "share=1.0 needs max_false_stop and promise='confident': the mean promise needs other problems"
        )
    if nudge is not None and not (highest or 0) < nudge < 1:
        raise InputError(f"nudge must lie between max_false_stop ({highest}) and 1, got {nudge!r}")


def _words(how: Procedure) -> str:
    named = (
        how.objective if isinstance(how.objective, str | Price) else getattr(how.objective, "__name__", "a function")
    )
    within = "" if how.limit is None else " within the limit"
    return f"most by {named!r}{within}" if not isinstance(how.objective, str) else f"most {named}{within}"


def _frame(rows: list[dict[str, Any]]) -> Any:
    return need("pandas", "study").DataFrame([row | {"detector": repr(row["detector"])} for row in rows])


__all__ = ["Calibration", "Certificate", "above", "calibrate", "certify", "halves"]
