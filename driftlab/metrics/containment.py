"""How much of a text the earlier one already said."""

from dataclasses import dataclass
from typing import ClassVar

from driftlab.metrics.base import Pairwise
from driftlab.metrics.words import words

__all__ = ["Containment"]

GRAM = 3


@dataclass(frozen=True, repr=False)
class Containment(Pairwise):
    """Share of the later text's distinct phrases that the earlier text does not hold.

    A phrase is three words in a row (fewer where a text is shorter). A text that only repeats or drops what the
    earlier one said has a delta near 0 however much its length changes; a text that keeps the earlier one and adds
    as much again has 0.5. Not symmetric: what was dropped does not count. Resolution: one phrase.

    Parameters
    ----------
    view, mask, lag, nearest
        Which texts are compared: see `Pairwise`.

    Notes
    -----
    Broder (1997), "containment" of shingles. Words as in `jaccard`.

    Examples
    --------
    >>> Containment().compare("read a read b", "read a read b read a read b read a read b")
    0.5
    >>> Containment().compare("run tests then fix the parser", "run tests then fix")
    0.0
    """

    name: ClassVar[str] = "containment"
    symmetric: ClassVar[bool] = False
    view: str = "action"

    def delta(self, earlier: str, later: str) -> float:
        old, new = words(earlier), words(later)
        if not old or not new:
            return float(len(old) != len(new))
        size = min(GRAM, len(old), len(new))
        said, says = _phrases(old, size), _phrases(new, size)
        return len(says - said) / len(says)


def _phrases(found: list[str], size: int) -> set[tuple[str, ...]]:
    return set(zip(*(found[place:] for place in range(size)), strict=False))
