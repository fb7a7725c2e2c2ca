"""Every detector on one run: the numbers behind the figures of notebook 03."""

from collections.abc import Mapping
from dataclasses import dataclass

from driftlab.detectors.base import Detector, Evidence, Floats, evidence_at, first_alarms, needed, score
from driftlab.metrics.measurements import measure
from driftlab.trace.schema import Trace

__all__ = ["ScoredTrace", "score_trace"]


@dataclass(frozen=True, eq=False)
class ScoredTrace:
    """One detector on one run.

    Attributes
    ----------
    detector : Detector
    threshold : float
    scores : (n_steps,) array
        0..1, higher = more stalled.
    alarm : int or None
        First step whose score is at least the threshold.
    evidence : Evidence or None
        What the alarm rests on.
    """

    detector: Detector
    threshold: float
    scores: Floats
    alarm: int | None
    evidence: Evidence | None


def score_trace(trace: Trace, settings: Mapping[Detector, float]) -> tuple[ScoredTrace, ...]:
    """Score one run with many detectors.

    Parameters
    ----------
    trace : Trace
    settings : mapping of Detector to float
        Detectors with their thresholds.

    Returns
    -------
    tuple of ScoredTrace
        In the order of `settings`.

    Examples
    --------
    >>> from driftlab.detectors import Cycle, Plateau
    >>> from driftlab.trace.schema import Step
    >>> run = Trace(id="a", steps=[Step(tool=t, state=t) for t in "abcabcabcabc"])
    >>> [(line.detector.name, line.alarm) for line in score_trace(run, {Plateau(): 1.0, Cycle(): 1.0})]
    [('plateau', None), ('cycle', 8)]
    """
    measured = measure([trace], needed(list(settings)))
    scores = score(measured, settings)
    lines = []
    for detector, threshold in settings.items():
        alarm = int(first_alarms(scores[detector], measured.offsets, threshold)[0])
        evidence = evidence_at(detector, measured, 0, alarm) if alarm >= 0 else None
        lines.append(ScoredTrace(detector, threshold, scores[detector], alarm if alarm >= 0 else None, evidence))
    return tuple(lines)
