"""Columns as they are seen under a context."""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import msgspec
import numpy as np

from driftlab.metrics.column import Column, Event, StepView, Stream, Symbol, Value, digest
from driftlab.metrics.columns.context import RESETS, Context
from driftlab.metrics.columns.failures import is_outage
from driftlab.metrics.columns.signals import OfSignal, signed
from driftlab.metrics.noise import Noise
from driftlab.metrics.signal import Signal
from driftlab.trace.schema import TraceInfo
from driftlab.trace.views import ABSENT

__all__ = ["Reset", "Seen", "seen"]


@dataclass(frozen=True, repr=False)
class Reset(Column):
    """1.0 where counters start again, else 0.0.

    Parameters
    ----------
    resets, signals : tuple of str
        As in `Context`.

    Examples
    --------
    >>> from driftlab.metrics.measurements import streamed
    >>> from driftlab.trace.schema import Step, Trace
    >>> steps = [Step.of(passed=3), Step.of(passed=4), Step(event="user"), Step.of(passed=2)]
    >>> streamed(Reset(), Trace(id="a", steps=steps)).tolist()
    [0.0, 1.0, 1.0, 0.0]
    """

    name: ClassVar[str] = "reset"
    resets: tuple[str, ...] = RESETS
    signals: tuple[str, ...] = ()

    def stream(self, info: TraceInfo) -> Stream:
        forgets = Context(resets=self.resets).forgetting()
        best: dict[str, float] = {}

        def read(reading: StepView) -> float:
            forgot = reading.step.event is not None and forgets(reading)
            return float(self._progress(reading, best, info) or forgot)

        return read

    def _progress(self, reading: StepView, best: dict[str, float], info: TraceInfo) -> bool:
        if "progress" not in self.resets or not reading.step.signals:
            return False
        gained = False
        for name, value in signed(reading.step, "", info):
            if not self.signals or name in self.signals:
                # A first measurement is where progress is counted from, no progress itself.
                gained |= value > best.get(name, math.inf)
                best[name] = max(value, best.get(name, -math.inf))
        return gained


@dataclass(frozen=True, repr=False)
class Seen(Column):
    """Another column, as it is seen under a context.

    Parameters
    ----------
    input : Column
        The column.
    context : Context
        Roles, ignored arguments, what makes it forget.

    Examples
    --------
    >>> from driftlab.metrics.measurements import streamed
    >>> from driftlab.metrics import metric
    >>> from driftlab.trace.schema import Step, Trace
    >>> blind = Seen(metric("exact(view='action')"), Context(tools=(("wait", "exempt", 1),)))
    >>> trace = Trace(id="a", steps=[Step(tool=tool) for tool in ("ls", "wait", "ls")])
    >>> streamed(blind, trace).tolist()
    [1.0, nan, 0.0]
    """

    name: ClassVar[str] = "seen"
    positional: ClassVar[int] = 2
    input: Column
    context: Context

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.input, self.context))

    @property
    def dtype(self) -> Any:
        return self.input.dtype

    @property
    def mask(self) -> str | None:
        """Name of the mask the column is read under, None without one."""
        return getattr(self.input, "mask", None)

    @property
    def key(self) -> str:
        return f"{super().key} of {self.input.key}"

    def shown(self, reading: StepView) -> StepView:
        """Return a step without the arguments that the context ignores."""
        step, names = reading.step, self.context.ignored(reading.step.tool)
        if not names or not isinstance(step.args, dict):
            return reading
        args = {name: value for name, value in step.args.items() if name not in names}
        return StepView(reading._reader, reading.t, msgspec.structs.replace(step, args=args))

    def stream(self, info: TraceInfo) -> Stream:
        return _View(self, info).read


class _View:
    """One trace, read for one column under a context."""

    def __init__(self, seen: Seen, info: TraceInfo) -> None:
        self.input, self.context, self.info, self.shown = seen.input, seen.context, info, seen.shown
        self.absent = ABSENT if seen.input.dtype is np.int64 else math.nan
        self.of_output = getattr(seen.input, "view", None) == "output"
        self.forgets = seen.context.forgetting()
        self._forget()

    def _forget(self) -> None:
        self.roles: dict[str | None, tuple[str, int] | None] = {}
        self.push = self.input.stream(self.info)
        self.numbers: dict[int, int] = {}
        self.actions: set[bytes] = set()
        self.outputs: set[bytes] = set()
        self.waiting = self.failing = 0

    def read(self, reading: StepView) -> float:
        """Return the number of the next step."""
        step = reading.step
        if step.event is not None and self.forgets(reading):
            self._forget()
        if self.context.ignore:
            reading = self.shown(reading)
        if self.context.outages > 1 and step.has_call:
            self.failing = self.failing + 1 if is_outage(step) else 0
            if self.failing % self.context.outages:
                return self.absent
        if step.tool not in self.roles:
            self.roles[step.tool] = self.context.role(step.tool)
        known = self.roles[step.tool]
        return self._plain(reading) if known is None else self._in_role(reading, *known)

    def _plain(self, reading: StepView) -> float:
        number = self.push(reading)
        if isinstance(self.input, Symbol) and number >= 0:
            # Symbols stay numbered by first appearance, also since the last time all was forgotten.
            return self.numbers.setdefault(int(number), len(self.numbers))
        return number

    def _in_role(self, reading: StepView, role: str, patience: int) -> float:
        # Both are asked in any case: what was seen must not depend on the role.
        new_output, new_action = _is_new(reading, "output", self.outputs), _is_new(reading, "action", self.actions)
        self.waiting = 0 if new_output else self.waiting + 1
        if role == "exempt" or (not new_output and self.waiting % patience):
            return self.absent
        number = self._plain(reading)
        if not self.of_output:
            return number
        new = (role == "reader" and new_action) or (role == "poller" and new_output)
        silent = (role == "writer" and new_action) or role == "constant"
        return 1.0 if new else self.absent if silent else number


def _is_new(reading: StepView, view: str, seen: set[bytes]) -> bool:
    name = digest(reading.text(view, "volatile") or "")
    new = name not in seen
    seen.add(name)
    return new


# Signals are what they are: no role hides them, no event makes their best so far unknown.
BARE = (OfSignal, Signal, Value, Event, Noise, Reset)


@lru_cache(maxsize=4096)
def seen(column: Column, context: Context) -> Column:
    """Return a column as it is seen under a context; equal arguments give the same object."""
    return column if isinstance(column, BARE) else Seen(column, context)
