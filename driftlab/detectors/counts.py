"""Detectors that count over the whole run."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from driftlab._util.spec import whole
from driftlab.detectors.base import Detector, Floats, Now, State, first_reaching
from driftlab.metrics.column import Column, Symbol
from driftlab.metrics.columns.steps import Visits

__all__ = ["NodeVisits", "ToolEntropy"]


@dataclass(frozen=True, repr=False)
class ToolEntropy(Detector):
    """Few different calls in the whole run: 1 - distinct calls / calls so far.

    0.0 for the first `least` - 1 calls. The floor of 0.4 for the share of distinct calls, that one package
    ships, is the threshold 0.6. A share over the whole run falls with length by itself: compare with `steps`.

    Parameters
    ----------
    view : {"state", "thought", "action", "output", "call", "tool", "node"}
        What is compared.
    mask : str
        How text is rewritten first.
    least : int
        Calls before the score may leave 0, >= 1.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> trace = Trace(id="a", steps=[Step(tool=t) for t in "abaa"])
    >>> few = ToolEntropy(least=2)
    >>> few.scores(measure([trace], few.needs)).round(2).tolist()
    [0.0, 0.0, 0.33, 0.5]
    """

    name: ClassVar[str] = "tool_entropy"
    view: str = "action"
    mask: str = "text"
    least: int = 5

    def __post_init__(self) -> None:
        Symbol(self.view, self.mask)
        whole("least", self.least, 1)

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        return (Symbol(self.view, self.mask),)

    @property
    def patience(self) -> int:
        return self.least

    def fewest(self, threshold: float) -> float:
        return max(self.least, first_reaching(threshold, lambda calls: 1 - 1 / calls))

    @property
    def memory(self) -> int:
        return 0

    def start(self, n: int) -> State:
        return {"calls": np.zeros(n), "distinct": np.zeros(n), "top": np.full(n, -1, dtype=np.int64)}

    def advance(self, state: State, now: Now) -> Floats:
        calls, distinct, top, symbol = state["calls"], state["distinct"], state["top"], now[self.needs[0]]
        calls += symbol >= 0
        # Symbols are numbered by first appearance: one that was not seen before is larger than all that were.
        distinct += symbol > top
        np.maximum(top, symbol, out=top)
        # Shares of few calls jump about; below `least` nothing is said.
        scores: Floats = np.where(calls >= self.least, 1 - distinct / np.maximum(calls, 1), 0.0)
        return scores

    def reason(self) -> str:
        return f"few different {self.view}s in the whole run"


@dataclass(frozen=True, repr=False)
class NodeVisits(Detector):
    """One node is entered again and again: ``min(1, (visits - 1) / most)`` of the present node.

    Fires at threshold 1.0 at the visit after the `most`-th; staying at a node is no visit.

    Parameters
    ----------
    most : int
        Visits that are fine, >= 1.
    view : {"node", "tool"}
        What counts as a node.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> trace = Trace(id="a", steps=[Step(node=n) for n in "ababa"])
    >>> visits = NodeVisits(2)
    >>> visits.scores(measure([trace], visits.needs)).round(2).tolist()
    [0.0, 0.0, 0.5, 0.5, 1.0]
    """

    name: ClassVar[str] = "node_visits"
    positional: ClassVar[int] = 1
    most: int = 4
    view: str = "node"

    def __post_init__(self) -> None:
        whole("most", self.most, 1)
        Visits(self.view)

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        return (Visits(self.view),)

    @property
    def patience(self) -> int:
        return 1

    def fewest(self, threshold: float) -> float:
        # Between two visits lies at least one step elsewhere.
        return 2 * first_reaching(threshold, lambda again: min(again / self.most, 1.0)) + 1

    @property
    def memory(self) -> int:
        return 0

    def start(self, n: int) -> State:
        return {"visits": np.ones(n)}

    def advance(self, state: State, now: Now) -> Floats:
        visits, entered = state["visits"], now[self.needs[0]]
        np.copyto(visits, entered, where=~np.isnan(entered))
        scores: Floats = np.minimum((visits - 1) / self.most, 1.0)
        return scores

    def reason(self) -> str:
        return f"the {self.view} was entered more than {self.most} times"
