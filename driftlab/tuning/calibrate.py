"""A stop rule chosen on some problems, certified on others."""

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from driftlab._util.errors import InputError
from driftlab._util.extras import need
from driftlab._util.options import SEARCHING, SWEEPING, checked
from driftlab.detectors import Detector, needed, score
from driftlab.evaluation.labels import Floats, Labels
from driftlab.evaluation.tally import Tally, curve, tally
from driftlab.metrics.measurements import Measurements, measure
from driftlab.rules import provenance
from driftlab.rules.policy import StopRule
from driftlab.trace.schema import Trace
from driftlab.trace.split import problems
from driftlab.trace.summary import shared_specs
from driftlab.tuning.calibration import Calibration
from driftlab.tuning.certificate import Certificate, certify, certify_grid
from driftlab.tuning.cross_validation import CrossValidation, Procedure, cross_validate, untold
from driftlab.tuning.objective import RATES, Objective, Price, above, choices, objective_named, ordered, value_at
from driftlab.tuning.plan import plan
from driftlab.tuning.sample_size import good_traces_needed
from driftlab.tuning.sweep import LIMIT, grid

Promise = Literal["mean", "confident"]
RISK = 0.1
TAKEN = ("task", "max_false_stop", "promise", "objective", "nudge", "risk", "share", "folds", "repeats", "random_state")
CALIBRATING = (*TAKEN, *(name for name in SWEEPING if name != "draws"))
MOST_FOLDS = 20


def calibrate(
    traces: Iterable[Trace] | Measurements,
    *,
    task: str | None = None,
    max_false_stop: float | None = LIMIT,
    promise: Promise = "mean",
    objective: str | Objective = "saved",
    nudge: float | None = None,
    **options: Any,
) -> Calibration:
    """Choose detector, patience and threshold for a false-stop limit, a price or a score.

    Problems are cut in two. On one part every detector is tried and the one that is worth most within the
    limit is kept; on the other part only good traces, one a problem, set its threshold.

    Parameters
    ----------
    traces : corpus, iterable of Trace, or Measurements
        Labelled runs.
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
    **options
        ``metrics``, ``detectors``, ``patience``, ``decay`` as in `dl.sweep`; ``risk`` (0.1); ``share`` (0.5) of
        problems that choose, 1.0 lets all of them choose *and* certify and pays for every detector tried
        (confident promise only); ``folds`` (5, more where a fold would leave too few to certify) and ``repeats``
        (5, 0 for none) of the nested cross-validation;
        ``seed`` or ``random_state`` (0); and those of `dl.measure`.

    Returns
    -------
    Calibration

    Raises
    ------
    InputError
        When no trace has the task, there is nothing to choose from, an option is unknown, of the wrong type or out
        of range, or contradicts another.

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> work = [Trace(id=str(n), problem=str(n), label="good", steps=[Step(state=s) for s in "abc"]) for n in range(8)]
    >>> found = calibrate(work, metrics=["exact"])
    >>> found.rule.threshold, found.missing
    (inf, 15)
    """
    options = checked({**options, "max_false_stop": max_false_stop, "nudge": nudge}, CALIBRATING)
    max_false_stop, nudge, seed = options.pop("max_false_stop"), options.pop("nudge"), _seed(options)
    risk, share = options.pop("risk", RISK), options.pop("share", 0.5)
    folds, repeats = options.pop("folds", 5), options.pop("repeats", 5)
    _check(promise, share, max_false_stop, nudge, objective)
    chosen = _of_task(traces, task)
    wanted, measured = _measured(chosen, options)
    how = Procedure(objective, max_false_stop, max_false_stop is not None, None if promise == "mean" else risk, share)
    made = _reused if share == 1 else _split
    best, found, rest, rows = made(measured, wanted, how, seed)
    origin = {"data": _data(chosen), "seed": seed, "share": share, "candidates": len(rows), "selection": _words(how)}
    origin |= {"max_false_stop": "none" if max_false_stop is None else max_false_stop}
    estimate = _estimate(measured, wanted, how, found, (folds, repeats, seed))
    evidence = {"sources": ", ".join(sorted({info.source or "(none)" for info in measured.infos}))}
    evidence |= {"apart": " that chose nothing" if share < 1 else f" that chose too: paid for by risk / {len(rows)}"}
    evidence |= {
        f"nested_{name}": getattr(estimate, name) for name in ("recall", "false_stop_rate", "youden") if estimate
    }
    rule, counted = _ruled(best, found, rest, task, evidence)
    rule = replace(rule, signals=shared_specs(measured.infos))
    softer = None if nudge is None else _nudge(rule, (rest, measured), nudge, how.risk, seed)
    return Calibration(rule, counted, found.n_good, found.missing, _frame(rows), origin, estimate, softer)


