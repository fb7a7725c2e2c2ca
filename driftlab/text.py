"""What a step says under a view, a mask."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from driftlab.errors import InputError
from driftlab.spec import choice, unknown
from driftlab.trace import Step

VIEWS = ("state", "thought", "action", "output", "call")
ABSENT = -1


@dataclass(frozen=True)
class Mask:
    """A named, versioned rewriting of text before comparison.

    Parameters
    ----------
    name : str
        The word people type.
    version : int
        Raised whenever the same text may come out differently; it goes into every exported policy.
    patterns : tuple of (str, str)
        Regular expressions with their replacements, applied in order after the clean-up of `text`.
    output_patterns : tuple of (str, str)
        The same for what a tool returned only: a digit in a call is content.
    clean : bool
        False leaves text exactly as it is (`raw`).

    Examples
    --------
    >>> MASKS["text"]("a\\u200b \\r\\n")
    'a'
    >>> MASKS["volatile"]("done in 0.31s at 12:30:01 (id 4f2a9c1)")
    'done in <duration> at <time> (id <hex>)'
    """

    name: str
    version: int = 1
    patterns: tuple[tuple[str, str], ...] = ()
    output_patterns: tuple[tuple[str, str], ...] = ()
    clean: bool = True

    def __call__(self, text: str, *, output: bool = False) -> str:
        """Return the masked text; `output` says that a tool returned it."""
        if not self.clean:
            return text
        for pattern, replacement in self.patterns:
            text = re.sub(pattern, replacement, text)
        for pattern, replacement in self.output_patterns if output else ():
            text = re.sub(pattern, replacement, text)
        return _clean(text)

    @property
    def digest(self) -> str:
        """Short hash of everything that decides what comes out."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:12]


_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff]")
_SPACES = re.compile("[\u00a0\u2007\u202f]")
_TRAILING = re.compile(r"[ \t\f\v]+(?=\n)")


def _clean(text: str) -> str:
    """NFC, newlines, trailing space, invisible characters; the zero-width joiner is content (it makes emoji)."""
    if not text.isascii():
        text = _SPACES.sub(" ", _INVISIBLE.sub("", text))
        text = unicodedata.normalize("NFC", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _TRAILING.sub("", text).strip()


# Colour and cursor codes, and operating-system commands such as window titles and links.
_TERMINAL = ((r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)", ""), (r"\x1b[@-Z\\-_]|\x1b\[[0-?]*[ -/]*[@-~]", ""))
_UNITS = r"(?:\s?(?:ns|us|µs|ms|msecs?|secs?|seconds?|mins?|minutes?|hours?|hrs?)|[smh])"
# The order matters: a timestamp holds a clock, a UUID holds hex, and both hold digits.
_VOLATILE = (
    (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|\s?[+-]\d\d:?\d\d)?\b", "<time>"),
    (r"\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b", "<time>"),
    (r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b", "<uuid>"),
    (r"\b0x[0-9a-fA-F]+\b", "<address>"),
    (r"(?i)\b(p?pid|process(?:[ _-]?id)?|(?:request|req|message|msg|run|trace|span|session|call)[ _-]?id)(\W{1,3})[\w-]+", r"\1\2<id>"),
    (r"\b(req|msg|run|call|toolu|chatcmpl|resp)([_-])(?=[A-Za-z0-9]*\d)[A-Za-z0-9]{4,}\b", r"\1\2<id>"),
    (r"(?:/private)?(?:/tmp|/var/tmp|/var/folders)/[^\s'\":,;)\]]+", "<tmp>"),
    (rf"(?<![\w.])\d+(?:\.\d+)?{_UNITS}\b", "<duration>"),
    (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{6,}\b", "<hex>"),
    (r"(?m)^[ \t]*\d+(?=[:|\t→]|[ ]{2,}\S)", "<line>"),
)

MASKS: dict[str, Mask] = {
    "raw": Mask("raw", clean=False),
    "text": Mask("text"),
    "terminal": Mask("terminal", patterns=_TERMINAL),
    "volatile": Mask("volatile", patterns=_TERMINAL + _VOLATILE),
    "digits": Mask("digits", patterns=_TERMINAL + _VOLATILE, output_patterns=((r"\d+", "0"),)),
}


def register_mask(name: str, patterns: Iterable[tuple[str, str]], *, base: str = "text", version: int = 1) -> Mask:
    """Add a mask: the patterns of `base`, then your own.

    Parameters
    ----------
    name : str
        A new word; a mask that is already there keeps its meaning.
    patterns : iterable of (str, str)
        Regular expressions with their replacements.
    base : str
        The mask to start from.

    Raises
    ------
    InputError
        When the name is taken by a different mask, or a pattern is no regular expression.

    Examples
    --------
    >>> register_mask("ticket", [(r"TICKET-\\d+", "<ticket>")], base="volatile")("see TICKET-7")
    'see <ticket>'
    """
    own = tuple((str(pattern), str(replacement)) for pattern, replacement in patterns)
    for pattern, _ in own:
        try:
            re.compile(pattern)
        except re.error as error:
            raise InputError(f"mask {name!r}: {pattern!r} is not a regular expression: {error}") from error
    start = mask_named(base)
    mask = Mask(name, version, start.patterns + own, start.output_patterns, start.clean)
    if MASKS.get(name, mask) != mask:
        raise InputError(f"mask {name!r} exists already with other patterns; choose another name")
    MASKS[name] = mask
    return mask


def mask_named(name: str) -> Mask:
    """Return a registered mask, or raise an `InputError` that lists the known ones."""
    if name not in MASKS:
        raise unknown("mask", name, MASKS, "; add one with dl.register_mask")
    return MASKS[name]


def canonical(args: Any) -> str:
    """Return arguments as text in which key order and spacing never matter.

    Keys are sorted at every depth, lists keep their order, 3 equals 3.0, text that holds a JSON object
    or list is read, any other text stays as it is, null is an empty object.

    Examples
    --------
    >>> canonical({"b": 3.0, "a": [2, 1]}) == canonical('{ "a": [2,1], "b": 3 }')
    True
    >>> canonical("ls -l")
    'ls -l'
    """
    if args is None:
        return "{}"
    if isinstance(args, str):
        if not args.lstrip().startswith(("{", "[")):
            return args
        try:
            args = msgspec.json.decode(args)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return args
    return msgspec.json.encode(_plain(args), order="sorted").decode()


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
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

    Examples
    --------
    >>> view_text(Step(tool="ls", args={"b": 1, "a": 2}), "call", MASKS["text"])
    'ls {"a":2,"b":1}'
    >>> view_text(Step(state="chat only"), "output", MASKS["text"]) is None
    True
    """
    if view in ("state", "thought"):
        text = getattr(step, view)
        return None if text is None else mask(text)
    if not step.has_call:
        return None
    output = mask(step.output or "", output=True)
    if view == "output":
        return output
    action = mask(f"{step.tool or ''} {canonical(step.args)}")
    return action if view == "action" else f"{action}\n{output}".rstrip("\n")


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
