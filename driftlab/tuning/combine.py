"""Learns how to combine detectors from one's own traces."""

import warnings
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from driftlab._util.errors import DriftlabWarning, InputError
from driftlab._util.extras import need
from driftlab.detectors import Detector, detector, needed, score
from driftlab.detectors.learned import Learned
from driftlab.metrics.measurements import Measurements, measure
from driftlab.trace.schema import Trace, TraceInfo

__all__ = ["PARTS", "PROBLEMS", "combine"]

PROBLEMS = 100  # fewer problems teach the accidents of the problems
PARTS = (
    "plateau(exact(view='call'), run(1))",
    "plateau(levenshtein(view='action'), run(1))",
    "plateau(levenshtein(view='output'), run(1))",
    "plateau(jaccard(view='action'), run(1))",
    "plateau(jaccard(view='output'), run(1))",
    "plateau(novelty(mask='volatile'), run(1))",
    "plateau(repeat, run(1))",
    "plateau(repeat(view='output'), run(1))",
    "revisit(exact(view='call'), run(1))",
    "oscillation(exact(view='call'), run(4), longest=4)",
    "net_change(levenshtein(view='output'), 4)",
    "run_length",
    "stuck",
    "action_novelty(window=4)",
    "tool_entropy(least=3)",
    "recurring(3, 8)",
    "redo(3)",
    "same_call(3)",
    "error_streak(3)",
    "idle(3)",
)


def combine(
    traces: Iterable[Trace],
    parts: Sequence[str | Detector] = PARTS,
    *,
    hidden: Iterable[str] = (),
    strength: float = 1.0,
) -> Learned:
    """Fit a logistic regression of "this step is inside a stall" on the scores of several detectors.

    Steps of good traces are negative, steps inside a marked stall positive, steps of a stalled trace before its
    onset negative; behind the end of a stall nothing is taken. At each step index both classes weigh the same, so
    that the age of a run tells nothing; within a class every problem weighs the same. What it is worth on new
    problems is for `calibrate` or `sweep` to say, on traces of other problems.

    Parameters
    ----------
    traces : iterable of Trace
        Labelled traces of at least 100 problems.
    parts : sequence of str or Detector
        What is combined.
    hidden : iterable of str
        Signals no part may read, because the labels were made from them.
    strength : float
        Inverse strength of the regularisation (scikit-learn's ``C``).

    Raises
    ------
    InputError
        When there are too few problems, or one class has no step.

    Warns
    -----
    DriftlabWarning
        That the result is for traces like these only.
    """
    kept = [trace for trace in traces if trace.label == "good" or (trace.label == "stalled" and trace.stalls)]
    problems = {trace.group for trace in kept}
    if len(problems) < PROBLEMS:
        raise InputError(f"learning needs labelled traces of {PROBLEMS} problems, got {len(problems)}; use 'stuck'")
    chosen = tuple(detector(part) for part in parts)
    _refuse_hidden(chosen, set(hidden))
    measured = measure(kept, needed(chosen))
    labels, weights = _steps(measured)
    if not (weights[labels] > 0).any() or not (weights[~labels] > 0).any():
        raise InputError("no step index has both good steps and steps inside a stall; there is nothing to tell apart")
    fitted = _fitted(chosen, measured, labels, weights, strength)
    sources = ", ".join(sorted({trace.source or "(none)" for trace in kept}))
    warnings.warn(f"learned on {sources}: worse than 'stuck' elsewhere", DriftlabWarning, stacklevel=2)
    return fitted


def _refuse_hidden(parts: Sequence[Detector], hidden: set[str]) -> None:
    for part in parts:
        read = {getattr(column, "signal", None) for column in part.needs}
        if read & (hidden | ({""} if hidden else set())):
            raise InputError(f"{part!r} reads a signal that is hidden ({', '.join(sorted(hidden))}); leave it out")


def _fitted(
    parts: tuple[Detector, ...],
    measured: Measurements,
    labels: NDArray[np.bool_],
    weights: NDArray[np.float64],
    strength: float,
) -> Learned:
    features = _features(parts, measured)
    # Weights sum to the number of steps used, so that `strength` means the same whatever the corpus.
    used = weights > 0
    model = need("sklearn.linear_model", "study").LogisticRegression(C=strength, max_iter=2_000)
    model.fit(features[used], labels[used], sample_weight=weights[used] * used.sum() / weights.sum())
    # Six places: the repr is what a policy file holds, and it parses back to the same scores.
    learned = [round(float(weight), 6) for weight in model.coef_[0]]
    bias = round(float(model.intercept_[0]), 6)
    return Learned(parts, tuple(learned[: len(parts)]), tuple(learned[len(parts) :]), bias)


def _features(parts: Sequence[Detector], measured: Measurements) -> NDArray[np.float64]:
    """Return scores and their fading means, shape (n_steps, 2 * n_parts)."""
    scores = score(measured, parts)
    now = np.stack([scores[part] for part in parts], axis=1)
    faded, decay = np.zeros_like(now), Learned.decay
    for start, end in zip(measured.offsets[:-1], measured.offsets[1:], strict=True):
        # The same recursion in the same order as `Learned.advance`: the fit must see what the live loop will
        # compute.
        mean = np.zeros(now.shape[1])
        for row in range(start, end):
            mean = decay * mean + (1 - decay) * now[row]
            faded[row] = mean
    return np.concatenate([now, faded], axis=1)


def _steps(measured: Measurements) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return the class of each step and its weight; 0.0 for steps that are not taken."""
    lengths = measured.lengths
    age = np.concatenate([np.arange(n) for n in lengths]) if len(lengths) else np.zeros(0, dtype=np.int64)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    labels = np.concatenate([_inside(i, n) for i, n in zip(measured.infos, lengths.tolist(), strict=True)])
    groups = np.unique([" ".join(info.group) for info in measured.infos], return_inverse=True)[1][owner]
    weights = (labels >= 0).astype(np.float64)
    # Age 0 scores 0.0 by law: it teaches nothing.
    weights[age == 0] = 0.0
    for kind in (0, 1):
        mine = (labels == kind) & (weights > 0)
        # Every problem weighs the same within its class: a run of 300 steps is not 300 pieces of evidence.
        weights[mine] /= np.bincount(groups[mine], minlength=groups.max() + 1)[groups[mine]]
    totals = np.zeros((2, age.max(initial=0) + 1))
    for kind in (0, 1):
        mine = labels == kind
        totals[kind] = np.bincount(age[mine], weights=weights[mine], minlength=totals.shape[1])
    # Both classes weigh the same at each age: else "late" predicts "stalled", since only long runs have late steps,
    # and the regression would learn a clock.
    both = (totals > 0).all(axis=0)
    share = np.where(both, totals.min(axis=0), 0.0) / np.where(totals > 0, totals, 1.0)
    taken = labels >= 0
    weights[taken] *= share[labels[taken], age[taken]]
    return labels == 1, weights


def _inside(info: TraceInfo, length: int) -> NDArray[np.int64]:
    """Return 1 inside the first stall, 0 before it and in good traces, -1 behind it."""
    out = np.zeros(length, dtype=np.int64)
    if info.label == "stalled":
        span = min(info.stalls, key=lambda stall: stall.start)
        end = length if span.end is None else span.end
        out[span.start : end], out[end:] = 1, -1
    return out
