"""JSON as it comes: read strictly where that works, repaired where it does not."""

import json
import math
import re
from typing import Any

import msgspec

from driftlab.importers.parts.values import shallow

__all__ = ["kept", "repaired", "repeated_key", "salvaged", "several", "strict"]

DEEP = 200  # levels of nesting that are kept
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},]', re.DOTALL)
_CLOSE = {"[": "]", "{": "}"}


def strict(data: bytes) -> tuple[Any, bytes] | None:
    """Decode an object or list and encode it again; None when either cannot be done.

    Examples
    --------
    >>> strict(b'{"a": 1}'), strict(b'{"a": NaN}'), strict(b"3")
    (({'a': 1}, b'{"a":1}'), None, None)
    """
    try:
        value = msgspec.json.decode(data)
        if not isinstance(value, dict | list):
            return None
        again = msgspec.json.encode(value)
    except (msgspec.MsgspecError, RecursionError, OverflowError, UnicodeError):
        return None
    fits = data.count(b"[") + data.count(b"{") <= DEEP or shallow(value, DEEP)
    return (value, again) if fits else None


def repaired(text: str) -> Any:
    """Read what a strict reader refuses: NaN and infinity become null, integers of thousands of digits text,
    half surrogates "?".

    Raises
    ------
    ValueError
        When that does not help either; a `JSONDecodeError` says where.

    Examples
    --------
    >>> repaired('{"a": NaN, "b": "tab\t"}')
    {'a': None, 'b': 'tab\t'}
    """
    try:
        value = _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError("brackets are nested too deeply") from error
    if not isinstance(value, dict | list):
        raise ValueError("neither an object nor a list")
    return kept(value)


def several(text: str) -> tuple[list[Any], ValueError | None, int]:
    """Read values that follow each other, as exporters print them.

    Returns
    -------
    list, ValueError or None, int
        What was read, why it ended early, and where.

    Examples
    --------
    >>> several('{"a": 1} {"a": 2}')
    ([{'a': 1}, {'a': 2}], None, 17)
    """
    found: list[Any] = []
    place = _skip(text, 0)
    try:
        while place < len(text):
            value, place = _DECODER.raw_decode(text, place)
            found.append(kept(value))
            place = _skip(text, place)
    except ValueError as error:
        return found, error, place
    except RecursionError:
        return found, ValueError("brackets are nested too deeply"), place
    return found, None, place


def salvaged(text: str, end: int) -> Any:
    """Return what stands whole before `end`: the elements of the outermost open list that has any; None for nothing.

    Examples
    --------
    >>> salvaged('{"id": "a", "steps": [{"n": 1}, {"n": 2}, {"n": ', 50)
    {'id': 'a', 'steps': [{'n': 1}, {'n': 2}]}
    """
    stack: list[tuple[str, int | None]] = []
    for match in _TOKEN.finditer(text, 0, end):
        token = match[0]
        if token in _CLOSE:
            stack.append((token, None))
        elif token in ("]", "}"):
            if not stack:
                return None
            stack.pop()
            _complete(stack, match.end())
        elif token == ",":
            _complete(stack, match.start())
    for depth, (_, cut) in enumerate(stack):
        if cut is not None:
            closing = "".join(_CLOSE[opener] for opener, _ in reversed(stack[: depth + 1]))
            return _quietly(text[:cut] + closing)
    return None


def _complete(stack: list[tuple[str, int | None]], place: int) -> None:
    """Note where the last whole element of the innermost list ends."""
    if stack and stack[-1][0] == "[":
        stack[-1] = ("[", place)


def _quietly(text: str) -> Any:
    try:
        return repaired(text)
    except ValueError:
        return None


def kept(value: Any, depth: int = 0) -> Any:
    """Return a value that can be written again: no half surrogates, no infinity, not too deep.

    Raises
    ------
    ValueError
        When it is nested too deeply.

    Examples
    --------
    >>> kept(["\\ud800", 2.5, float("inf")])
    ['?', 2.5, None]
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if depth > DEEP:
        raise ValueError("brackets are nested too deeply")
    if isinstance(value, list):
        return [kept(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {kept(key): kept(item, depth + 1) for key, item in value.items()}
    return value


def repeated_key(data: bytes, again: bytes) -> str | None:
    """Return a key that stands twice in one object of `data`, which encodes again as `again`.

    Examples
    --------
    >>> repeated_key(b'{"a": 1, "a": 2}', b'{"a":2}')
    'a'
    """
    # Counting colons costs less than a decoder that looks at each key; only a difference is looked into.
    if data.count(b'":') == again.count(b'":') or _colons(data) <= _colons(again):
        return None
    twice: list[str] = []

    def pairs(found: list[tuple[str, Any]]) -> None:
        keys = [key for key, _ in found]
        if len(set(keys)) < len(keys):
            twice.extend(key for key in keys if keys.count(key) > 1)

    json.loads(data.decode("utf-8", "replace"), object_pairs_hook=pairs)
    return twice[0] if twice else None


def _colons(data: bytes) -> int:
    return data.count(b'":') + data.count(b'" :') - data.count(b'\\":')


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= 4000 else digits  # Python writes no longer ones


# Control characters inside text are kept: terminals write them.
_DECODER = json.JSONDecoder(strict=False, parse_constant=lambda _: None, parse_int=_integer)


def _skip(text: str, place: int) -> int:
    while place < len(text) and text[place] in " \t\r\n,":
        place += 1
    return place