def _estimate(
    measured: Measurements, wanted: Sequence[Detector], how: Procedure, found: Certificate, plan: tuple[int, int, int]
) -> CrossValidation | None:
    """Cross-validate the procedure with folds so many that what is left of a fold can still certify."""
    folds, repeats, seed = plan
    if not repeats or how.share == 1:
        return None
    if how.certify:
        least = good_traces_needed(how.limit or LIMIT, how.risk)
        if found.n_good < least:
            return untold("the rule only watches")
        enough = [k for k in range(folds, MOST_FOLDS + 1) if found.n_good * (k - 1) / k >= least + 1]
        if not enough:
            return untold(f"of {found.n_good} good traces a fold leaves too few to certify, which takes {least}")
        folds = enough[0]
    return cross_validate(measured, wanted, how, folds=folds, repeats=repeats, seed=seed)


Made = tuple[Detector, Certificate, Measurements, list[dict[str, Any]]]


def _split(measured: Measurements, wanted: Sequence[Detector], how: Procedure, seed: int) -> Made:
    """Choose on one part of the problems, certify on the other."""
    first, second = halves(measured, how.share, seed)
    rows = _candidates(first, score(first, wanted), how)
    best = rows[0]["detector"]
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
    found = certify_grid(measured, scores, how.limit or LIMIT, how.risk or RISK, seed=seed)
    rows = _candidates(measured, scores, how)
    labels = Labels.of(measured.infos, measured.lengths)
    for row in rows:
        each = StopRule(row["detector"], found[row["detector"]].threshold)
        made, counted = curve(scores[each.detector], measured.offsets, labels), tally(each.alarms(measured), labels)
        row["threshold"], row["objective"] = (
            each.threshold,
            value_at(each.threshold, made, objective_named(how.objective)),
        )
        row.update({name: getattr(counted, name) for name in RATES})
    rows.sort(key=lambda row: -row["objective"])
    return rows[0]["detector"], found[rows[0]["detector"]], measured, rows


def halves(measured: Measurements, share: float, seed: int) -> tuple[Measurements, Measurements]:
    """Cut measurements in two so that no problem is on both sides; see `Corpus.split_by_problem`."""
    first = problems((info.group for info in measured.infos), share, seed)
    inside = np.array([info.group in first for info in measured.infos], dtype=bool)
    return measured.take(np.flatnonzero(inside)), measured.take(np.flatnonzero(~inside))


def _candidates(measured: Measurements, scores: dict[Detector, Floats], how: Procedure) -> list[dict[str, Any]]:
    labels, everyone = Labels.of(measured.infos, measured.lengths), np.ones((1, len(measured.infos)), dtype=bool)
    return ordered(choices(scores, measured.offsets, labels, everyone, objective=how.objective, limit=how.limit))


def _ruled(
    best: Detector, found: Certificate, rest: Measurements, task: str | None, evidence: dict[str, Any]
) -> tuple[StopRule, Tally]:
    bare = StopRule(best, found.threshold, task)
    counted = tally(bare.alarms(rest), Labels.of(rest.infos, rest.lengths), best.patience)
    names = ("precision", "recall", "saved", "false_stop_rate", "premature", "late", "delay", "n_stalled", "n_good")
    told: dict[str, Any] = {"promise": found.promise, "good_problems": found.n_good, "missing": found.missing}
    told |= {"why": found.why} if found.why else {}
    told |= {name: getattr(counted, name) for name in names}
    return StopRule(best, found.threshold, task, evidence=told | evidence), counted


