"""What a step says under a view, a mask."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from driftlab.errors import InputError
from driftlab.mask import MASKS, Mask, mask_named, register_mask
from driftlab.spec import choice
from driftlab.trace import Step

VIEWS = ("state", "thought", "action", "output", "call")
ABSENT = -1

__all__ = [
    "ABSENT",
    "MASKS",
    "VIEWS",
    "Column",
    "Mask",
    "canonical",
    "canonical_json",
    "column",
    "mask_named",
    "register_mask",
    "symbols",
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
        When the arguments are nested too deeply, or hold what JSON cannot.

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

    Examples
    --------
    >>> unpacked('{"q": "x"}'), unpacked('{"q": "x", '), unpacked(None)
    ({'q': 'x'}, '{"q": "x", ', {})
    """
    if args is None:
        return {}
    if not isinstance(args, str) or not args.lstrip().startswith(("{", "[")):
        return args
    try:
        return msgspec.json.decode(args)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return args


def canonical_json(value: Any) -> str:
    """Return any JSON value as text with sorted keys, no spaces, whole numbers without a point.

    Examples
    --------
    >>> canonical_json({"b": 3.0, "a": True})
    '{"a":true,"b":3}'
    """
    try:
        plain = _plain(value)
        return msgspec.json.encode(plain, order="sorted").decode()
    except UnicodeEncodeError:  # lone surrogates, which msgspec refuses
        return json.dumps(plain, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    except RecursionError as error:
        raise InputError("arguments are nested too deeply to compare") from error
    except TypeError as error:
        raise InputError(f"arguments hold what JSON cannot: {error}; turn it into text first") from error


def _plain(value: Any) -> Any:
    # Beyond 2 ** 53 a float names no single whole number.
    if isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:
        return int(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


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
class Column:
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


def column(steps: Iterable[Step], view: str, mask: str) -> Column:
    """Read one view of a trace once.

    Examples
    --------
    >>> column([Step(state="a"), Step(), Step(state="b"), Step(state="a ")], "state", "text").symbols.tolist()
    [0, -1, 1, 0]
    """
    choice("view", view, VIEWS)
    rewrite = mask_named(mask)
    texts = tuple(view_text(step, view, rewrite) for step in steps)
    return Column(texts, symbols(texts))


def symbols(texts: Iterable[object]) -> NDArray[np.int64]:
    """Number things by first appearance; None becomes -1.

    Examples
    --------
    >>> symbols(["x", None, "y", "x"]).tolist()
    [0, -1, 1, 0]
    """
    seen: dict[object, int] = {}
    return np.array([ABSENT if t is None else seen.setdefault(t, len(seen)) for t in texts], dtype=np.int64)
