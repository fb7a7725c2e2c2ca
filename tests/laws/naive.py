"""Slow, obvious twins of the fast code."""

import difflib
import math
from collections.abc import Callable, Sequence

# --- metrics -------------------------------------------------------------------------------------------------------


def edits(first: str, second: str) -> int:
    """Return the Levenshtein distance, cell by cell."""
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, start=1):
        above, row[0] = row[0], i
        for j, b in enumerate(second, start=1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (a != b))
    return row[-1]


def levenshtein(first: str, second: str) -> float:
    longer = max(len(first), len(second))
    return edits(first, second) / longer if longer else 0.0


def ratio(first: Sequence[str], second: Sequence[str]) -> float:
    return 1.0 - difflib.SequenceMatcher(None, first, second, autojunk=False).ratio()


def lowered_words(text: str) -> list[str]:
    found, word = [], ""
    for letter in text.lower():
        if letter.isalnum() or letter == "_":
            word += letter
            continue
        found += [word] * bool(word) + [letter] * (not letter.isspace())
        word = ""
    return found + [word] * bool(word)


def jaccard(first: str, second: str) -> float:
    one, two = set(lowered_words(first)), set(lowered_words(second))
    return 1.0 - len(one & two) / len(one | two) if one | two else 0.0


def lagged(
    texts: Sequence[str | None], compare: Callable[[str, str], float], lag: int = 1, *, nearest: bool = False
) -> list[float]:
    """Return one delta a step: a lag counts steps that have a text."""
    out: list[float] = []
    had: list[str] = []
    for text in texts:
        if text is None:
            out.append(math.nan)
            continue
        earlier = had[-lag:] if nearest else had[len(had) - lag :][:1] if len(had) >= lag else []
        out.append(min([1.0] + [compare(other, text) for other in earlier]))
        had.append(text)
    return out


def novelty(outputs: Sequence[str | None]) -> list[float]:
    """Return the share of new lines of each output; no echoes are stripped."""
    out: list[float] = []
    seen: list[str] | None = None
    for output in outputs:
        if output is None:
            out.append(math.nan)
            continue
        lines = [line.strip() for line in output.split("\n") if line.strip()]
        fresh = [line for line in lines if line not in (seen or [])]
        out.append(1.0 if seen is None else len(fresh) / len(lines) if lines else 0.0)
        seen = (seen or []) + lines
    return out


def repeat(texts: Sequence[str | None], last: int) -> list[float]:
    return lagged(texts, lambda a, b: 0.0 if a == b else jaccard(a[:6_000], b[:6_000]), last, nearest=True)


def gain(values: Sequence[float | None], scale: float | None = None) -> list[float]:
    """Return the gain over the best so far, in units of `scale`, cut at 1."""
    out: list[float] = []
    had: list[float] = []
    for value in values:
        if value is None:
            out.append(math.nan)
            continue
        more = value - max(had) if had else math.inf
        out.append(0.0 if more <= 0 else 1.0 if scale is None else min(1.0, more / scale))
        had.append(value)
    return out


# --- evaluation ----------------------------------------------------------------------------------------------------


def first_alarm(scores: Sequence[float], threshold: float) -> int | None:
    for t, score in enumerate(scores):
        if score >= threshold:
            return t
    return None


def outcome(label: str | None, span: tuple[int, int] | None, alarm: int | None) -> str:
    """Return what a first alarm is worth; `span` is the first stall, half-open."""
    if label == "good":
        return "pass" if alarm is None else "false stop"
    if label != "stalled" or span is None:
        return "none"
    if alarm is None:
        return "miss"
    if alarm < span[0]:
        return "premature"
    return "hit" if alarm < span[1] else "late"


def auc(stalled: Sequence[float], good: Sequence[float]) -> float:
    """Return the share of pairs in which the stalled one scores higher, ties counting half."""
    won = [1.0 if a > b else 0.5 if a == b else 0.0 for a in stalled for b in good]
    return sum(won) / len(won) if won else math.nan


def pairs_won(
    high: Sequence[Sequence[float]], low: Sequence[Sequence[float]], own: Sequence[float], heavy: Sequence[float]
) -> float:
    """Return the mean over scores of the weight of pairs in which the stalled one scores higher, ties counting half."""
    total = 0.0
    for above, below in zip(high, low, strict=True):
        for a, m in zip(above, own, strict=True):
            for b, n in zip(below, heavy, strict=True):
                total += m * n * (1.0 if a > b else 0.5 if a == b else 0.0)
    return total / len(high)


def auc_at_equal_age(
    runs: Sequence[tuple[str | None, tuple[int, int] | None, Sequence[float]]], width: int
) -> tuple[float, int, int]:
    """Return law 15's area, how many stalled and how many good runs are compared."""
    shares, compared = [], set()
    for label, span, scores in runs:
        if label != "stalled" or span is None or len(scores) < span[0] + width:
            continue
        peers = [k for k, (kind, _, s) in enumerate(runs) if kind == "good" and len(s) >= span[0] + width]
        if peers:
            own = max(scores[span[0] : span[0] + width])
            shares.append(auc([own], [max(runs[k][2][span[0] : span[0] + width]) for k in peers]))
            compared.update(peers)
    return (sum(shares) / len(shares) if shares else math.nan), len(shares), len(compared)


def horizon(runs: Sequence[tuple[str | None, tuple[int, int] | None, Sequence[float]]]) -> int | None:
    stalled = sum(label == "stalled" and span is not None for label, span, _ in runs)
    for width in range(16, 0, -1):
        _, compared, good = auc_at_equal_age(runs, width)
        if compared and compared >= 0.8 * stalled and good >= 20:
            return width
    return None
