"""Character edits between two texts."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein as _Levenshtein
from rapidfuzz.distance import Postfix, Prefix

from driftlab._util.errors import DriftlabWarning
from driftlab.metrics.base import Pairwise
from driftlab.metrics.words import pieces

__all__ = ["Levenshtein"]

CELLS = 40_000_000_000  # characters of one text times characters of the other: 200,000 squared, one second
NEAR = 1_000  # so many edits are counted exactly at any length
PIECES = 50_000  # into about how many pieces a longer text is cut


@dataclass(frozen=True, repr=False)
class Levenshtein(Pairwise):
    """Insertions, deletions and substitutions over the length of the longer text.

    Parameters
    ----------
    view, mask, lag, nearest
        Which texts are compared: see `Pairwise`.

    Warns
    -----
    DriftlabWarning
        Where the lengths of both texts, multiplied, exceed `CELLS` (200,000 times 200,000 characters), also without
        what both begin and end with, and more than `NEAR` edits lie between them. That middle is then cut into
        pieces where its content says so, an edit changes whole pieces, and the delta comes out higher.

    Notes
    -----
    Levenshtein (1966), computed by rapidfuzz on code points.

    Examples
    --------
    >>> round(Levenshtein().compare("kitten", "sitting"), 4)
    0.4286
    """

    name: ClassVar[str] = "levenshtein"

    def delta(self, earlier: str, later: str) -> float:
        if len(earlier) * len(later) > CELLS:
            return _coarse(earlier, later)
        return _Levenshtein.normalized_distance(earlier, later)

    def deltas(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        if any(len(earlier) * len(later) > CELLS for earlier, later in pairs):
            return super().deltas(pairs)
        distance = _Levenshtein.normalized_distance
        return np.array([distance(earlier, later) for earlier, later in pairs], dtype=np.float64)


def _coarse(earlier: str, later: str) -> float:
    """Compare what lies between the common ends: exactly where it is short or nearly equal, else in pieces."""
    longer = max(len(earlier), len(later))
    start = int(Prefix.similarity(earlier, later))
    end = int(Postfix.similarity(earlier[start:], later[start:]))
    first, second = earlier[start : len(earlier) - end], later[start : len(later) - end]
    # rapidfuzz gives up once the edits exceed a cutoff, so this is quick however long the texts are.
    cutoff = NEAR if len(first) * len(second) > CELLS else None
    edits = _Levenshtein.distance(first, second, score_cutoff=cutoff)
    if cutoff is None or edits <= cutoff:
        return edits / longer
    warnings.warn(
        f"levenshtein: texts of {len(earlier)} and {len(later)} characters are compared in pieces, not characters; "
        "an exact answer would take minutes",
        DriftlabWarning,
        stacklevel=2,
    )
    middle = max(len(first), len(second))
    size = max(8, middle // PIECES)
    return _Levenshtein.normalized_distance(pieces(first, size), pieces(second, size)) * middle / longer
