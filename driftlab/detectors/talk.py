"""Detectors that look at talk instead of work."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from driftlab._util.errors import InputError
from driftlab._util.spec import whole
from driftlab.detectors.base import Evidence, Floats, Now, State, absolute
from driftlab.detectors.streaks import Graded, Streak
from driftlab.metrics.column import Column
from driftlab.metrics.columns.steps import CALL, NO_CALL, USER, Called, PhraseNovelty

__all__ = ["Idle", "Phrases"]


@dataclass(frozen=True, repr=False)
class Phrases(Streak):
    """A long text without a call that only says again what was said: ``min(1, texts / patience)``.

    A text counts when fewer than `new` of its word groups were never said before in this run; one with more
    starts again; calls and short texts leave the count as it is. Fires at 1.0 at the `patience`-th such text.

    Parameters
    ----------
    patience : int
        How many texts in a row, >= 1.
    new : float
        Share of new word groups below which a text counts, in (0, 1].
    length, size : int
        Fewest words of a text that is judged; words in a group.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> again = Phrases(2, length=4)
    >>> trace = Trace(id="a", steps=[Step(state="I will write the guide now")] * 3)
    >>> again.scores(measure([trace], again.needs)).tolist()
    [0.0, 0.5, 1.0]
    """

    name: ClassVar[str] = "phrases"
    positional: ClassVar[int] = 1
    patience: int = 5
    new: float = 0.15
    length: int = 40
    size: int = 4

    def __post_init__(self) -> None:
        whole("patience", self.patience, 1)
        if not 0 < self.new <= 1:
            raise InputError(f"new must be in (0, 1], got {self.new!r}")
        PhraseNovelty(self.length, self.size)

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        return (PhraseNovelty(self.length, self.size),)

    def counts(self, now: Now) -> Floats:
        new = now[self.needs[0]]
        # Few new phrases, not none: a summary always joins old ones in a new place.
        return np.where(np.isnan(new), np.nan, new < self.new)

    def reason(self) -> str:
        return f"long texts with less than {self.new:.0%} new phrases"


@dataclass(frozen=True, repr=False)
class Idle(Graded):
    """An agent that used tools calls none any more: ``min(1, steps without a call / patience)``.

    Fires at threshold 1.0 at the `patience`-th step in a row without a call. A run that never called a tool is a
    text, not an agent at work, and scores 0; a turn of the user starts again.

    Parameters
    ----------
    patience : int
        How many steps, >= 1.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> trace = Trace(id="a", steps=[Step(), Step(tool="ls"), Step(), Step()])
    >>> idle = Idle(2)
    >>> idle.scores(measure([trace], idle.needs)).tolist()
    [0.0, 0.0, 0.5, 1.0]
    """

    name: ClassVar[str] = "idle"
    positional: ClassVar[int] = 1
    patience: int = 8

    def __post_init__(self) -> None:
        whole("patience", self.patience, 1)

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        return (Called(),)

    def start(self, n: int) -> State:
        # -inf: nothing to count before the first call.
        return {"count": np.full(n, -np.inf)}

    def advance(self, state: State, now: Now) -> Floats:
        count, called = state["count"], now[self.needs[0]]
        count += called == NO_CALL
        np.copyto(count, 0, where=called == CALL)
        if np.count_nonzero(called == USER):
            np.copyto(count, np.minimum(count, 0), where=called == USER)
        return self.graded(np.maximum(count, 0))

    def evidence(self, columns: Now, t: int) -> Evidence:
        """Return the steps since the last call."""
        called = columns[self.needs[0]]
        ends = np.flatnonzero((called == CALL) | (called == USER))
        first = ends[-1] + 1 if len(ends) else 0
        rows = first + np.flatnonzero(called[first:] == NO_CALL)
        return Evidence(absolute(rows, columns, t), f"{len(rows)} steps without a call after calls")
