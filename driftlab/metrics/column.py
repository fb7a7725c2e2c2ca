"""Columns of numbers read from a trace, step by step."""

import hashlib
import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from driftlab._util.errors import InputError
from driftlab._util.spec import Spec, choice
from driftlab.trace.messages import short
from driftlab.trace.schema import Step, TraceInfo
from driftlab.trace.views import ABSENT, MASKS, VIEWS, comparable, too_deep, view_text

__all__ = [
    "Column",
    "Event",
    "StepReader",
    "StepView",
    "Stream",
    "Symbol",
    "Value",
    "complaint",
    "digest",
    "number",
    "readable",
]

EVENTS = {"user": 1, "compaction": 2}


class StepReader:
    """Reads a trace step by step, each view under each mask once.

    It keeps a 16-byte digest of every distinct text it has numbered, never the text.
    """

    def __init__(self, info: TraceInfo) -> None:
        self.info = info
        self._steps = 0
        self._numbers: dict[tuple[str, str], dict[bytes, int]] = {}

    def read(self, step: Step) -> "StepView":
        """Take the next step."""
        self._steps += 1
        return StepView(self, self._steps - 1, step)

    def number(self, view: str, mask: str, text: str | None) -> int:
        """Return the symbol of a text of one view, -1 for None."""
        if text is None:
            return ABSENT
        seen = self._numbers.setdefault((view, mask), {})
        return seen.setdefault(digest(text), len(seen))


class StepView:
    """One step as metrics see it; each text is made at most once.

    Attributes
    ----------
    t : int
        Index of the step, from 0.
    step : Step
        The step itself.
    """

    def __init__(self, reader: StepReader, t: int, step: Step) -> None:
        self.t, self.step = t, step
        self._reader = reader
        self._texts: dict[tuple[str, str], str | None] = {}
        self._symbols: dict[tuple[str, str], int] = {}

    def text(self, view: str, mask: str) -> str | None:
        """Return the masked text of a view, None when the view is absent."""
        key = (view, mask)
        if key not in self._texts:
            named = view in ("tool", "node")
            self._texts[key] = getattr(self.step, view) if named else view_text(self.step, view, MASKS[mask])
        return self._texts[key]

    def symbol(self, view: str, mask: str) -> int:
        """Return the symbol of a view, -1 when it is absent."""
        key = (view, mask)
        if key not in self._symbols:
            self._symbols[key] = self._reader.number(view, mask, self.text(view, mask))
        return self._symbols[key]


Stream = Callable[[StepView], float]


class Column(Spec):
    """One number a step, read from the trace: what a detector may need.

    Attributes
    ----------
    version : int
        Raised when the same trace may give other numbers; part of the cache key.
    dtype : numpy dtype
        int64 for symbols, else float64 with `nan` for "no opinion".
    costly : bool
        Whether the numbers are worth a place in the cache.
    """

    costly: ClassVar[bool] = False
    version: ClassVar[int] = 1
    dtype: ClassVar[Any] = np.float64

    @abstractmethod
    def stream(self, info: TraceInfo) -> Stream:
        """Return a function from the next reading of one trace to its number."""

    @property
    def key(self) -> str:
        """What a stored number depends on besides the trace: parameters, version, mask, model."""
        return f"{self.full()} v{self.version}"


@dataclass(frozen=True, repr=False)
class Symbol(Column):
    """Which things are equal: numbered by first appearance in the trace, -1 where absent.

    Parameters
    ----------
    view : {"state", "thought", "action", "output", "call", "tool", "node"}
        What is compared.
    mask : str
        How text is rewritten first.

    Examples
    --------
    >>> from driftlab.trace.schema import Step
    >>> reader, read = StepReader(TraceInfo(id="a")), Symbol("tool").stream(TraceInfo(id="a"))
    >>> [read(reader.read(Step(tool=tool))) for tool in ("ls", None, "cat", "ls")]
    [0, -1, 1, 0]
    """

    name: ClassVar[str] = "symbol"
    positional: ClassVar[int] = 1
    dtype: ClassVar[Any] = np.int64
    view: str = "action"
    mask: str = "text"

    def __post_init__(self) -> None:
        choice("view", self.view, (*VIEWS, "tool", "node"))
        MASKS.check(self.mask)

    def stream(self, info: TraceInfo) -> Stream:
        return lambda reading: reading.symbol(self.view, self.mask)


