"""Named rewritings of text before comparison."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from driftlab._util.errors import InputError
from driftlab._util.registry import Registry

__all__ = ["MASKS", "Mask", "register_mask"]

Patterns = tuple[tuple[str, str], ...]


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
    patterns: Patterns = ()
    output_patterns: Patterns = ()
    clean: bool = True

    def __call__(self, text: str, *, output: bool = False) -> str:
        """Return the masked text; `output` says that a tool returned it."""
        if not self.clean:
            return text
        text = tidied = _tidy(text)
        for pattern, replacement in self.patterns:
            text = _compiled(pattern).sub(replacement, text)
        for pattern, replacement in self.output_patterns if output else ():
            text = _compiled(pattern).sub(replacement, text)
        return text if text is tidied else _tidy(text)

    @property
    def digest(self) -> str:
        """Short hash of everything that decides what comes out."""
        return hashlib.sha256(repr(self).encode("utf-8", "backslashreplace")).hexdigest()[:12]


_compiled = cache(re.compile)
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064"  # soft hyphen, zero width, direction
    "\u2066-\u2069\ufe00-\ufe0f\ufeff]"  # isolates, variation selectors, byte-order mark
)
_SPACES = re.compile("[\u00a0\u2007\u202f]")
_BEFORE_END = (" \n", "\t\n", "\f\n", "\v\n")


def _tidy(text: str) -> str:
    """NFC, newlines, trailing space, invisible characters; the zero-width joiner is content (it makes emoji)."""
    if not text.isascii():
        text = _SPACES.sub(" ", _INVISIBLE.sub("", text))
        text = unicodedata.normalize("NFC", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if any(end in text for end in _BEFORE_END):
        # A regular expression for this takes time quadratic in the longest run of spaces.
        text = "\n".join(line.rstrip(" \t\f\v") for line in text.split("\n"))
    return text.strip()


# Window titles and links, colour and cursor codes, whatever else starts with an escape.
_TERMINAL = ((r"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)|\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])?", ""),)

_CLOCK = r"\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|\s?[+-]\d\d:?\d\d)?"
_TIMES = (
    (rf"(?<![\w.-])\d{{4}}-\d\d-\d\d[T ]{_CLOCK}(?![\w:])", "<time>"),
    (r"(?<![\w/])\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d(?: [+-]\d{4})?(?!\w)", "<time>"),
    # Not behind a colon or a point: there it is a place in a file, an address or a version.
    (r"(?<![\w:.])\d{1,2}:\d\d:\d\d(?:[.,]\d+)?(?![\w:])", "<time>"),
)
# "5 m" may be metres, "512m" is memory, "5 s" and "12 us" may be words: units of one letter stand at their number.
_SHORT = r"(?:\d+(?:\.\d+)?(?:ns|us|µs|μs|ms|s)|\d{1,2}m|\d{1,3}h|\d+d(?=\d))"
_LONG = r"\d+(?:\.\d+)?\s?(?:ns|µs|μs|ms|msecs?|secs?|seconds?|mins?|minutes?|hrs?|hours?)|\d+\.\d+ s"
_DURATIONS = ((rf"(?<![\w.])(?:{_SHORT}+|{_LONG})(?!\w)", "<duration>"),)
_OWNERS = "request|req|message|msg|run|trace|span|session|call|correlation|transaction|delivery|process"
_IDS = (
    (r"(?<![0-9A-Za-z])[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![0-9A-Za-z])", "<uuid>"),
    (r"\b0x[0-9a-fA-F]{5,}\b", "<address>"),
    (rf"(?i)\b(p?pid|(?:{_OWNERS})[ _-]?id)([\s\"'=:#\[(]{{1,4}})(?=[\w-]*\d)[\w-]+", r"\1\2<id>"),
    (r"\b(req|msg|toolu|chatcmpl|resp)([_-])(?=[A-Za-z0-9]*\d)[A-Za-z0-9]{4,}\b", r"\1\2<id>"),
    # run_test2 is a name, run_8k2m4x is an id: a digit that a letter follows.
    (r"\b(run|call)([_-])(?=[A-Za-z0-9]*\d[A-Za-z])[A-Za-z0-9]{6,}\b", r"\1\2<id>"),
)
_TEMPORARY = (
    (r"(/tmp|/var/tmp)/(?:tmp[\w.-]+|(?=[\w.-]*\d[A-Za-z])[\w-]{6,}(?:\.[\w-]+)*)", r"\1/<tmp>"),
    (r"(/tmp)/pytest-of-[\w-]+/pytest-\d+", r"\1/<tmp>"),
    (r"/var/folders/\w+/\w+/T(?:/tmp\w+)?", "<tmp>"),
    (r"(?i)(\\AppData\\Local\\Temp)\\tmp\w+", r"\1\\<tmp>"),
)
_HEX = ((r"(?<![0-9A-Za-z])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{6,}(?![0-9A-Za-z])", "<hex>"),)
# cat -n, grep -n, editors. "404: not found" and "3 | Alice" are content.
_NUMBERED = ((r"(?m)^[ \t]*\d+(?:(?=[\t→│|])|(?= │)|(?=:(?:[^\s\d]|[ \t]{2}|$)))", "<line>"),)
# The order matters: a timestamp holds a clock, a UUID holds hex, and both hold digits.
_VOLATILE = _TERMINAL + _TIMES + _DURATIONS + _IDS + _TEMPORARY + _HEX + _NUMBERED

MASKS: Registry[Mask] = Registry(
    "mask",
    (
        (mask.name, mask)
        for mask in (
            Mask("raw", clean=False),
            Mask("text"),
            Mask("terminal", patterns=_TERMINAL),
            Mask("volatile", patterns=_VOLATILE),
            Mask("digits", patterns=_VOLATILE, output_patterns=((r"\d+", "#"),)),
        )
    ),
    remedy="; add one with dl.register_mask",
)


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
    version : int
        Raise it when the patterns change, so that exported policies can tell.

    Raises
    ------
    InputError
        When the name is taken by a different mask, `base` is ``"raw"`` (which rewrites nothing), or a pattern or
        a replacement is not one.

    Examples
    --------
    >>> register_mask("ticket", [(r"TICKET-\\d+", "<ticket>")], base="volatile")("see TICKET-7")
    'see <ticket>'
    """
    own = tuple((str(pattern), str(replacement)) for pattern, replacement in patterns)
    for pattern, replacement in own:
        _checked(name, pattern, replacement)
    start = MASKS[base]
    if not start.clean:
        raise InputError(f"mask {name!r} cannot start from {base!r}, which leaves text as it is; start from 'text'")
    mask = Mask(name, version, start.patterns + own, start.output_patterns)
    return MASKS.register(name, mask)


def _checked(name: str, pattern: str, replacement: str) -> None:
    try:
        found = re.compile(pattern)
    except re.error as error:
        raise InputError(f"mask {name!r}: {pattern!r} is not a regular expression: {error}") from error
    try:
        re.compile(rf"(?:{pattern})|").sub(replacement, "") if found.groups == 0 else found.sub(replacement, "")
    except re.error as error:
        raise InputError(f"mask {name!r}: {replacement!r} does not fit {pattern!r}: {error}") from error
