"""Matching blocks as difflib finds them."""

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from driftlab._util.errors import DriftlabWarning
from driftlab._util.spec import whole
from driftlab.metrics.base import Pairwise
from driftlab.metrics.words import pieces

__all__ = ["Difflib"]

try:  # the same algorithm compiled; it has no wheel for every Python
    from cydifflib import SequenceMatcher as _Matcher
except ModuleNotFoundError:
    from difflib import SequenceMatcher as _Matcher

LONGEST_WORD = 60
CELLS = 2_500_000_000  # words of one text times words of the other: one or two seconds, compiled


@dataclass(frozen=True, repr=False)
class Difflib(Pairwise):
    """One minus ``difflib.SequenceMatcher(None, earlier, later, autojunk=False).ratio()``.

    Texts are compared by characters while the longer has at most `characters` of them, above it by words
    (``str.split``; a word of more than 60 characters is cut into pieces where its content says so). Texts that
    differ in spacing alone count there as one changed word. Not symmetric: difflib looks for the earlier text's
    blocks in the later text.

    Parameters
    ----------
    view, mask, lag, nearest
        Which texts are compared: see `Pairwise`.
    characters : int
        The longest text compared by characters, >= 0; the cost grows with its square.

    Warns
    -----
    DriftlabWarning
        Where the words of one text times those of the other exceed `CELLS` (50,000 times 50,000), also without
        what both texts begin and end with. The order of the words in between is then ignored, as in
        ``quick_ratio``, and the delta comes out lower or equal.

    Notes
    -----
    Ratcliff and Metzener (1988). difflib's own default, ``autojunk=True``, scores texts of 200 characters and more as
    nearly unrelated after one edit. cydifflib is used where it is installed; its results are the same.

    Examples
    --------
    >>> round(Difflib().compare("tide", "diet"), 2), round(Difflib().compare("diet", "tide"), 2)
    (0.75, 0.5)
    """

    name: ClassVar[str] = "difflib"
    symmetric: ClassVar[bool] = False
    characters: int = 4_000

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("characters", self.characters, 0)

    def delta(self, earlier: str, later: str) -> float:
        if max(len(earlier), len(later)) <= self.characters:
            return 1.0 - _ratio(earlier, later)
        first, second = _tokens(earlier), _tokens(later)
        if first == second:
            return 1.0 / max(1, len(first))
        return 1.0 - _word_ratio(first, second)


def _ratio(first: Sequence[Any], second: Sequence[Any]) -> float:
    return float(_Matcher(None, first, second, autojunk=False).ratio())


def _tokens(text: str) -> list[str]:
    out: list[str] = []
    for word in text.split():
        if len(word) <= LONGEST_WORD:
            out.append(word)
        else:
            out += pieces(word, 8)
    return out


def _word_ratio(first: list[str], second: list[str]) -> float:
    if len(first) * len(second) <= CELLS:
        return _ratio(first, second)
    start, end = _common(first, second)
    inner = first[start : len(first) - end], second[start : len(second) - end]
    matched, total = start + end, len(first) + len(second)
    if len(inner[0]) * len(inner[1]) <= CELLS:
        matched += sum(block.size for block in _Matcher(None, *inner, autojunk=False).get_matching_blocks())
    else:
        warnings.warn(
            f"difflib: two texts of {len(first)} and {len(second)} words are compared without regard to word order; "
            "an exact answer would take minutes (use levenshtein or jaccard for such texts)",
            DriftlabWarning,
            stacklevel=2,
        )
        matched += (Counter(inner[0]) & Counter(inner[1])).total()
    return 2.0 * matched / total


def _common(first: list[str], second: list[str]) -> tuple[int, int]:
    """Return how many words both begin with, and how many of the rest both end with."""
    shorter = min(len(first), len(second))
    start = next((i for i in range(shorter) if first[i] != second[i]), shorter)
    rest = shorter - start
    end = next((i for i in range(rest) if first[-1 - i] != second[-1 - i]), rest)
    return start, end