@dataclass(frozen=True, repr=False)
class Value(Column):
    """A signal's own numbers, sign turned so that higher is better; `nan` where not measured.

    Parameters
    ----------
    signal : str
        Name of the signal.

    Examples
    --------
    >>> from driftlab.trace.schema import SignalSpec, Step
    >>> info = TraceInfo(id="a", signal_specs={"error": SignalSpec("lower")})
    >>> Value("error").stream(info)(StepReader(info).read(Step.of(error_count=3, signals={"error": 2})))
    -2.0
    """

    name: ClassVar[str] = "value"
    positional: ClassVar[int] = 1
    signal: str = ""

    def __post_init__(self) -> None:
        if not self.signal:
            raise InputError("value needs the name of a signal, for example value('tests_passed')")

    def stream(self, info: TraceInfo) -> Stream:
        return lambda reading: number(reading.step, self.signal, info)


@dataclass(frozen=True, repr=False)
class Event(Column):
    """What resets a window: 0 nothing, 1 a user turn, 2 a compaction.

    Examples
    --------
    >>> info = TraceInfo(id="a")
    >>> Event().stream(info)(StepReader(info).read(Step(event="user")))
    1
    """

    name: ClassVar[str] = "event"
    dtype: ClassVar[Any] = np.int64

    def stream(self, info: TraceInfo) -> Stream:
        return lambda reading: EVENTS.get(reading.step.event or "", 0)


def number(step: Step, signal: str, info: TraceInfo) -> float:
    """Return what a step measured of one signal, sign turned so that higher is better; `nan` where it did not.

    Raises
    ------
    TypeError
        When the value is no number.

    Examples
    --------
    >>> number(Step.of(passed=3), "passed", TraceInfo(id="a"))
    3.0
    """
    value = (step.signals or {}).get(signal)
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"signal {signal!r} of trace {info.id!r} must be a number, got {value!r}")
    return info.upward(signal, value)


def readable(step: Step) -> bool:
    """Whether no column can fail to read a step, told in about a microsecond; where not, it may still be read.

    A step that is read from a file is what the schema says; one that is built in code may be anything.

    Examples
    --------
    >>> readable(Step(tool="ls", args={"path": "."})), readable(Step(state=3)), readable(Step(args=object()))
    (True, False, False)
    """
    texts = _texts_of(step)
    if not (_TEXTS.issuperset(map(type, texts)) or all(isinstance(text, str | None) for text in texts)):
        return False
    if step.signals and not (isinstance(step.signals, dict) and _are_numbers(step.signals.values())):
        return False
    return comparable(step.args)


def complaint(step: Step, error: Exception) -> str:
    """Return what of a step cannot be read and what to do, given what reading it raised.

    Examples
    --------
    >>> complaint(Step(tool=3), TypeError("expected str"))
    'tool must be text, got 3; turn it into text first'
    """
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, RecursionError):
        return too_deep()
    for name in _TEXT_FIELDS:
        if not isinstance(getattr(step, name), str | None):
            return f"{name} must be text, got {short(getattr(step, name))}; turn it into text first"
    if not isinstance(step.signals, Mapping | None):
        return f"signals must map names to numbers, got {short(step.signals)}"
    for name, value in (step.signals or {}).items():
        if not _is_number(value):
            return f"signal {name!r} must be a number that fits a float, got {short(value)}; convert it or leave it out"
    return f"cannot be read: {error}; give texts as str, signals as numbers, args as JSON"


_TEXT_FIELDS = ("state", "thought", "output", "tool", "node", "event")
_texts_of = attrgetter(*_TEXT_FIELDS)
_TEXTS = frozenset((str, type(None)))
_FLOATS = frozenset((float, type(None)))


def _are_numbers(values: Iterable[Any]) -> bool:
    return _FLOATS.issuperset(map(type, values)) or all(map(_is_number, values))


def _is_number(value: Any) -> bool:
    if value is None or isinstance(value, float):
        return True
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def digest(text: str) -> bytes:
    """Return 16 bytes that stand for a text.

    Examples
    --------
    >>> digest("a") == digest("a") != digest("b")
    True
    """
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
