"""Whether a rule can fire at all on traces as long as these."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from driftlab.detectors.base import Detector
from driftlab.trace.schema import TraceInfo

SMALLEST = float(np.finfo(np.float64).tiny)  # any score above 0 reaches it


@dataclass(frozen=True)
class Reach:
    """How many stalled traces are long enough after onset for a detector to reach a threshold.

    Attributes
    ----------
    detector : str
        Spec of the detector.
    threshold : float
        The threshold asked about; the smallest number above 0 where any threshold counts.
    fewest : float
        Steps it needs; `inf`: no trace is long enough.
    stalled : int
        Stalled traces with a marked stall.
    enough : int
        Those with so many steps from onset to the end of the stall.

    Examples
    --------
    >>> Reach("plateau", 0.9, 5.0, stalled=8, enough=6).share
    0.75
    """

    detector: str
    threshold: float
    fewest: float
    stalled: int
    enough: int

    @property
    def share(self) -> float:
        """Share of stalled traces that are long enough; `nan` without stalled traces."""
        return self.enough / self.stalled if self.stalled else float("nan")

    @property
    def never(self) -> bool:
        """Whether the rule cannot fire inside any marked stall of these traces."""
        return self.stalled > 0 and self.enough == 0

    def __str__(self) -> str:
        needs = "no number of steps suffices" if self.fewest == np.inf else f"needs {self.fewest:.0f} steps"
        words = f"{self.enough} of {self.stalled} stalled traces are long enough after onset ({needs})"
        return f"{self.detector} {'CAN NEVER FIRE here: ' if self.never else ''}{words}"


def reachable(
    detector: Detector, infos: Sequence[TraceInfo], lengths: NDArray[np.int64], threshold: float = SMALLEST
) -> Reach:
    """Count the stalled traces on which a detector can reach a threshold inside the first stall.

    Parameters
    ----------
    detector : Detector
    infos : sequence of TraceInfo
    lengths : (n_traces,) int array
        Steps of each trace.
    threshold : float
        By default the smallest number above 0: whether it can fire at any threshold.

    Examples
    --------
    >>> from driftlab.detectors import Plateau
    >>> from driftlab.trace.schema import Span
    >>> infos = [TraceInfo(id="a", label="stalled", stalls=(Span(2),))]
    >>> print(reachable(Plateau("exact", "run(5)"), infos, np.array([6])))
    plateau(exact, run(5)) CAN NEVER FIRE here: 0 of 1 stalled traces are long enough after onset (needs 5 steps)
    """
    lived = _stalled_for(infos, lengths)
    fewest = detector.fewest(threshold)
    return Reach(repr(detector), threshold, fewest, len(lived), int(np.count_nonzero(lived >= fewest)))


def never_firing(detectors: Iterable[Detector], infos: Sequence[TraceInfo], lengths: NDArray[np.int64]) -> list[Reach]:
    """Return the detectors that cannot fire on these traces at any threshold.

    Examples
    --------
    >>> from driftlab.detectors import Plateau
    >>> from driftlab.trace.schema import Span
    >>> infos = [TraceInfo(id="a", label="stalled", stalls=(Span(2),))]
    >>> [each.detector for each in never_firing([Plateau("exact", "run(5)"), Plateau()], infos, np.array([6]))]
    ['plateau(exact, run(5))']
    """
    found = (reachable(each, infos, lengths) for each in detectors)
    return [each for each in found if each.never]


def _stalled_for(infos: Sequence[TraceInfo], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the steps of each first stall, from onset to its end or the end of the trace."""
    first = [min(i.stalls, key=lambda s: s.start) if i.label == "stalled" and i.stalls else None for i in infos]
    spans = zip(first, lengths.tolist(), strict=True)
    return np.array([(n if s.end is None else s.end) - s.start for s, n in spans if s is not None], dtype=np.int64)
