"""Character edits between two texts."""

from dataclasses import dataclass
from typing import ClassVar

from rapidfuzz.distance import Levenshtein as _Levenshtein

from driftlab.metrics.base import Pairwise


@dataclass(frozen=True, repr=False)
class Levenshtein(Pairwise):
    """Insertions, deletions and substitutions over the length of the longer text.

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

    Notes
    -----
    Levenshtein (1966), computed by rapidfuzz on code points.

    Examples
    --------
    >>> round(Levenshtein().compare("kitten", "sitting"), 4)
    0.4286
    """

    name: ClassVar[str] = "levenshtein"
    view: str = "state"
    mask: str = "text"
    lag: int = 1
    nearest: bool = False

    def delta(self, earlier: str, later: str) -> float:
        return _Levenshtein.distance(earlier, later) / max(len(earlier), len(later))
