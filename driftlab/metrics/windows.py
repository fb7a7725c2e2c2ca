"""Long texts in windows that a model reads whole."""

import warnings
from collections.abc import Sequence
from typing import Any

from driftlab._util.errors import DriftlabWarning

__all__ = ["split"]

END = 30_000  # characters read at each end of a longer text; some 60 windows of MiniLM, five seconds
Window = tuple[str, int]  # text, number of tokens


def split(model: Any, texts: Sequence[str]) -> list[list[Window]]:
    """Cut texts into windows of at most the tokens that a model reads.

    Parameters
    ----------
    model : object
        With `max_seq_length` and `tokenizer`, else every text is one window.
    texts : sequence of str
        What to encode.

    Returns
    -------
    list of list of (str, int)
        At least one window a text, in order, with the number of tokens it stands for.

    Examples
    --------
    >>> split(None, ["no model, no limit"])
    [[('no model, no limit', 1)]]
    """
    texts = [_ends(_valid(text)) for text in texts]
    limit, tokenizer = getattr(model, "max_seq_length", None), getattr(model, "tokenizer", None)
    if not limit or tokenizer is None:
        return [[(text, 1)] for text in texts]
    room = max(1, limit - _specials(tokenizer))
    # A character is at most four tokens (bytes), so shorter texts need no tokenizer.
    long = [place for place, text in enumerate(texts) if len(text) > room // 4]
    windows: list[list[Window]] = [[(text, 1)] for text in texts]
    for place, encoding in zip(long, _encodings(tokenizer, [texts[place] for place in long]), strict=True):
        windows[place] = _by_tokens(texts[place], encoding, room)
    return windows


def _valid(text: str) -> str:
    """Replace lone surrogates, which no tokenizer takes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _ends(text: str) -> str:
    if len(text) <= 2 * END:
        return text
    warnings.warn(
        f"embedding: a text of {len(text)} characters is read at both ends ({END} characters each); "
        "a change in between is not seen (use levenshtein or jaccard for such texts)",
        DriftlabWarning,
        stacklevel=2,
    )
    return f"{text[:END]}\n{text[-END:]}"


def _specials(tokenizer: Any) -> int:
    # transformers and tokenizers name it differently; two marks are what nearly every model adds.
    count = getattr(tokenizer, "num_special_tokens_to_add", None)
    try:
        return int(count()) if count else 2
    except TypeError:
        return 2


def _encodings(tokenizer: Any, texts: list[str]) -> list[Any]:
    if not texts:
        return []
    if hasattr(tokenizer, "encode_batch"):
        return [tokenizer.encode(text, add_special_tokens=False) for text in texts]
    batch = tokenizer(texts, add_special_tokens=False, truncation=False, padding=False, verbose=False)
    return getattr(batch, "encodings", None) or [None] * len(texts)


def _by_tokens(text: str, encoding: Any, room: int) -> list[Window]:
    if encoding is None:  # a tokenizer without offsets: a token has at least one character
        return [(text[start : start + room], room) for start in range(0, len(text), room)]
    offsets, owners = encoding.offsets, encoding.word_ids
    places = _cuts(owners, room)
    bounds = [0, *(offsets[place][0] for place in places[1:-1]), len(text)]
    return [
        (text[bounds[i] : bounds[i + 1]], max(1, places[i + 1] - places[i]))
        for i in range(len(bounds) - 1)
        if i == 0 or bounds[i] < bounds[i + 1]
    ]


def _cuts(owners: Sequence[int | None], room: int) -> list[int]:
    """Return window borders in tokens; a word is cut only where it alone fills a window."""
    places = [0]
    while places[-1] + room < len(owners):
        end = places[-1] + room
        start = end
        while start > places[-1] and owners[start] is not None and owners[start - 1] == owners[start]:
            start -= 1
        places.append(start if start > places[-1] else end)
    return [*places, len(owners)]
