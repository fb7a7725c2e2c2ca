"""Gain of a task signal over the best value so far."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from driftlab._util.errors import InputError
from driftlab.metrics.base import Metric
from driftlab.metrics.column import Column, StepView, Stream, Value, number
from driftlab.trace.schema import Trace, TraceInfo

__all__ = ["Signal", "SignalNames"]


@dataclass(frozen=True, repr=False)
class Signal(Metric):
    """Gain over the best value so far, in units of `scale`, cut at 1; a fall or a tie is 0.

    `nan` where the signal was not measured; the first measurement is 1.0. The direction is the one the
    trace declares (`signal_specs`), higher where it declares none.

    Parameters
    ----------
    signal : str
        Name of the signal; empty means the only signal of the corpus, an `InputError` where it has several.
    scale : float or None
        The gain that counts as entirely new, in the signal's own unit; None: any gain is 1.0.

    Raises
    ------
    InputError
        When `scale` is not above 0.
    TypeError
        While measuring, when a value is no number.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> trace = Trace(id="a", steps=[Step.of(passed=n) for n in (3, 4, 2, 4, 5)])
    >>> measure([trace], [Signal("passed")]).deltas(Signal("passed")).tolist()
    [1.0, 1.0, 0.0, 0.0, 1.0]
    """

    name: ClassVar[str] = "signal"
    positional: ClassVar[int] = 1
    signal: str = ""
    scale: float | None = None

    def __post_init__(self) -> None:
        if self.scale is not None and not self.scale > 0:
            raise InputError(f"scale must be above 0 or None, got {self.scale!r}")

    def stream(self, info: TraceInfo) -> Stream:
        names = {self.signal} - {""}
        best = math.nan

        def push(reading: StepView) -> float:
            nonlocal best
            if not self.signal:
                names.update(reading.step.signals or ())
                _one(names)
            value = number(reading.step, next(iter(names), ""), info)
            if math.isnan(value):
                return math.nan
            gain = math.inf if math.isnan(best) else value - best if value > best else 0.0
            best = value if math.isnan(best) else max(best, value)
            return float(gain > 0) if self.scale is None else min(1.0, gain / self.scale)

        return push


class SignalNames:
    """Which signals a corpus has, against those that are asked for.

    Parameters
    ----------
    inputs : iterable of Column
        What is measured; only signals are looked at.

    Examples
    --------
    >>> from driftlab.trace.schema import Step, Trace
    >>> names = SignalNames([Signal("passed")])
    >>> names.see([Trace(id="a", steps=[Step.of(reward=1)])])
    >>> names.check()
    Traceback (most recent call last):
        ...
    driftlab.InputError: signal('passed'): no trace has the signal 'passed'; known: reward
    """

    def __init__(self, inputs: Iterable[Column]) -> None:
        self._asked = [each for each in inputs if isinstance(each, Signal | Value)]
        self._known: set[str] = set()
        self._steps = 0

    def see(self, traces: Iterable[Trace]) -> None:
        """Take note of the signals of some traces.

        Raises
        ------
        InputError
            When a signal is asked for without a name and there are several.
        """
        if not self._asked:
            return
        for trace in traces:
            self._steps += len(trace.steps)
            for step in trace.steps:
                self._known.update(step.signals or ())
        if any(not each.signal for each in self._asked):
            _one(self._known)

    def check(self) -> None:
        """Raise an `InputError` for a signal that is asked for by name and that no trace has."""
        for each in self._asked:
            if self._steps and each.signal and each.signal not in self._known:
                known = ", ".join(sorted(self._known)) or "(the traces carry none)"
                raise InputError(f"{each!r}: no trace has the signal {each.signal!r}; known: {known}")


def _one(names: set[str]) -> None:
    if len(names) > 1:
        raise InputError(f"signal without a name, and there are several; choose one of: {', '.join(sorted(names))}")
