"""What a step says under a view, a mask."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from driftlab._util.errors import InputError
from driftlab._util.spec import choice
from driftlab.trace.masks import MASKS, Mask, register_mask
from driftlab.trace.schema import Step

VIEWS = ("state", "thought", "action", "output", "call")
ABSENT = -1
# A number of its own: Python's limit would let the depth of the caller decide what can be compared.
DEEPEST = 100
_STRINGS, _BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL), re.compile(r"[][{}]")
_WIDEST = 10**4_000  # what has more than 4,300 digits Python writes in hexadecimal alone

__all__ = [
    "ABSENT",
    "DEEPEST",
    "MASKS",
    "VIEWS",
    "Mask",
    "TextColumn",
    "canonical",
    "canonical_json",
    "column",
    "comparable",
    "register_mask",
    "symbols",
    "too_deep",
    "unpacked",
    "view_text",
]


def canonical(args: Any) -> str:
    """Return arguments as text in which key order and spacing never matter.

    Keys are sorted at every depth, lists keep their order, 3 equals 3.0, text that holds a JSON object
    or list is read, any other text stays as it is, null is an empty object.

    Raises
    ------
    InputError
        When the arguments are nested more than `DEEPEST` levels deep, or hold what JSON cannot.

    Examples
    --------
    >>> canonical({"b": 3.0, "a": [2, 1]}) == canonical('{ "a": [2,1], "b": 3 }')
    True
    >>> canonical("ls -l")
    'ls -l'
    """
    plain = unpacked(args)
    return plain if isinstance(plain, str) else canonical_json(plain)


def unpacked(args: Any) -> Any:
    """Return arguments with JSON text read; text that is no JSON object or list stays text, null is empty.

    So does text whose JSON is nested more than `DEEPEST` levels deep.

    Examples
    --------
    >>> unpacked('{"q": "x"}'), unpacked('{"q": "x", '), unpacked(None)
    ({'q': 'x'}, '{"q": "x", ', {})
    """
    if args is None:
        return {}
    if not isinstance(args, str) or not args.lstrip().startswith(("{", "[")) or _deep(args):
        return args
    try:
        return msgspec.json.decode(args)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return args


def comparable(args: Any) -> bool:
    """Whether `canonical` takes the arguments, told much sooner than it would tell.

    Examples
    --------
    >>> comparable({"a": [1, "x"]}), comparable("ls -l"), comparable({"a": object()})
    (True, True, False)
    """
    if isinstance(args, str) or _plain_json(args):
        return True
    try:
        canonical_json(args)
    except InputError:
        return False
    return True


def too_deep() -> str:
    """Return what is said of arguments that are nested too deeply.

    Examples
    --------
    >>> too_deep()
    'args are nested too deeply to compare, more than 100 levels; flatten or shorten them first'
    """
    return f"args are nested too deeply to compare, more than {DEEPEST} levels; flatten or shorten them first"


def _deep(text: str) -> bool:
    """Whether the brackets of a text, strings apart, nest more than `DEEPEST` levels deep."""
    if text.count("{") + text.count("[") <= DEEPEST:
        return False
    brackets = _BRACKETS.findall(_STRINGS.sub("", text))
    return max(accumulate(1 if each in "{[" else -1 for each in brackets)) > DEEPEST


def _plain_json(value: Any, levels: int = DEEPEST) -> bool:
    """Whether a value is made of plain Python alone and nests at most `levels` deep."""
    if isinstance(value, dict):
        items: Iterable[Any] = value.values()
    elif isinstance(value, list | tuple):
        items = value
    else:
        return type(value) in _SCALARS
    if not levels or _SCALARS.issuperset(map(type, items)):
        return levels > 0
    return all(_plain_json(item, levels - 1) for item in items)


_SCALARS = frozenset((str, int, float, bool, type(None)))


def canonical_json(value: Any) -> str:
    """Return any JSON value as text with sorted keys, no spaces, whole numbers without a point.

    Examples
    --------
    >>> canonical_json({"b": 3.0, "a": True})
    '{"a":true,"b":3}'
    """
    try:
        return _encoded(_plain(value, DEEPEST))
    except RecursionError as error:
        raise InputError(too_deep()) from error
    except (TypeError, ValueError) as error:
        raise InputError(f"args hold what JSON cannot: {error}; turn it into text first") from error


def _encoded(plain: Any) -> str:
    try:
        return msgspec.json.encode(plain, order="sorted").decode()
    except UnicodeEncodeError:  # lone surrogates, which msgspec refuses
        return json.dumps(plain, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _plain(value: Any, levels: int) -> Any:
    # Beyond 2 ** 53 a float names no single whole number.
    if isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:
        return int(value)
    if isinstance(value, int) and not -_WIDEST < value < _WIDEST:
        return hex(value)
    if type(value) in _SCALARS or not isinstance(value, Mapping | list | tuple):
        return value
    if not levels:
        raise RecursionError
    if isinstance(value, Mapping):
        return {str(key): _plain(item, levels - 1) for key, item in value.items()}
    return [_plain(item, levels - 1) for item in value]


def view_text(step: Step, view: str, mask: Mask) -> str | None:
    """Return what `step` says under `view`; None when the view is absent.

    `state` and `thought` are absent when the text is null; `action`, `output` and `call` when the step
    called no tool. A null output after a call is empty text.

    Raises
    ------
    TypeError
        When what should be text is not.

    Examples
    --------
    >>> view_text(Step(tool="ls", args={"b": 1, "a": 2}), "call", MASKS["text"])
    'ls {"a":2,"b":1}'
    >>> view_text(Step(state="chat only"), "output", MASKS["text"]) is None
    True
    """
    if view in ("state", "thought"):
        text = getattr(step, view)
        return None if text is None else mask(_text(text, view))
    if not step.has_call:
        return None
    output = mask(_text(step.output or "", "output"), output=True)
    if view == "output":
        return output
    action = mask(f"{step.tool or ''} {canonical(step.args)}")
    return action if view == "action" else f"{action}\n{output}".rstrip("\n")


def _text(value: object, view: str) -> str:
    """Refuse what is no text: a Step that is built in code is not checked as one that is read from a file."""
    if not isinstance(value, str):
        raise TypeError(f"{view} must be text, got {type(value).__name__} {value!r}; turn it into text first")
    return value


@dataclass(frozen=True)
class TextColumn:
    """One view of one trace under one mask.

    Attributes
    ----------
    texts : tuple of str or None
        One entry a step, None where the view is absent.
    symbols : (n_steps,) int64 array
        Equal numbers mean equal texts; numbered by first appearance, -1 where absent.
    """

    texts: tuple[str | None, ...]
    symbols: NDArray[np.int64]


def column(steps: Iterable[Step], view: str, mask: str) -> TextColumn:
    """Read one view of a trace once.

    Examples
    --------
    >>> column([Step(state="a"), Step(), Step(state="b"), Step(state="a ")], "state", "text").symbols.tolist()
    [0, -1, 1, 0]
    """
    choice("view", view, VIEWS)
    rewrite = MASKS[mask]
    texts = tuple(view_text(step, view, rewrite) for step in steps)
    return TextColumn(texts, symbols(texts))


def symbols(texts: Iterable[object]) -> NDArray[np.int64]:
    """Number things by first appearance; None becomes -1.

    Examples
    --------
    >>> symbols(["x", None, "y", "x"]).tolist()
    [0, -1, 1, 0]
    """
    seen: dict[object, int] = {}
    return np.array([ABSENT if t is None else seen.setdefault(t, len(seen)) for t in texts], dtype=np.int64)
