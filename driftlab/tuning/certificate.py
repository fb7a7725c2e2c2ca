"""A threshold with the false-stop rate that can be promised for it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from driftlab.detectors import Detector
from driftlab.evaluation.labels import Floats, Ints
from driftlab.metrics.measurements import Measurements
from driftlab.tuning.objective import above, margin_of
from driftlab.tuning.sample_size import conformal_rank, good_traces_needed, tolerance_rank

__all__ = ["Certificate", "certified", "certify", "certify_grid", "maxima_of", "one_a_problem"]


@dataclass(frozen=True)
class Certificate:
    """A threshold and the promise it carries.

    Attributes
    ----------
    threshold : float
        ``inf`` when nothing finite can be promised.
    line : float
        The good maximum that the threshold exceeds; `nan` when there are too few good traces.
    n_good : int
        Good traces, one a problem.
    missing : int
        How many more a finite threshold needs; 0 when it needs none.
    promise : str
        In words.
    why : str
        Why the threshold is infinite; empty when it is not.
    """

    threshold: float
    line: float
    n_good: int
    missing: int
    promise: str
    why: str


def certify(
    measured: Measurements,
    detector: Detector,
    limit: float,
    risk: float | None = None,
    *,
    seed: int = 0,
    observed: Floats | None = None,
) -> Certificate:
    """Find the smallest threshold whose false-stop rate can be promised, from good traces alone.

    One good trace a problem counts, drawn with `seed`: runs of one problem are no independent evidence.

    Parameters
    ----------
    measured : Measurements
        Traces of problems that chose nothing.
    detector : Detector
    limit : float
        In (0, 1).
    risk : float, optional
        None promises the mean over calibrations, a number the limit itself with probability ``1 - risk``.
    observed : array, optional
        More scores that the threshold must lie between.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> work = [Trace(id=str(n), label="good", steps=[Step(state=s) for s in "abc"]) for n in range(19)]
    >>> from driftlab.detectors import Plateau
    >>> certify(measure(work, ["exact"]), Plateau(), 0.05).why
    'no score lies above 0.0000, which 19 of 19 good traces reach'
    """
    # The maximum of a good run is its conformity score: a rule stops the run exactly where the maximum reaches the
    # threshold. The k-th smallest of n exchangeable maxima is exceeded by a new one with probability at most 1 - k
    # / (n + 1) (split conformal prediction; Vovk, Gammerman and Shafer 2005), whatever their distribution.
    scores = detector.scores(measured)
    rows = one_a_problem(measured, seed)
    seen = scores if observed is None else np.concatenate([scores, observed])
    return certified(maxima_of(scores, measured.offsets, rows), seen, detector, limit, risk)


def certified(maxima: Floats, observed: Floats, detector: Detector, limit: float, risk: float | None) -> Certificate:
    """Find that threshold from the maxima of good traces, one a problem."""
    maxima, n = np.sort(maxima), len(maxima)
    # On average over calibrations, or for this one with confidence (Wilks 1941: a one-sided tolerance limit).
    rank = conformal_rank(n, limit) if risk is None else tolerance_rank(n, limit, risk)
    words = f"false-stop rate <= {limit:g} " + ("on average" if risk is None else f"with {1 - risk:.4g} confidence")
    if rank is None:
        missing = good_traces_needed(limit, risk) - n
        why = f"{n} good traces of different problems, {missing} more needed for a finite threshold"
        return Certificate(math.inf, math.nan, n, missing, words, why)
    # An alarm is a score >= threshold, so the threshold lies above the line: in the gap, where rounding cannot
    # touch it.
    line = float(maxima[rank - 1])
    threshold = above(line, observed, margin_of(detector))
    reach = int((maxima >= line).sum())
    why = f"no score lies above {line:.4f}, which {reach} of {n} good traces reach" if threshold == math.inf else ""
    return Certificate(threshold, line, n, 0, words, why)


def certify_grid(
    measured: Measurements, scores: Mapping[Detector, Floats], limit: float, risk: float, *, seed: int = 0
) -> dict[Detector, Certificate]:
    """Certify every detector at ``risk / len(scores)``: whichever is chosen afterwards, the promise holds.

    Bonferroni's price for choosing and certifying on the same problems; about twice as many good traces
    are needed for 100 detectors as for one.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> from driftlab.detectors import Plateau
    >>> work = measure([Trace(id="a", label="good", steps=[Step(state="x")])], ["exact"])
    >>> certify_grid(work, {Plateau(): np.zeros(1)}, 0.05, 0.1)[Plateau()].missing
    44
    """
    rows = one_a_problem(measured, seed)
    # Each fails with probability risk / m, so any of the m with at most risk, the chosen one too.
    share = risk / max(1, len(scores))
    return {
        each: certified(maxima_of(own, measured.offsets, rows), own, each, limit, share) for each, own in scores.items()
    }


def maxima_of(scores: Floats, offsets: Ints, rows: Sequence[int]) -> Floats:
    """Return the largest score of some traces, 0.0 for one without steps.

    Examples
    --------
    >>> maxima_of(np.array([0.5, 0.25]), np.array([0, 2, 2]), [0, 1]).tolist()
    [0.5, 0.0]
    """
    return np.array([scores[offsets[i] : offsets[i + 1]].max(initial=0.0) for i in rows], dtype=np.float64)


def one_a_problem(measured: Measurements, seed: int) -> list[int]:
    """Draw one good trace of every problem that has one."""
    random = np.random.default_rng(seed)
    groups: dict[tuple[str, str], list[int]] = {}
    for place, info in enumerate(measured.infos):
        if info.label == "good":
            groups.setdefault(info.group, []).append(place)
    # At random, not the first: which run comes first in a file may depend on how it went.
    return [groups[group][random.integers(len(groups[group]))] for group in sorted(groups)]
