"""Detectors that look for cycles."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from driftlab._util.spec import choice, whole
from driftlab.detectors.accumulators import Accumulator, Run
from driftlab.detectors.base import Detector, Evidence, Floats, Now, State, absolute, first_reaching
from driftlab.detectors.deltas import SAME_CALL, Accumulated, pairwise
from driftlab.metrics import Pairwise
from driftlab.metrics.column import Column, Symbol
from driftlab.metrics.columns.steps import Turn

__all__ = ["VIEWS", "Cycle", "Oscillation", "explained", "symbol_of"]

TWICE_THE_LONGEST = Run(16)


@dataclass(frozen=True, repr=False)
class Oscillation(Accumulated):
    """In a circle: some lag above 1 explains nearly all change from step to step.

    With D(k) = 1 - the accumulated staleness at lag k (for ``run(p)``: the largest of the last p deltas to k
    steps ago), the score is the best over k = 2..longest of ``(1 - D(k)) * (1 - D(k) / D(1))``: little is
    left at lag k, and little compared with what changes a step. A constant run has D(1) = 0 and scores 0: it
    is a plateau. Slow drift has D(k) > D(1) and scores 0.

    Parameters
    ----------
    metric : Pairwise or str
        What is compared; its own lag is not used.
    accumulator : Accumulator or str
        By default ``run(16)``, twice the longest cycle: fewer steps show no long cycle whole.
    longest : int
        Longest cycle in steps that have the view, >= 2.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> trace = Trace(id="a", steps=[Step(tool=t) for t in "abcabcabc"])
    >>> turning = Oscillation("exact(view='call')", "run(4)")
    >>> turning.scores(measure([trace], turning.needs)).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    """

    name: ClassVar[str] = "oscillation"
    positional: ClassVar[int] = 2
    metric: Pairwise = SAME_CALL
    accumulator: Accumulator = TWICE_THE_LONGEST
    longest: int = 8

    def __post_init__(self) -> None:
        object.__setattr__(self, "metric", pairwise(self.metric, self.name))
        whole("longest", self.longest, 2)
        super().__post_init__()

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        return tuple(self.metric.replace(lag=k, nearest=False) for k in range(1, self.longest + 1))

    @property
    def memory(self) -> int:
        return self.accumulator.memory + self.longest

    def fewest(self, threshold: float) -> float:
        # The first two steps have nothing two steps before them.
        return 2 + self.accumulator.fewest(threshold)

    def start(self, n: int) -> State:
        return self.accumulator.start(n, self.longest)

    def advance(self, state: State, now: Now) -> Floats:
        scores: Floats = np.maximum.reduce(explained(self._held(state, now)), axis=1)
        return scores

    def _held(self, state: State, now: Now) -> Floats:
        """Take one step; return the accumulated staleness at lags 1, 2, ..., shape (n, longest)."""
        return self.accumulator.advance(state, 1 - np.stack([now[i] for i in self.needs]).T)

    def lag(self, columns: Now) -> int:
        """Return the length of the cycle at the end of one trace's columns."""
        state, held = self.start(1), np.zeros((1, self.longest))
        for row in range(len(columns[self.needs[0]])):
            held = self._held(state, {i: columns[i][row : row + 1] for i in self.needs})
        return int(explained(held)[0].argmax()) + 2

    def evidence(self, columns: Now, t: int) -> Evidence:
        """Return the steps of the cycle's laps, with its length as the lag."""
        lag = self.lag(columns)
        said = np.flatnonzero(~np.isnan(columns[self.needs[0]]))
        rows = said[-(lag + max(self.accumulator.memory, lag)) :]
        return Evidence(absolute(rows, columns, t), f"a cycle of {lag} steps by {self.metric!r}", lag)


