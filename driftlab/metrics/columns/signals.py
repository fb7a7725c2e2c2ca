"""Columns made from signals: the best so far, the fall below it, the goal."""

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from driftlab.metrics.column import Column, StepView, Stream
from driftlab.trace.schema import Step, TraceInfo

__all__ = ["AtGoal", "NewBest", "OfSignal", "Shortfall", "signed"]


@dataclass(frozen=True, repr=False)
class OfSignal(Column):
    """Base: one number from one signal, or from all signals of the step."""

    positional: ClassVar[int] = 1
    signal: str = ""

    def stream(self, info: TraceInfo) -> Stream:
        best: dict[str, float] = {}

        def read(reading: StepView) -> float:
            found = [self.value(name, value, best, info) for name, value in signed(reading.step, self.signal, info)]
            told = [value for value in found if not math.isnan(value)]
            return max(told, default=math.nan)

        return read

    @abstractmethod
    def value(self, name: str, value: float, best: dict[str, float], info: TraceInfo) -> float:
        """Return the number of one measured signal, higher is better; keep its best in `best`."""


@dataclass(frozen=True, repr=False)
class NewBest(OfSignal):
    """1.0 where a signal beats its best so far (or is measured first), 0.0 where none does, `nan` unmeasured.

    Parameters
    ----------
    signal : str
        Name of the signal; empty is every signal of the trace.

    Examples
    --------
    >>> from driftlab.metrics.measurements import streamed
    >>> from driftlab.trace.schema import Trace
    >>> steps = [Step.of(passed=3), Step.of(passed=2), Step(), Step.of(passed=4)]
    >>> streamed(NewBest(), Trace(id="a", steps=steps)).tolist()
    [1.0, 0.0, nan, 1.0]
    """

    name: ClassVar[str] = "new_best"

    def value(self, name: str, value: float, best: dict[str, float], info: TraceInfo) -> float:
        gained = value > best.get(name, -math.inf)
        best[name] = max(value, best.get(name, -math.inf))
        return float(gained)


@dataclass(frozen=True, repr=False)
class Shortfall(OfSignal):
    """How far a signal lies below its best so far, in its own unit; the largest counts; `nan` unmeasured.

    Parameters
    ----------
    signal : str
        Name of the signal; empty is every signal of the trace.

    Examples
    --------
    >>> from driftlab.metrics.measurements import streamed
    >>> from driftlab.trace.schema import Trace
    >>> steps = [Step.of(passed=3), Step.of(passed=1), Step.of(passed=4)]
    >>> streamed(Shortfall("passed"), Trace(id="a", steps=steps)).tolist()
    [0.0, 2.0, 0.0]
    """

    name: ClassVar[str] = "shortfall"

    def value(self, name: str, value: float, best: dict[str, float], info: TraceInfo) -> float:
        best[name] = max(value, best.get(name, -math.inf))
        # Two infinities have no difference; equal values are no fall.
        return 0.0 if best[name] == value else best[name] - value


@dataclass(frozen=True, repr=False)
class AtGoal(OfSignal):
    """1.0 where a signal is at its declared goal, 0.0 where it is not, `nan` unmeasured or without a goal.

    Parameters
    ----------
    signal : str
        Name of the signal; empty is every signal of the trace.

    Examples
    --------
    >>> from driftlab.metrics.measurements import streamed
    >>> from driftlab.trace.schema import SignalSpec, Trace
    >>> trace = Trace(id="a", signal_specs={"left": SignalSpec("lower", 0)}, steps=[Step.of(left=2), Step.of(left=0)])
    >>> streamed(AtGoal(), trace).tolist()
    [0.0, 1.0]
    """

    name: ClassVar[str] = "at_goal"

    def value(self, name: str, value: float, best: dict[str, float], info: TraceInfo) -> float:
        spec = info.signal_specs.get(name)
        if spec is None or spec.goal is None:
            return math.nan
        return float(value >= info.upward(name, spec.goal))


def signed(step: Step, signal: str, info: TraceInfo) -> Iterator[tuple[str, float]]:
    """Yield the measured signals of a step, sign turned so that higher is better; `signal` empty is all.

    Examples
    --------
    >>> list(signed(Step(signals={"a": 1, "b": None}), "", TraceInfo(id="x")))
    [('a', 1.0)]
    """
    for name, value in (step.signals or {}).items():
        if signal in ("", name) and value is not None and not math.isnan(value):
            yield name, info.upward(name, value)
