"""Units of text that metrics count."""

import re
from bisect import bisect_left
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["pieces", "words"]

_WORD = re.compile(r"\w+|[^\w\s]")
_GRAM = 8  # characters that decide whether a cut lies behind them


def words(text: str) -> list[str]:
    """Return lower-case words; every other visible character is a word of its own.

    Examples
    --------
    >>> words("grep -i Discount")
    ['grep', '-', 'i', 'discount']
    """
    return _WORD.findall(text.lower())


def pieces(text: str, size: int) -> list[str]:
    """Cut text where its own characters say so, at least `size` characters apart (the last piece may be shorter).

    An edit moves only the cuts beside it, so two texts that share a long passage share its pieces wherever the
    passage begins. Pieces of a fixed length would all change when one character is put in front.

    Examples
    --------
    >>> "".join(pieces("abc" * 30, 10)) == "abc" * 30
    True
    """
    bounds = [0]
    candidates = _minima(text, size).tolist()
    place = bisect_left(candidates, size)
    while place < len(candidates):
        bounds.append(candidates[place])
        place = bisect_left(candidates, bounds[-1] + size)
    bounds.append(len(text))
    return [text[start:end] for start, end in pairwise(bounds) if start < end]


def _minima(text: str, reach: int) -> NDArray[np.int64]:
    """Return the places behind eight characters whose hash is the smallest of `reach` neighbours on both sides."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    count = len(codes) - _GRAM + 1
    if count <= 0:
        return np.zeros(0, dtype=np.int64)
    mixed = np.zeros(count, dtype=np.uint64)
    for place in range(_GRAM):
        mixed = mixed * np.uint64(0x9E3779B97F4A7C15) + codes[place : place + count]
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return np.flatnonzero(mixed == _smallest(mixed, reach)) + _GRAM


def _smallest(values: NDArray[np.uint64], reach: int) -> NDArray[np.uint64]:
    """Return the minimum over `reach` neighbours on both sides, by doubling the span."""
    width, span = 2 * reach + 1, 1
    padded = np.pad(values, reach, constant_values=np.iinfo(np.uint64).max)
    while span < width:
        shift = min(span, width - span)
        padded = np.minimum(padded[:-shift], padded[shift:])
        span += shift
    return padded
