"""Detectors that count steps in a row."""

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from driftlab.detectors.base import Detector, Evidence, Floats, Now, State, absolute, first_reaching

__all__ = ["Graded", "Streak", "trailing"]


class Graded(Detector):
    """Counts steps; the score is ``min(1, count / patience)``, so a threshold of 1/2 is half the patience."""

    @property
    def memory(self) -> int:
        return 0

    def fewest(self, threshold: float) -> float:
        return first_reaching(threshold, lambda count: min(count / self.patience, 1.0))

    def graded(self, count: Floats) -> Floats:
        """Turn counts into scores."""
        scores: Floats = np.minimum(count, self.patience)
        scores /= self.patience
        return scores


class Streak(Graded):
    """Counts steps in a row; fires at threshold 1.0 when `patience` of them were seen."""

    def start(self, n: int) -> State:
        return {"count": np.zeros(n)}

    @abstractmethod
    def counts(self, now: Now) -> Floats:
        """Return 1.0 where a step counts, 0.0 where it ends the streak, `nan` where it says nothing."""

    def advance(self, state: State, now: Now) -> Floats:
        count = state["count"]
        # One product does it all: 1 adds a step, 0 starts again, nan stays nan and is not written.
        fresh = self.counts(now) * (count + 1)
        spoken = fresh == fresh  # noqa: PLR0124 - not nan, in one pass
        np.copyto(count, fresh, where=spoken)
        return self.graded(count)

    def evidence(self, columns: Now, t: int) -> Evidence:
        """Return the whole streak."""
        rows = trailing(self.counts(columns))
        return Evidence(absolute(rows, columns, t), f"{len(rows)} steps in a row: {self.reason()}")


def trailing(counts: Floats) -> NDArray[np.int64]:
    """Return the rows of the last streak: those that count since the last that ended one.

    Examples
    --------
    >>> trailing(np.array([1.0, 0.0, 1.0, np.nan, 1.0])).tolist()
    [2, 4]
    """
    ends = np.flatnonzero(counts == 0)
    first = ends[-1] + 1 if len(ends) else 0
    return first + np.flatnonzero(counts[first:] == 1)
