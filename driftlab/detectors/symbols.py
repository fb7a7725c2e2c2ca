"""Detectors that look at which things are equal."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from driftlab._util.spec import choice, whole
from driftlab.detectors.base import Detector, Evidence, Floats, Now, State, absolute, first_reaching
from driftlab.detectors.cycles import VIEWS, symbol_of
from driftlab.detectors.streaks import Streak
from driftlab.metrics.column import Column
from driftlab.metrics.exact import Exact

__all__ = ["ActionNovelty", "Recurring", "StateUnchanged", "Windowed"]


class Windowed(Detector):
    """Base: the last `window` symbols of one view; steps without the view leave the score as it was."""

    view: str
    mask: str
    window: int

    def __post_init__(self) -> None:
        choice("view", self.view, VIEWS)
        symbol_of(self.view, self.mask)  # the column checks the mask
        whole("window", self.window, 2)

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        return (symbol_of(self.view, self.mask),)

    @property
    def memory(self) -> int:
        return self.window

    def start(self, n: int) -> State:
        return {"last": np.full((n, self.window), -1, dtype=np.int64), "score": np.zeros(n)}

    def advance(self, state: State, now: Now) -> Floats:
        last, score, symbol = state["last"], state["score"], now[self.needs[0]]
        absent = symbol < 0
        if not np.count_nonzero(absent):
            last[:, :-1] = last[:, 1:]
            last[:, -1] = symbol
            score[:] = self.judged(last)
        else:
            rows = np.flatnonzero(~absent)
            last[rows] = np.concatenate([last[rows, 1:], symbol[rows, None]], axis=1)
            score[rows] = self.judged(last[rows])
        return score.copy()

    def judged(self, last: NDArray[np.int64]) -> Floats:
        """Turn the last symbols, shape (n, window), newest last, -1 where there are none yet, into scores."""
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class ActionNovelty(Windowed):
    """Few different actions lately: ``1 - (distinct - 1) / (window - 1)`` over the last `window` ones.

    0.0 until the window is full. "Fewer than 3 different actions in the last 8", a floor found in several
    packages, is ``action_novelty(window=8)`` at threshold 6/7: at most 2 different ones.

    Parameters
    ----------
    view : str
        What is compared.
    mask : str
        How text is rewritten first.
    window : int
        How many latest steps that have the view, >= 2.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> trace = Trace(id="a", steps=[Step(tool=t) for t in "abcbbb"])
    >>> few = ActionNovelty(window=3)
    >>> few.scores(measure([trace], few.needs)).tolist()
    [0.0, 0.0, 0.0, 0.5, 0.5, 1.0]
    """

    name: ClassVar[str] = "action_novelty"
    view: str = "action"
    mask: str = "text"
    window: int = 8

    @property
    def patience(self) -> int:
        return self.window

    def judged(self, last: NDArray[np.int64]) -> Floats:
        ordered = np.sort(last, axis=1)
        distinct = 1 + np.add.reduce(ordered[:, 1:] != ordered[:, :-1], axis=1)
        scores: Floats = (1 - (distinct - 1) / (self.window - 1)) * (ordered[:, 0] >= 0)
        return scores

    def reason(self) -> str:
        return f"few different {self.view}s in the last {self.window}"


@dataclass(frozen=True, repr=False)
class Recurring(Windowed):
    """The present turn was there several times lately: ``min(1, (count - 1) / (times - 1))`` in the last `window`.

    Counts the same call with the same masked result, or the same words where no tool is called. What lies between
    does not matter, so one fresh step in turn does not hide a stuck one. Fires at threshold 1.0 when the present
    turn was seen `times` times, itself included. (Crush: more than 5 of 10; browser-use: 5 of 20, actions alone.)

    Parameters
    ----------
    times : int
        How often, >= 2.
    window : int
        Among how many latest steps that have the view, >= `times`.
    view : str
        What is compared: ``"turn"``, a view, ``"tool"``, ``"node"``.
    mask : str
        How text is rewritten first.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> trace = Trace(id="a", steps=[Step(tool=t, output="") for t in "abacad"])
    >>> again = Recurring(3, 6)
    >>> again.scores(measure([trace], again.needs)).round(2).tolist()
    [0.0, 0.0, 0.5, 0.0, 1.0, 0.0]
    """

    name: ClassVar[str] = "recurring"
    positional: ClassVar[int] = 2
    times: int = 5
    window: int = 12
    view: str = "turn"
    mask: str = "volatile"

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("times", self.times, 2)
        whole("window", self.window, self.times)

    @property
    def patience(self) -> int:
        return self.times

    def fewest(self, threshold: float) -> float:
        return first_reaching(threshold, lambda count: min((count - 1) / (self.times - 1), 1.0))

    def judged(self, last: NDArray[np.int64]) -> Floats:
        count = np.add.reduce(last == last[:, -1:], axis=1)
        scores: Floats = np.minimum((count - 1) / (self.times - 1), 1.0)
        return scores

    def evidence(self, columns: Now, t: int) -> Evidence:
        """Return the equal steps."""
        symbols = columns[self.needs[0]]
        said = np.flatnonzero(symbols >= 0)[-self.window :]
        rows = said[symbols[said] == symbols[said[-1]]] if len(said) else said
        return Evidence(absolute(rows, columns, t), f"the same {self.view} {len(rows)} times in {len(said)} steps")


@dataclass(frozen=True, repr=False)
class StateUnchanged(Streak):
    """The text the loop is judged by stays the same: ``min(1, unchanged / patience)``.

    Fires at threshold 1.0 when the state equalled the one before `patience` times in a row: patience + 1 equal
    states (browser-use: the page fingerprint unchanged for 5 further steps).

    Parameters
    ----------
    patience : int
        How many unchanged steps, >= 1.
    view : {"state", "thought", "action", "output", "call"}
        What is compared.
    mask : str
        How text is rewritten first.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> trace = Trace(id="a", steps=[Step(state=s) for s in "abbb"])
    >>> same = StateUnchanged(2)
    >>> same.scores(measure([trace], same.needs)).tolist()
    [0.0, 0.0, 0.5, 1.0]
    """

    name: ClassVar[str] = "state_unchanged"
    positional: ClassVar[int] = 1
    patience: int = 5
    view: str = "state"
    mask: str = "text"

    def __post_init__(self) -> None:
        whole("patience", self.patience, 1)
        Exact(self.view, self.mask)

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        return (Exact(self.view, self.mask),)

    def counts(self, now: Now) -> Floats:
        return 1 - now[self.needs[0]]

    def reason(self) -> str:
        return f"{self.view} unchanged"
