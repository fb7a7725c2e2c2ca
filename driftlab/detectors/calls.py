"""Detectors that look at what tools were asked for, what came back."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from driftlab._util.errors import InputError
from driftlab._util.spec import choice, whole
from driftlab.detectors.base import Evidence, Floats, Now, State, absolute
from driftlab.detectors.streaks import Graded, Streak
from driftlab.metrics.arguments import Arguments
from driftlab.metrics.column import Column
from driftlab.metrics.columns.failures import OUTAGE, SUCCESS, Failure
from driftlab.metrics.columns.steps import Redone
from driftlab.metrics.jaccard import Jaccard

__all__ = ["ErrorStreak", "Redo", "SameCall"]


@dataclass(frozen=True, repr=False)
class SameCall(Streak):
    """One call again and again, with much the same result: ``min(1, repeats / patience)``.

    A call counts when its arguments are those of the call before (at most `changed` of them differ, the tool does
    not) and at most `new` of the words in both results are in one of them only. Fires at threshold 1.0 at the
    `patience`-th repeat: patience + 1 such calls. Sees loops whose results never quite repeat (clocks, process
    ids) and flags a poll that only moves a number: give the poller a role, or the task a signal.

    Parameters
    ----------
    patience : int
        How many repeats in a row, >= 1.
    changed : float
        Largest share of arguments that may differ, in [0, 1).
    new : float
        Largest share of words that may differ, in [0, 1).
    mask : str
        How results are rewritten first.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> outputs = [f"job 7 is queued, {n} before it" for n in (3, 4, 3)]
    >>> same = SameCall(2)
    >>> trace = Trace(id="a", steps=[Step(tool="status", args={"job": 7}, output=o) for o in outputs])
    >>> same.scores(measure([trace], same.needs)).tolist()
    [0.0, 0.5, 1.0]
    """

    name: ClassVar[str] = "same_call"
    positional: ClassVar[int] = 1
    patience: int = 3
    changed: float = 0.1
    new: float = 0.5
    mask: str = "volatile"

    def __post_init__(self) -> None:
        whole("patience", self.patience, 1)
        for what in ("changed", "new"):
            if not 0 <= getattr(self, what) < 1:
                raise InputError(f"{what} must be in [0, 1), got {getattr(self, what)!r}")
        Jaccard("output", self.mask)

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        return (Arguments(), Jaccard("output", self.mask))

    def counts(self, now: Now) -> Floats:
        changed, new = now[self.needs[0]], now[self.needs[1]]
        # Near equality, not equality: a clock or a process id in the result must not hide a loop.
        return np.where(np.isnan(changed), np.nan, (changed <= self.changed) & (new <= self.new))

    def reason(self) -> str:
        return f"the call before again, at most {self.new:.0%} of its result's words new"


@dataclass(frozen=True, repr=False)
class Redo(Streak):
    """Calls that were made before, with much the same result, one after the other: ``min(1, calls / patience)``.

    A call counts when one of the last calls was equal and at most `new` of the words in both results are in one of
    them only. Fires at threshold 1.0 at the `patience`-th in a row. Sees cycles of any order up to `last` calls long
    whose results never quite repeat.

    Parameters
    ----------
    patience : int
        How many such calls in a row, >= 1.
    last : int
        How many earlier calls are looked at, >= 1.
    new : float
        Largest share of words that may differ, in [0, 1).
    mask : str
        How calls and results are rewritten first.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> calls = [("read", "a b"), ("test", "1 of 9 failed in 17"), ("read", "a b"), ("test", "1 of 9 failed in 4")]
    >>> redo = Redo(2)
    >>> trace = Trace(id="a", steps=[Step(tool=tool, output=output) for tool, output in calls])
    >>> redo.scores(measure([trace], redo.needs)).tolist()
    [0.0, 0.0, 0.5, 1.0]
    """

    name: ClassVar[str] = "redo"
    positional: ClassVar[int] = 1
    patience: int = 6
    last: int = 8
    new: float = 0.5
    mask: str = "volatile"

    def __post_init__(self) -> None:
        whole("patience", self.patience, 1)
        if not 0 <= self.new < 1:
            raise InputError(f"new must be in [0, 1), got {self.new!r}")
        Redone(self.last, self.mask)

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        return (Redone(self.last, self.mask),)

    def counts(self, now: Now) -> Floats:
        new = now[self.needs[0]]
        return np.where(np.isnan(new), np.nan, new <= self.new)

    def reason(self) -> str:
        return f"calls of the last {self.last} again, at most {self.new:.0%} of their results' words new"


@dataclass(frozen=True, repr=False)
class ErrorStreak(Graded):
    """The same error again and again: ``min(1, errors / patience)``; fires at 1.0 at the `patience`-th in a row.

    Two errors are the same when their masked lines are, whatever was called. Another error starts a new streak, a
    success ends it unless `over` allows it. Outages (rate limits, networks) say that someone else is slow: with
    ``kind="task"`` they neither count nor reset, with ``kind="outage"`` only they count. (goose: same error 3 times;
    cline: any 3 mistakes.)

    Parameters
    ----------
    patience : int
        How many errors, >= 1.
    kind : {"task", "outage"}
        Which class of errors counts.
    over : int
        How many successes in a row between two errors do not end the streak, >= 0.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> outputs = ["error: disk full", "ok", "error: disk full", "error: disk full"]
    >>> streak = ErrorStreak(2)
    >>> trace = Trace(id="a", steps=[Step(tool="w", output=o) for o in outputs])
    >>> streak.scores(measure([trace], streak.needs)).tolist()
    [0.5, 0.0, 0.5, 1.0]
    """

    name: ClassVar[str] = "error_streak"
    positional: ClassVar[int] = 1
    patience: int = 4
    kind: str = "task"
    over: int = 0

    def __post_init__(self) -> None:
        whole("patience", self.patience, 1)
        choice("kind", self.kind, ("task", "outage"))
        whole("over", self.over, 0)

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        return (Failure(),)

    def start(self, n: int) -> State:
        return {"count": np.zeros(n), "last": np.full(n, -1, dtype=np.int64), "well": np.zeros(n)}

    def advance(self, state: State, now: Now) -> Floats:
        count, last, well, failure = state["count"], state["last"], state["well"], now[self.needs[0]]
        # Other calls that succeed in between (a look at a file) do not end a streak of one error while `over`
        # allows them.
        well += failure == SUCCESS
        count *= well <= self.over
        # Codes: success, then outage, then one number for each different error of the task.
        wanted = failure == OUTAGE if self.kind == "outage" else failure > OUTAGE
        if np.count_nonzero(wanted):
            np.copyto(count, np.where(failure == last, count, 0) + 1, where=wanted)
            np.copyto(last, failure, where=wanted)
            np.copyto(well, 0, where=wanted)
        return self.graded(count)

    def evidence(self, columns: Now, t: int) -> Evidence:
        """Return the steps that ended in the error."""
        failures, state = columns[self.needs[0]], self.start(1)
        for row in range(len(failures)):
            self.advance(state, {self.needs[0]: failures[row : row + 1]})
        rows = np.flatnonzero(failures == state["last"][0])[-max(int(state["count"][0]), 1) :]
        return Evidence(absolute(rows, columns, t), f"the same {self.kind} error {len(rows)} times")
