"""Shared words of two texts."""

from dataclasses import dataclass
from typing import ClassVar

from driftlab.metrics.base import Pairwise
from driftlab.metrics.words import words

__all__ = ["Jaccard", "unlike"]


@dataclass(frozen=True, repr=False)
class Jaccard(Pairwise):
    """One minus the share of distinct words that both texts have among those that either has.

    Words are runs of letters, digits and underscores in lower case; any other visible character is a word of its
    own. Resolution: one distinct word; texts that differ in order, repetition, case or spacing alone have delta 0.

    Parameters
    ----------
    view, mask, lag, nearest
        Which texts are compared: see `Pairwise`.

    Notes
    -----
    Jaccard (1901).

    Examples
    --------
    >>> Jaccard().compare("tests: 3 passed", "tests: 4 passed")
    0.4
    """

    name: ClassVar[str] = "jaccard"

    def delta(self, earlier: str, later: str) -> float:
        return unlike(frozenset(words(earlier)), frozenset(words(later)))


def unlike(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the Jaccard distance of two sets; two empty sets are equal.

    Examples
    --------
    >>> unlike(frozenset("ab"), frozenset("bc")) == 1 - 1 / 3
    True
    """
    either = len(first | second)
    return 1.0 - len(first & second) / either if either else 0.0