def explained(held: Floats) -> Floats:
    """Return how well each lag from 2 on explains the change, shape (n, n_lags - 1).

    Parameters
    ----------
    held : (n, n_lags) array
        Accumulated staleness at lags 1, 2, ...

    Examples
    --------
    >>> explained(np.array([[0.0, 1.0, 0.0], [1.0, 1.0, 1.0]])).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    # (1 - D(k)) * (1 - D(k) / D(1)) with D = 1 - held; no change a step is no cycle, never a division by zero.
    first, later = held[:, :1], held[:, 1:]
    change = np.where(first < 1, 1 - first, 1.0)
    # Little change at lag k, and less than at lag 1: a loop that stands still is alike at every lag and is no
    # cycle.
    scores: Floats = later * np.maximum(later - first, 0) / change
    return scores


@dataclass(frozen=True, repr=False)
class Cycle(Detector):
    """The same symbols again in the same order: equal at one lag for several steps in a row.

    A lag k needs ``max(least, laps * k)`` equal steps; the score is the best share of that over k =
    2..longest, so threshold 1.0 fires when one lag has them all. A lag no better than lag 1 is a constant run
    and scores 0. (Period checks of this kind: Gemini CLI 1..5 five times, OpenHands 2 three times.)

    Parameters
    ----------
    view : str
        What is compared: ``"turn"`` (the call with its result, else the words), or a view, ``"tool"``,
        ``"node"`` (agents that wake each other).
    mask : str
        How text is rewritten first.
    longest : int
        Longest cycle in steps that have the view, >= 2.
    laps, least : int
        How many laps, and at least how many steps, must be equal to those before.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> trace = Trace(id="a", steps=[Step(node=t) for t in "abcabcabc"])
    >>> ring = Cycle("node")
    >>> ring.scores(measure([trace], ring.needs)).round(2).tolist()
    [0.0, 0.0, 0.0, 0.17, 0.33, 0.5, 0.67, 0.83, 1.0]
    """

    name: ClassVar[str] = "cycle"
    positional: ClassVar[int] = 1
    view: str = "turn"
    mask: str = "volatile"
    longest: int = 8
    laps: int = 2
    least: int = 6

    def __post_init__(self) -> None:
        choice("view", self.view, VIEWS)
        symbol_of(self.view, self.mask)  # the column checks the mask
        whole("longest", self.longest, 2)
        whole("laps", self.laps, 1)
        whole("least", self.least, 1)

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        return (symbol_of(self.view, self.mask),)

    @property
    def patience(self) -> int:
        return 1

    @property
    def memory(self) -> int:
        return self.longest

    @cached_property
    def required(self) -> Floats:
        """Equal steps each lag needs, shape (longest,)."""
        lags = np.arange(1, self.longest + 1)
        # Two laps of a short cycle happen in honest work (read, edit, read, edit); so a short one needs `least`
        # equal steps.
        return np.maximum(self.least, self.laps * lags).astype(np.float64)

    def fewest(self, threshold: float) -> float:
        # The first two steps have nothing two steps before them; no longer lag needs fewer equal ones.
        return 2 + first_reaching(threshold, lambda count: min(count / float(self.required[1]), 1.0))

    def start(self, n: int) -> State:
        # -2 is no symbol: nothing is equal to a step before the first.
        return {"last": np.full((n, self.longest), -2, dtype=np.int64), "equal": np.zeros((n, self.longest))}

    def advance(self, state: State, now: Now) -> Floats:
        last, equal, symbol = state["last"], state["equal"], now[self.needs[0]]
        absent = symbol < 0
        if not np.count_nonzero(absent):
            _turn(last, equal, symbol)
        elif rows := np.flatnonzero(~absent).tolist():
            some_last, some_equal = last[rows], equal[rows]
            _turn(some_last, some_equal, symbol[rows])
            last[rows], equal[rows] = some_last, some_equal
        if not np.count_nonzero(equal):  # the usual case of a live loop
            return np.zeros(len(equal))
        scores: Floats = np.maximum.reduce(self.graded(equal), axis=1)
        return scores

    def graded(self, equal: Floats) -> Floats:
        """Return the score of each lag from 2 on, shape (n, longest - 1)."""
        # A constant run is equal at every lag; only what lag 1 does not explain is a cycle.
        counts = equal[:, 1:] * (equal[:, 1:] > equal[:, :1])
        scores: Floats = np.minimum(counts / self.required[1:], 1.0)
        return scores

    def evidence(self, columns: Now, t: int) -> Evidence:
        """Return the steps of the cycle, with its length as the lag."""
        symbols = columns[self.needs[0]]
        said = np.flatnonzero(symbols >= 0)
        equal = np.array([[_equal_steps(symbols[said], k) for k in range(1, self.longest + 1)]], dtype=np.float64)
        lag = int(self.graded(equal)[0].argmax()) + 2
        rows = said[-(lag + int(equal[0, lag - 1])) :]
        return Evidence(absolute(rows, columns, t), f"a cycle of {lag} steps in {self.view}", lag)


VIEWS = ("turn", "state", "thought", "action", "output", "call", "tool", "node")


def symbol_of(view: str, mask: str) -> Column:
    """Return the column that says which steps are equal under a view."""
    return Turn(mask) if view == "turn" else Symbol(view, "text" if view in ("tool", "node") else mask)


def _turn(last: NDArray[Any], equal: Floats, symbol: NDArray[Any]) -> None:
    """Take one symbol of every trace: count equal ones at each lag, then move the window on."""
    # Add, then clear where unequal: two array operations for all lags at once.
    equal += 1
    equal *= last == symbol[:, None]
    last[:, 1:] = last[:, :-1]
    last[:, 0] = symbol


def _equal_steps(symbols: NDArray[Any], lag: int) -> int:
    """Count the last symbols in a row that equal the one `lag` before."""
    unequal = np.flatnonzero(symbols[lag:] != symbols[:-lag])
    return len(symbols) - lag - (int(unequal[-1]) + 1 if len(unequal) else 0) if len(symbols) > lag else 0
