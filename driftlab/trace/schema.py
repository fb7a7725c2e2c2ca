"""Steps, spans, traces: the only schema driftlab reads."""

from codecs import BOM_UTF8
from collections.abc import Mapping
from numbers import Real
from typing import Any, Literal, Self, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

from driftlab._util.errors import InputError
from driftlab.trace.messages import explain, short

__all__ = ["Direction", "Label", "SignalSpec", "Span", "Step", "Trace", "TraceInfo", "convert", "decode", "encode"]

Label = Literal["good", "stalled", "unsure"]
Direction = Literal["higher", "lower"]
T = TypeVar("T", bound=Struct)


class Span(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A stall: the half-open range of steps ``[start, end)``; `end` None is the end of the trace.

    Examples
    --------
    >>> Span(6, None, "oscillation").start
    6
    """

    start: int
    end: int | None = None
    kind: str | None = None
    extra: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.start < 0 or (self.end is not None and self.end <= self.start):
            raise InputError(f"a stall needs 0 <= start < end, got start {self.start}, end {self.end}")


class SignalSpec(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a signal's numbers mean: its direction and, where known, the value at which the work is done.

    Examples
    --------
    >>> SignalSpec("lower", goal=0).direction
    'lower'
    """

    direction: Direction = "higher"
    goal: float | None = None

    def __post_init__(self) -> None:
        if self.direction not in ("higher", "lower"):
            raise InputError(f"the direction of a signal must be 'higher' or 'lower', got {self.direction!r}")


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One turn of a loop; every key may be absent.

    `state`, `thought`, `output` are text; `args` is any JSON value; `signals` maps names to numbers
    (None: not measured at this step); `event` is ``"user"`` or ``"compaction"`` where the context was
    reset; `tokens` counts, `seconds` is a duration. What the schema does not know is in `extra`.

    Examples
    --------
    >>> Step(tool="grep", args={"pattern": "discount"}, output="").tool
    'grep'
    """

    state: str | None = None
    thought: str | None = None
    tool: str | None = None
    args: Any = None
    output: str | None = None
    signals: dict[str, float | None] | None = None
    node: str | None = None
    event: str | None = None
    tokens: int | None = None
    seconds: float | None = None
    error: bool | None = None
    extra: dict[str, Any] | None = None

    @property
    def has_call(self) -> bool:
        """Whether the step called a tool."""
        return self.tool is not None or self.args is not None

    @classmethod
    def of(cls, step: "Step | Mapping[str, Any] | None" = None, /, **keys: Any) -> "Step":
        """Return a Step from a Step, a mapping or keywords.

        A key that the schema does not have is a signal when its value is a number; anything else is
        kept in `extra`.

        Raises
        ------
        InputError
            When a key has a value of the wrong type, or both forms are given.

        Examples
        --------
        >>> Step.of(tool="pytest", output="3 passed", tests_passed=3).signals
        {'tests_passed': 3.0}
        """
        if isinstance(step, Step):
            if keys:
                raise InputError(f"give a Step or keywords, not both (got {', '.join(sorted(keys))} beside a Step)")
            return step
        if step is not None and not isinstance(step, Mapping):
            raise InputError(f"step: expected a Step, an object or keywords, got {short(step)}")
        return convert(_with_signals({**(step or {}), **keys}), cls, "step")


class TraceInfo(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Everything about a trace but its text."""

    id: str
    task: str | None = None
    problem: str | None = None
    agent: str | None = None
    setup: str | None = None
    source: str | None = None
    label: Label | None = None
    label_source: str | None = None
    outcome: bool | None = None
    stalls: tuple[Span, ...] = ()
    signal_specs: dict[str, SignalSpec] = {}
    extra: dict[str, Any] | None = None

    @property
    def onset(self) -> int | None:
        """First step of the first stall; None when no stall is marked."""
        return min((span.start for span in self.stalls), default=None)

    @property
    def group(self) -> tuple[str, str]:
        """What is split and resampled together: the problem within its task, else the trace alone."""
        return (self.task or "", self.problem if self.problem is not None else f"\0{self.id}")

    def upward(self, signal: str, value: float) -> float:
        """Return a value of a signal, its sign turned so that higher is better."""
        spec = self.signal_specs.get(signal)
        return -float(value) if spec is not None and spec.direction == "lower" else float(value)


class Trace(TraceInfo, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One run of one agent on one problem.

    Raises
    ------
    InputError
        When a stall lies outside the steps, stalls overlap, or a good trace has a stall.

    Examples
    --------
    >>> trace = Trace(id="run-1", label="stalled", stalls=[Span(1)], steps=[Step(state="a"), Step(state="a")])
    >>> trace.onset, len(trace.steps)
    (1, 2)
    """

    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        force_setattr(self, "steps", tuple(self.steps))
        force_setattr(self, "stalls", tuple(sorted(self.stalls, key=lambda span: span.start)))
        if not self.id:
            raise InputError("a trace needs a non-empty id")
        if self.label == "good" and self.stalls:
            raise InputError(f"trace {self.id!r} is labelled good but has a stall at step {self.onset}")
        self._check_spans()

    def _check_spans(self) -> None:
        free, length = 0, len(self.steps)
        for span in self.stalls:
            end = length if span.end is None else span.end
            if not (span.start < length and end <= length):
                where = f"[{span.start}, {span.end}) outside its {length} steps (counted from 0)"
                raise InputError(f"trace {self.id!r} has a stall {where}")
            if span.start < free:
                raise InputError(f"trace {self.id!r} has a stall at step {span.start} that overlaps the one before")
            free = end

    @property
    def info(self) -> TraceInfo:
        """The trace without its steps."""
        return TraceInfo(**{name: getattr(self, name) for name in TraceInfo.__struct_fields__})

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed."""
        return msgspec.structs.replace(self, **changes)


def decode(line: bytes | str) -> Trace:
    """Read one trace from one line of JSON; keys the schema does not know go to `extra`.

    Raises
    ------
    InputError
        With the JSON path, the value and what is allowed there.

    Examples
    --------
    >>> decode('{"id": "a", "steps": [{"state": "x", "mood": "fine"}]}').steps[0].extra
    {'mood': 'fine'}
    """
    if isinstance(line, bytes):
        line = line.removeprefix(BOM_UTF8)  # some editors put it before the first line
    try:
        return _DECODER.decode(line)
    except msgspec.ValidationError:
        pass  # read again below: unknown keys are moved to `extra`, anything else is explained
    except (msgspec.DecodeError, RecursionError) as error:
        raise _unreadable(error) from error
    try:
        raw = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _unreadable(error) from error
    return convert(raw, Trace, "trace")


def _unreadable(error: Exception) -> InputError:
    if isinstance(error, RecursionError):
        return InputError("not a line of JSON that can be read: brackets are nested too deeply")
    return InputError(f"not a line of JSON: {error} (NaN and Infinity are no JSON: write null)")


def encode(trace: Trace) -> bytes:
    """Return the trace as one line of JSON without the line end.

    Raises
    ------
    InputError
        When the trace holds what JSON cannot.

    Examples
    --------
    >>> encode(Trace(id="a", steps=[]))
    b'{"id":"a","steps":[]}'
    """
    try:
        return msgspec.json.encode(trace)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"trace {trace.id!r} cannot be written as JSON: {error}; turn it into text first") from error


def convert(raw: Any, kind: type[T], what: str) -> T:
    """Turn plain dicts and lists into `kind`, moving unknown keys to `extra`.

    Raises
    ------
    InputError
        With the path, the value and what is allowed there.
    """
    if not isinstance(raw, Mapping):
        raise InputError(f"{what}: expected an object, got {short(raw)}")
    tidy = _tidy(raw, kind)
    try:
        return msgspec.convert(tidy, kind)
    except msgspec.ValidationError as error:
        raise InputError(explain(str(error), tidy, what)) from error


_DECODER = msgspec.json.Decoder(Trace)


def _tidy(raw: Mapping[str, Any], kind: type[Struct]) -> dict[str, Any]:
    """Move unknown keys into `extra` and drop nulls, whose meaning is 'absent'."""
    known = {key: value for key, value in raw.items() if key in kind.__struct_fields__ and value is not None}
    strange = {key: value for key, value in raw.items() if key not in kind.__struct_fields__}
    extra = known.get("extra", {})
    if strange and isinstance(extra, Mapping):  # what is no object is explained where it is converted
        known["extra"] = {**extra, **strange}
    for key, part in (("steps", Step), ("stalls", Span)):
        if kind is Trace and isinstance(known.get(key), list | tuple):
            known[key] = [_tidy(item, part) if isinstance(item, Mapping) else item for item in known[key]]
    return known


def _with_signals(keys: dict[str, Any]) -> dict[str, Any]:
    strange = {key: value for key, value in keys.items() if key not in Step.__struct_fields__}
    numbers = {k: _float(k, v) for k, v in strange.items() if isinstance(v, Real) and not isinstance(v, bool)}
    given = keys.get("signals")
    if not numbers or not isinstance(given, Mapping | None):
        return keys
    rest = {key: value for key, value in keys.items() if key not in numbers}
    return {**rest, "signals": {**(given or {}), **numbers}}


def _float(name: str, value: Real) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise InputError(f"step: signal {name!r} is too large to be kept as a number; scale it down") from error
