"""Detectors that look at the shape of a run, whatever it says."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from driftlab._util.spec import whole
from driftlab.detectors.base import Detector, Evidence, Floats, Now, State, absolute, first_reaching
from driftlab.detectors.streaks import Graded, Streak
from driftlab.metrics.column import Column, Event
from driftlab.metrics.columns.transitions import Illegal, Pairs, Trapped

__all__ = ["DeadEnd", "IllegalTransition", "StepCount"]


@dataclass(frozen=True, repr=False)
class StepCount(Detector):
    """The step counter, ``t / (t + 1)``: the baseline every stop rule has to beat.

    A threshold of 20/21 is a cap of 20 steps before the alarm.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> counter = StepCount()
    >>> counter.scores(measure([Trace(id="a", steps=[Step(), Step()])], counter.needs)).tolist()
    [0.0, 0.5]
    """

    name: ClassVar[str] = "steps"

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        # Every detector reads one column at least, which tells how many traces still run.
        return (Event(),)

    @property
    def patience(self) -> int:
        return 1

    @property
    def memory(self) -> int:
        return 0

    def fewest(self, threshold: float) -> float:
        return 1 + first_reaching(threshold, lambda t: t / (t + 1))

    def start(self, n: int) -> State:
        return {"t": np.zeros(n)}

    def advance(self, state: State, now: Now) -> Floats:
        t = state["t"]
        scores: Floats = t / (t + 1)
        t += 1
        return scores


@dataclass(frozen=True, repr=False)
class IllegalTransition(Graded):
    """Moves that the map does not allow: ``min(1, illegal moves so far / patience)``.

    Fires at threshold 1.0 at the `patience`-th. Staying is no move; from a place the map never leaves, anything
    goes. See `learn_transitions` for a map from good traces.

    Parameters
    ----------
    allowed : tuple of (str, str)
        Moves that are fine, from and to.
    patience : int
        How many illegal moves, >= 1.
    view : {"node", "tool"}
        What moves.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> wrong = IllegalTransition((("plan", "code"), ("code", "test")))
    >>> trace = Trace(id="a", steps=[Step(node=n) for n in ("plan", "code", "plan")])
    >>> wrong.scores(measure([trace], wrong.needs)).tolist()
    [0.0, 0.0, 1.0]
    """

    name: ClassVar[str] = "illegal_transition"
    positional: ClassVar[int] = 1
    allowed: Pairs = ()
    patience: int = 1
    view: str = "node"

    def __post_init__(self) -> None:
        whole("patience", self.patience, 1)
        object.__setattr__(self, "allowed", Illegal(self.allowed, self.view).allowed)

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        return (Illegal(self.allowed, self.view),)

    def fewest(self, threshold: float) -> float:
        return 1 + super().fewest(threshold)

    def start(self, n: int) -> State:
        return {"count": np.zeros(n)}

    def advance(self, state: State, now: Now) -> Floats:
        count = state["count"]
        # So far, not in a row: an illegal move stays one however lawful the moves after it.
        count += now[self.needs[0]] == 1
        return self.graded(count)

    def evidence(self, columns: Now, t: int) -> Evidence:
        """Return the steps that moved where they must not."""
        rows = np.flatnonzero(columns[self.needs[0]] == 1)
        return Evidence(absolute(rows, columns, t), f"{len(rows)} moves between {self.view}s that are not allowed")


@dataclass(frozen=True, repr=False)
class DeadEnd(Streak):
    """At a place from which no allowed way leads to an end: ``min(1, steps there / patience)``.

    Fires at threshold 1.0 at the `patience`-th step in a row. Without `ends` a dead end is a place that no
    allowed move leaves.

    Parameters
    ----------
    allowed : tuple of (str, str)
        Moves that are fine, from and to.
    patience : int
        How many steps, >= 1.
    view : {"node", "tool"}
        What moves.
    ends : tuple of str
        Where a run may end.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> stuck = DeadEnd((("plan", "code"), ("plan", "ask"), ("code", "done")), 2, ends=("done",))
    >>> trace = Trace(id="a", steps=[Step(node=n) for n in ("plan", "ask", "ask")])
    >>> stuck.scores(measure([trace], stuck.needs)).tolist()
    [0.0, 0.5, 1.0]
    """

    name: ClassVar[str] = "dead_end"
    positional: ClassVar[int] = 1
    allowed: Pairs = ()
    patience: int = 3
    view: str = "node"
    ends: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        whole("patience", self.patience, 1)
        trap = Trapped(self.allowed, self.view, self.ends)
        object.__setattr__(self, "allowed", trap.allowed)
        object.__setattr__(self, "ends", trap.ends)

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        return (Trapped(self.allowed, self.view, self.ends),)

    def counts(self, now: Now) -> Floats:
        return now[self.needs[0]]

    def reason(self) -> str:
        return f"no allowed way on from this {self.view}"
