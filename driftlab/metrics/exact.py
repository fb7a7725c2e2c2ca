"""Whether two texts are the same."""

from dataclasses import dataclass
from typing import ClassVar

from driftlab.metrics.base import Pairwise

__all__ = ["Exact"]


@dataclass(frozen=True, repr=False)
class Exact(Pairwise):
    """0 when the masked texts are equal, else 1. Resolution: one character is a full change.

    Parameters
    ----------
    view : {"state", "thought", "action", "output", "call"}
        What is compared.
    mask : str
        How text is rewritten before the comparison.
    lag : int
        How many steps that have the view lie between the two texts, >= 1.
    nearest : bool
        Compare with each of the last `lag` steps; the smallest delta counts.

    Examples
    --------
    >>> Exact().compare("tests: 3 passed", "tests: 3 passed ")
    0.0
    >>> Exact(mask="raw").compare("tests: 3 passed", "tests: 3 passed ")
    1.0
    """

    name: ClassVar[str] = "exact"
    view: str = "state"
    mask: str = "text"
    lag: int = 1
    nearest: bool = False

    def delta(self, earlier: str, later: str) -> float:
        return float(earlier != later)