def _nudge(
    rule: StopRule, parts: tuple[Measurements, Measurements], limit: float, risk: float | None, seed: int
) -> StopRule:
    rest, everything = parts
    observed = rule.detector.scores(everything)  # as for the stop: with other scores the nudge could come after it
    found = certify(rest, rule.detector, limit, risk, seed=seed, observed=observed)
    evidence: dict[str, Any] = {"promise": found.promise, "good_problems": found.n_good}
    evidence |= {"sources": rule.evidence["sources"]}
    return replace(rule, threshold=found.threshold, action="nudge", evidence=evidence)


def _measured(chosen: list[Trace] | Measurements, options: dict[str, Any]) -> tuple[list[Detector], Measurements]:
    asked = plan(chosen, options.pop("metrics", None))
    wanted = grid(asked, **{name: options.pop(name) for name in SEARCHING if name in options})
    wanted = [each for each in wanted if not asked.circular(each)]
    return wanted, chosen if isinstance(chosen, Measurements) else measure(chosen, needed(wanted), **options)


def _of_task(traces: Iterable[Trace] | Measurements, task: str | None) -> list[Trace] | Measurements:
    walked: Sequence[Any] = traces.infos if isinstance(traces, Measurements) else list(traces)
    rows = [place for place, trace in enumerate(walked) if task is None or trace.task == task]
    if not walked:
        raise InputError("there are no traces: nothing can be calibrated")
    if not rows:
        tasks = sorted({trace.task for trace in walked if trace.task is not None})
        raise InputError(f"no trace has task {task!r}; tasks: {', '.join(tasks) or '(none)'}")
    return traces.take(rows) if isinstance(traces, Measurements) else [walked[place] for place in rows]


def _seed(options: dict[str, Any]) -> int:
    """Take the seed out of the options, under either name."""
    given = {name: options.pop(name) for name in ("seed", "random_state") if name in options}
    if len(given) > 1:
        raise InputError(f"seed and random_state are one option; give one of them, got {given}")
    return int(next(iter(given.values()), 0))


def _check(promise: str, share: float, limit: float | None, nudge: float | None, objective: str | Objective) -> None:
    if promise not in ("mean", "confident"):
        raise InputError(f"promise must be 'mean' or 'confident', got {promise!r}")
    objective_named(objective)
    if share == 1 and (promise == "mean" or limit is None):
        raise InputError(
            "share=1.0 needs max_false_stop and promise='confident': the mean promise needs other problems"
        )
    if nudge is not None and not (limit or 0) < nudge < 1:
        raise InputError(f"nudge must lie between max_false_stop ({limit}) and 1, got {nudge!r}")


def _data(chosen: list[Trace] | Measurements) -> str:
    if not isinstance(chosen, Measurements):
        return provenance.data_hash(chosen)
    found = hashlib.sha256(repr([chosen.infos, chosen.offsets.tolist()]).encode("utf-8", "surrogatepass"))
    for each in sorted(chosen.columns, key=repr):
        found.update(repr(each).encode() + np.ascontiguousarray(chosen.columns[each]).tobytes())
    return f"numbers:{found.hexdigest()[:16]}"


def _words(how: Procedure) -> str:
    named = (
        how.objective if isinstance(how.objective, str | Price) else getattr(how.objective, "__name__", "a function")
    )
    within = "" if how.limit is None else " within the limit"
    return f"most by {named!r}{within}" if not isinstance(how.objective, str) else f"most {named}{within}"


def _frame(rows: list[dict[str, Any]]) -> Any:
    return need("pandas", "study").DataFrame([row | {"detector": repr(row["detector"])} for row in rows])


__all__ = ["Calibration", "Certificate", "above", "calibrate", "certify", "halves"]
