"""What the labels say of each trace, what a first alarm there is worth."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from driftlab.trace.schema import TraceInfo

__all__ = ["OUTCOMES", "Floats", "Ints", "Labels", "Outcome", "coded", "outcomes", "ratio"]

Outcome = Literal["hit", "premature", "late", "miss", "false stop", "pass", "none"]
OUTCOMES: tuple[Outcome, ...] = ("hit", "premature", "late", "miss", "false stop", "pass", "none")
_HIT, _PREMATURE, _LATE, _MISS, _FALSE_STOP, _PASS, _NONE = range(len(OUTCOMES))
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of several traces as arrays, all (n_traces,).

    Attributes
    ----------
    stalled, good : bool
        Neither is set for a trace without a label, with label "unsure", or stalled without a marked stall:
        such a trace is in no rate.
    onset, end : int
        Half-open first stall; -1 where `stalled` is not set.
    lengths : int
        Steps of the trace.

    Examples
    --------
    >>> from driftlab.trace.schema import Span
    >>> labels = Labels.of([TraceInfo(id="a", label="stalled", stalls=(Span(3),))], np.array([9]))
    >>> labels.onset.tolist(), labels.end.tolist(), labels.detectable(7).tolist()
    ([3], [9], [False])
    """

    stalled: NDArray[np.bool_]
    good: NDArray[np.bool_]
    onset: Ints
    end: Ints
    lengths: Ints

    @classmethod
    def of(cls, infos: Sequence[TraceInfo], lengths: Ints) -> "Labels":
        """Read labels and first spans."""
        # The first stall only: a rule stops the run at its first alarm, so nothing after that stall can be met.
        first = [min(i.stalls, key=lambda s: s.start) if i.label == "stalled" and i.stalls else None for i in infos]
        ends = [-1 if s is None else int(n) if s.end is None else s.end for s, n in zip(first, lengths, strict=True)]
        onset = np.array([-1 if span is None else span.start for span in first], dtype=np.int64)
        good = np.array([info.label == "good" for info in infos], dtype=bool)
        return cls(onset >= 0, good, onset, np.array(ends, dtype=np.int64), np.asarray(lengths, dtype=np.int64))

    def take(self, rows: Any) -> "Labels":
        """Return the labels of some traces, named by index or by a mask."""
        return Labels(self.stalled[rows], self.good[rows], self.onset[rows], self.end[rows], self.lengths[rows])

    def detectable(self, patience: int) -> NDArray[np.bool_]:
        """Stalled traces with at least `patience` steps inside the stall."""
        return self.stalled & (self.end - self.onset >= patience)


def outcomes(alarms: Ints, labels: Labels) -> NDArray[np.str_]:
    """Name what each first alarm is worth, shape (n_traces,).

    Parameters
    ----------
    alarms : (n_traces,) int array
        Step of the first alarm, -1 for none.
    labels : Labels

    Returns
    -------
    (n_traces,) array of str
        hit, premature, late, miss on a stalled trace; false stop, pass on a good one; "none" where the
        trace is in no rate.

    Examples
    --------
    >>> from driftlab.trace.schema import Span
    >>> infos = [TraceInfo(id="a", label="stalled", stalls=(Span(3, 6),)), TraceInfo(id="b", label="good")]
    >>> labels = Labels.of(infos, np.array([9, 9]))
    >>> [outcomes(np.array([t, t]), labels).tolist() for t in (2, 3, 6, -1)]
    [['premature', 'false stop'], ['hit', 'false stop'], ['late', 'false stop'], ['miss', 'pass']]
    """
    return np.array(OUTCOMES)[coded(alarms, labels)]


def coded(alarms: Ints, labels: Labels) -> Ints:
    """Number each outcome by its place in `OUTCOMES`; several rows of alarms, (..., n_traces), at once.

    Examples
    --------
    >>> labels = Labels.of([TraceInfo(id="b", label="good")], np.array([9]))
    >>> coded(np.array([[4], [-1]]), labels).tolist()
    [[4], [5]]
    """
    # An alarm before the onset stops a run that still made progress. It is no early hit: half the point of an
    # onset.
    stalled = np.where(alarms < labels.onset, _PREMATURE, np.where(alarms < labels.end, _HIT, _LATE))
    stalled = np.where(alarms < 0, _MISS, stalled)
    good = np.where(alarms < 0, _PASS, _FALSE_STOP)
    codes: Ints = np.where(labels.stalled, stalled, np.where(labels.good, good, _NONE))
    return codes


def ratio(part: Any, whole: Any) -> Any:
    """Divide numbers or arrays; `nan` where there is nothing to divide by.

    Examples
    --------
    >>> ratio(1, 4), ratio(0, 0), ratio(np.array([1, 2]), 4).tolist()
    (0.25, nan, [0.25, 0.5])
    """
    part, whole = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    shape = np.broadcast_shapes(part.shape, whole.shape)
    share = np.divide(part, whole, out=np.full(shape, np.nan), where=whole != 0)
    return share if shape else float(share)
