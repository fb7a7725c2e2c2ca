"""Outcomes of first alarms counted at one threshold."""

from dataclasses import dataclass

import numpy as np

from driftlab.evaluation.labels import OUTCOMES, Floats, Ints, Labels, Outcome, outcomes, ratio
from driftlab.evaluation.rates import Rates
from driftlab.evaluation.thresholds import Curve, curve, curves


@dataclass(frozen=True)
class Tally(Rates):
    """Counts of outcomes at one threshold, and the rates made from them.

    A rate over nothing is `nan`; the counts beside it say why.

    Attributes
    ----------
    hit, premature, late, miss, false_stop, passed : int
        Traces.
    undetectable : int
        Stalled traces whose stall is shorter than the rule's patience; they are in the recall's denominator.
    saved_steps, stalled_steps : int
        Steps after the alarms that hit; all steps of stalled traces.
    lost_steps, good_steps : int
        Steps after false stops; all steps of good traces.
    delay : float
        Median of alarm - onset over hits, in steps; `nan` without hits.
    mean_delay : float
        Its mean.
    wasted_steps : int
        Steps inside stalls that still ran: up to the alarm, or to the stall's end where none came in time.

    Examples
    --------
    >>> from driftlab.trace.schema import Span, TraceInfo
    >>> labels = Labels.of([TraceInfo(id="a", label="stalled", stalls=(Span(3),))], np.array([9]))
    >>> found = tally(np.array([5]), labels, patience=2)
    >>> found.recall, found.saved_steps, found.wasted_steps, found.attainable
    (1.0, 3, 3, 1.0)
    """

    hit: int
    premature: int
    late: int
    miss: int
    false_stop: int
    passed: int
    undetectable: int
    saved_steps: int
    stalled_steps: int
    lost_steps: int
    good_steps: int
    delay: float
    mean_delay: float = float("nan")
    wasted_steps: int = 0

    @property
    def n_stalled(self) -> int:
        """Stalled traces."""
        return self.hit + self.premature + self.late + self.miss

    @property
    def n_good(self) -> int:
        """Good traces."""
        return self.false_stop + self.passed

    @property
    def attainable(self) -> float:
        """Highest recall the patience leaves: the rest ends, or is cut, before it can be seen."""
        return float(ratio(self.n_stalled - self.undetectable, self.n_stalled))

    @property
    def false_stops_per_100(self) -> float:
        """False stops per 100 steps of good traces, counted up to the alarm."""
        return float(100 * ratio(self.false_stop, self.good_steps - self.lost_steps))

    def precision_at(self, prevalence: float) -> float:
        """Precision where another share of runs is stalled.

        Examples
        --------
        >>> round(Tally(8, 0, 0, 2, 1, 9, 0, 0, 0, 0, 0, 4.0).precision_at(0.1), 2)
        0.47
        """
        alarms = ratio(self.hit + self.premature + self.late, self.n_stalled) * prevalence
        return float(ratio(self.recall * prevalence, alarms + self.false_stop_rate * (1 - prevalence)))


def tally(alarms: Ints, labels: Labels, patience: int = 1) -> Tally:
    """Count outcomes.

    Parameters
    ----------
    alarms : (n_traces,) int array
        Step of the first alarm, -1 for none.
    labels : Labels
    patience : int
        Of the rule: stalls that are shorter cannot be seen.

    Examples
    --------
    >>> from driftlab.trace.schema import TraceInfo
    >>> labels = Labels.of([TraceInfo(id="b", label="good")], np.array([9]))
    >>> found = tally(np.array([-1]), labels)
    >>> found.false_stop_rate, found.recall
    (0.0, nan)
    """
    named = outcomes(alarms, labels)
    after, delays = labels.lengths - 1 - alarms, delays_of(alarms, labels)
    hits, stops = named == "hit", named == "false stop"
    # A late alarm came after the stall had ended: the whole of it was wasted, as in a miss.
    ran_on = np.isin(named, ["miss", "late"])
    return Tally(
        **{_FIELD.get(name, name): int((named == name).sum()) for name in OUTCOMES if name != "none"},
        undetectable=int((labels.stalled & ~labels.detectable(patience)).sum()),
        saved_steps=int(after[hits].sum()),
        stalled_steps=int(labels.lengths[labels.stalled].sum()),
        lost_steps=int(after[stops].sum()),
        good_steps=int(labels.lengths[labels.good].sum()),
        delay=float(np.median(delays)) if len(delays) else float("nan"),
        mean_delay=float(np.mean(delays)) if len(delays) else float("nan"),
        wasted_steps=int((delays + 1).sum() + (labels.end - labels.onset)[ran_on].sum()),
    )


def delays_of(alarms: Ints, labels: Labels) -> Ints:
    """Return alarm - onset of every hit, in steps, shape (n_hits,).

    Examples
    --------
    >>> from driftlab.trace.schema import Span, TraceInfo
    >>> labels = Labels.of([TraceInfo(id="a", label="stalled", stalls=(Span(3),))], np.array([9]))
    >>> delays_of(np.array([5]), labels).tolist()
    [2]
    """
    hits = outcomes(alarms, labels) == "hit"
    delays: Ints = (alarms - labels.onset)[hits]
    return delays


_FIELD = {"false stop": "false_stop", "pass": "passed"}

__all__ = [
    "OUTCOMES",
    "Curve",
    "Floats",
    "Ints",
    "Labels",
    "Outcome",
    "Tally",
    "curve",
    "curves",
    "delays_of",
    "outcomes",
    "ratio",
    "tally",
]  # fmt: skip
