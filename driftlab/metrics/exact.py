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
    view, mask, lag, nearest
        Which texts are compared: see `Pairwise`.

    Examples
    --------
    >>> Exact().compare("tests: 3 passed", "tests: 3 passed ")
    0.0
    >>> Exact(mask="raw").compare("tests: 3 passed", "tests: 3 passed ")
    1.0
    """

    name: ClassVar[str] = "exact"

    def delta(self, earlier: str, later: str) -> float:
        return float(earlier != later)
