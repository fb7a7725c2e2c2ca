"""Outcome counts at every threshold in one pass over the scores."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftlab._util.spec import share
from driftlab.evaluation.labels import OUTCOMES, Floats, Ints, Labels, Outcome, coded, ratio
from driftlab.evaluation.rates import Rates

__all__ = ["Curve", "curve", "curves", "records"]

ALARMS: tuple[Outcome, ...] = ("hit", "premature", "late", "false stop")  # what an alarm may be, where it counts
_LINE = np.array([ALARMS.index(name) if name in ALARMS else -1 for name in OUTCOMES])


@dataclass(frozen=True, eq=False)
class Curve(Rates):
    """Outcome counts at every threshold that matters, all (n_thresholds,), thresholds ascending.

    From `curves` the counts are (n_sets, n_thresholds) and the numbers they are divided by (n_sets, 1).

    Attributes
    ----------
    thresholds : float
        Every distinct value a running maximum takes above 0; an alarm is a score >= threshold.
    hit, premature, late, false_stop : int
    saved_steps, delay_steps : int
        Summed over hits.
    n_stalled, n_good, stalled_steps : int
        What the rates divide by.
    """

    thresholds: Floats
    hit: Ints
    premature: Ints
    late: Ints
    false_stop: Ints
    saved_steps: Ints
    delay_steps: Ints
    n_stalled: Any
    n_good: Any
    stalled_steps: Any

    @property
    def mean_delay(self) -> Floats:
        """Mean alarm - onset over hits, in steps."""
        delay: Floats = ratio(self.delay_steps, self.hit)
        return delay

    def at_limit(self, max_false_stop: float) -> float:
        """Return the threshold that saves most among those whose false-stop rate here is within the limit.

        It is chosen on the traces it is counted on: a description of them, no promise for others. The
        smallest one within the limit can be worse: it alarms earlier, before the onset too. Of equals the
        highest is taken. `inf` where every threshold stops too many, `nan` where there is no good trace.
        """
        share("max_false_stop", max_false_stop)
        # Nothing was there to be stopped wrongly: any threshold would "keep" the limit, and mean nothing.
        if not self.n_good:
            return float("nan")
        within = np.flatnonzero(self.false_stop_rate <= max_false_stop)
        if not len(within):
            return float("inf")
        saved = self.saved_steps[within]
        return float(self.thresholds[within[np.flatnonzero(saved == saved.max())[-1]]])


def curve(scores: Floats, offsets: Ints, labels: Labels) -> Curve:
    """Count outcomes at every threshold.

    A trace's alarm moves only where its running maximum moves: a record at step t that lifts the
    maximum from u to v is the alarm of every threshold in (u, v].

    Parameters
    ----------
    scores : (n_steps_in_all,) array
    offsets : (n_traces + 1,) array
    labels : Labels

    Examples
    --------
    >>> from driftlab.trace.schema import TraceInfo
    >>> labels = Labels.of([TraceInfo(id="b", label="good")], np.array([3]))
    >>> found = curve(np.array([0.0, 0.25, 0.5]), np.array([0, 3]), labels)
    >>> found.thresholds.tolist(), found.false_stop.tolist()
    ([0.25, 0.5], [1, 1])
    """
    many = curves(scores, offsets, labels, np.ones((1, len(labels.lengths)), dtype=bool))
    counts = {name: value[0] for name, value in vars(many).items() if name != "thresholds"}
    whole = {name: int(counts[name][0]) for name in ("n_stalled", "n_good", "stalled_steps")}
    return Curve(many.thresholds, **counts | whole)


def curves(scores: Floats, offsets: Ints, labels: Labels, members: NDArray[np.bool_]) -> Curve:
    """Count outcomes at every threshold for several sets of traces, with one grid of thresholds.

    Parameters
    ----------
    scores, offsets, labels
        As for `curve`.
    members : (n_sets, n_traces) bool array
        Which traces each set counts.

    Examples
    --------
    >>> from driftlab.trace.schema import TraceInfo
    >>> labels = Labels.of([TraceInfo(id=i, label="good") for i in "ab"], np.array([1, 1]))
    >>> found = curves(np.array([0.25, 0.5]), np.array([0, 1, 2]), labels, np.eye(2, dtype=bool))
    >>> found.thresholds.tolist(), found.false_stop.tolist()
    ([0.25, 0.5], [[1, 0], [1, 1]])
    """
    # A run alarms at the first step whose score reaches the threshold, so only steps that lift the running maximum
    # can be an alarm, each for a range of thresholds. All thresholds then cost one cumulative sum instead of one
    # pass each.
    values, t, trace, low, high = records(scores, offsets)
    grid, high = np.unique(high, return_inverse=True)
    low = np.searchsorted(grid, low, side="right")
    code = _LINE[coded(t, labels.take(trace))]
    rows = np.flatnonzero(code >= 0)
    falls = _Falls(members[:, trace[rows]], code[rows], low[rows], high[rows], len(grid))
    after, delay = (labels.lengths[trace] - 1 - t)[rows], (t - labels.onset[trace])[rows]
    counts = [*falls.counts(), falls.over_hits(after), falls.over_hits(delay)]
    names = ("hit", "premature", "late", "false_stop", "saved_steps", "delay_steps")
    whole: dict[str, Any] = {
        "n_stalled": (members @ labels.stalled.astype(np.int64))[:, None],
        "n_good": (members @ labels.good.astype(np.int64))[:, None],
        "stalled_steps": (members @ (labels.stalled * labels.lengths))[:, None],
    }
    return Curve(values[grid], **dict(zip(names, counts, strict=True)), **whole)


@dataclass(frozen=True, eq=False)
class _Falls:
    """Records, each the alarm of the thresholds from `low` to `high`, counted in every set by outcome and threshold."""

    inside: NDArray[np.bool_]
    code: Ints
    low: Ints
    high: Ints
    size: int

    def counts(self) -> Ints:
        """Return how many of each outcome, (4, n_sets, n_thresholds)."""
        sets, rows = np.nonzero(self.inside)
        sums = self._summed(self.code[rows] * len(self.inside) + sets, rows, None, len(ALARMS) * len(self.inside))
        return sums.reshape(len(ALARMS), len(self.inside), self.size)

    def over_hits(self, weight: Ints) -> Ints:
        """Return a weight summed over hits, (n_sets, n_thresholds)."""
        sets, rows = np.nonzero(self.inside & (self.code == 0))
        return self._summed(sets, rows, weight[rows], len(self.inside))

    def _summed(self, line: Ints, rows: Ints, weight: Ints | None, lines: int) -> Ints:
        """Sum over records on several lines: each adds from its `low` on, and no more above its `high`."""
        start, shape = line * (self.size + 1), lines * (self.size + 1)
        rises = np.bincount(start + self.low[rows], weight, minlength=shape)
        rises = rises - np.bincount(start + self.high[rows] + 1, weight, minlength=shape)
        return np.rint(np.cumsum(rises.reshape(lines, -1), axis=1)[:, :-1]).astype(np.int64)


def records(scores: Floats, offsets: Ints) -> tuple[Floats, Ints, Ints, Ints, Ints]:
    """Find every step that lifts its trace's running maximum above 0.

    Returns
    -------
    values : (n_distinct,) array
        Distinct scores and 0, ascending; the last two results index it.
    t, trace, low, high : (n_records,) int arrays
        Step, trace, the maximum before and the maximum from then on.

    Examples
    --------
    >>> [found.tolist() for found in records(np.array([0.5, 0.0, 1.0]), np.array([0, 3]))]
    [[0.0, 0.5, 1.0], [0, 2], [0, 0], [0, 1], [1, 2]]
    """
    values, rank = np.unique(np.append(scores, 0.0), return_inverse=True)
    zero, rank = int(rank[-1]), rank[:-1]
    lengths = np.diff(offsets)
    trace = np.repeat(np.arange(len(lengths)), lengths)
    # Ranks of later traces are lifted above those of earlier ones: one running maximum serves all traces.
    lifted = np.maximum.accumulate(rank + trace * len(values)) - trace * len(values) if len(rank) else rank
    first = np.zeros(len(rank), dtype=bool)
    first[offsets[:-1][lengths > 0]] = True
    before = np.where(first, zero, np.concatenate([[zero], lifted[:-1]]) if len(rank) else lifted)
    rows = np.flatnonzero(lifted > before)
    return values, rows - offsets[trace[rows]], trace[rows], before[rows], lifted[rows]
