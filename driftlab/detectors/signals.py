"""Detectors that look at signals."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from driftlab._util.errors import InputError
from driftlab._util.spec import whole
from driftlab.detectors.base import Floats, Now
from driftlab.detectors.streaks import Streak
from driftlab.metrics.column import Column
from driftlab.metrics.columns.signals import AtGoal, NewBest, Shortfall

__all__ = ["AfterDone", "Flat", "Regression"]


@dataclass(frozen=True, repr=False)
class Flat(Streak):
    """No new best for a while: ``min(1, measured steps without one / patience)``.

    The best so far counts, not the step before: a dip that recovers is no progress, and a signal at its goal is as
    flat as one that never rose. Fires at threshold 1.0 at the `patience`-th step. Steps on which the signal was
    not measured say nothing. (The textbook stopping rule; on numeric histories nothing beat it.)

    Parameters
    ----------
    patience : int
        How many measured steps, >= 1.
    signal : str
        Name of the signal; empty: a new best of any signal is progress.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> flat = Flat(2)
    >>> trace = Trace(id="a", steps=[Step.of(passed=n) for n in (3, 2, 3, 4)])
    >>> flat.scores(measure([trace], flat.needs)).tolist()
    [0.0, 0.5, 1.0, 0.0]
    """

    name: ClassVar[str] = "flat"
    positional: ClassVar[int] = 1
    patience: int = 10
    signal: str = ""

    def __post_init__(self) -> None:
        whole("patience", self.patience, 1)

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        return (NewBest(self.signal),)

    def counts(self, now: Now) -> Floats:
        return 1 - now[self.needs[0]]

    def reason(self) -> str:
        return f"no new best of {self.signal or 'any signal'}"


@dataclass(frozen=True, repr=False)
class Regression(Streak):
    """A signal stays below its best: ``min(1, measured steps below / patience)``.

    A step counts when the value lies more than `fall` below the best so far. Fires at threshold 1.0 at the
    `patience`-th step in a row; back at the best starts again. A dip that will recover looks the same: this asks
    for a review, not for a stop.

    Parameters
    ----------
    patience : int
        How many measured steps, >= 1.
    signal : str
        Name of the signal; empty: any signal.
    fall : float
        Largest fall that does not count, in the signal's own unit, >= 0.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> worse = Regression(2)
    >>> trace = Trace(id="a", steps=[Step.of(passed=n) for n in (3, 2, 2, 3)])
    >>> worse.scores(measure([trace], worse.needs)).tolist()
    [0.0, 0.5, 1.0, 0.0]
    """

    name: ClassVar[str] = "regression"
    positional: ClassVar[int] = 1
    patience: int = 3
    signal: str = ""
    fall: float = 0.0

    def __post_init__(self) -> None:
        whole("patience", self.patience, 1)
        if not self.fall >= 0:
            raise InputError(f"fall must be >= 0, got {self.fall!r}")

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        return (Shortfall(self.signal),)

    def counts(self, now: Now) -> Floats:
        below = now[self.needs[0]]
        return np.where(np.isnan(below), np.nan, below > self.fall)

    def reason(self) -> str:
        return f"{self.signal or 'a signal'} below its best so far"


@dataclass(frozen=True, repr=False)
class AfterDone(Streak):
    """The goal was reached but the loop goes on: ``min(1, steps at the goal / patience)``.

    Needs a goal in the trace's `signal_specs` (or the policy's signals); without one it never fires. The step
    that reaches the goal is not counted. Fires at threshold 1.0 at the `patience`-th step after it.

    Parameters
    ----------
    patience : int
        How many measured steps after the goal, >= 1.
    signal : str
        Name of the signal; empty: any signal that has a goal.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import SignalSpec, Step, Trace
    >>> late = AfterDone(2)
    >>> steps = [Step.of(passed=n) for n in (3, 4, 4, 4)]
    >>> trace = Trace(id="a", signal_specs={"passed": SignalSpec(goal=4)}, steps=steps)
    >>> late.scores(measure([trace], late.needs)).tolist()
    [0.0, 0.0, 0.5, 1.0]
    """

    name: ClassVar[str] = "after_done"
    positional: ClassVar[int] = 1
    patience: int = 3
    signal: str = ""

    def __post_init__(self) -> None:
        whole("patience", self.patience, 1)

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        return (AtGoal(self.signal),)

    def counts(self, now: Now) -> Floats:
        return now[self.needs[0]]

    def graded(self, count: Floats) -> Floats:
        # The step that reached the goal did the work; only those after it are surplus.
        scores: Floats = np.minimum(np.maximum(count - 1, 0) / self.patience, 1.0)
        return scores

    def fewest(self, threshold: float) -> float:
        return 1 + super().fewest(threshold)

    def reason(self) -> str:
        return f"{self.signal or 'a signal'} at its goal already"
