"""Columns that only detectors read: what kind of step it was, what it said."""

import math
from collections import deque
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from driftlab._util.spec import choice, whole
from driftlab.metrics.column import Column, StepView, Stream, digest
from driftlab.metrics.jaccard import unlike
from driftlab.metrics.words import words
from driftlab.trace.schema import Step, TraceInfo
from driftlab.trace.views import ABSENT, MASKS

__all__ = ["Called", "PhraseNovelty", "Redone", "Turn", "Visits", "of_user", "said_text"]

NO_CALL, CALL, USER = 0, 1, 2
LONGEST = 6_000  # characters of a result whose words are compared


@dataclass(frozen=True, repr=False)
class Called(Column):
    """Who acted: 0 the agent without a tool, 1 the agent with one, 2 the user.

    Examples
    --------
    >>> from driftlab.metrics.measurements import streamed
    >>> from driftlab.trace.schema import Trace
    >>> streamed(Called(), Trace(id="a", steps=[Step(event="user"), Step(tool="ls"), Step()])).tolist()
    [2, 1, 0]
    """

    name: ClassVar[str] = "called"
    dtype: ClassVar[Any] = np.int64

    def stream(self, info: TraceInfo) -> Stream:
        return lambda reading: USER if of_user(reading.step) else CALL if reading.step.has_call else NO_CALL


@dataclass(frozen=True, repr=False)
class Turn(Column):
    """What a step did or said, as a symbol: its call with the result, else its words; -1 for the user.

    A compaction is known by its summary (the state), since its output counts the tokens it saved.

    Parameters
    ----------
    mask : str
        How words, results are rewritten first (calls are compared as they are).

    Examples
    --------
    >>> from driftlab.metrics.measurements import streamed
    >>> from driftlab.trace.schema import Trace
    >>> steps = [Step(state="hm"), Step(tool="ls", output="a"), Step(state="hm"), Step(event="user", state="hm")]
    >>> streamed(Turn(), Trace(id="a", steps=steps)).tolist()
    [0, 1, 0, -1]
    """

    name: ClassVar[str] = "turn"
    positional: ClassVar[int] = 1
    dtype: ClassVar[Any] = np.int64
    mask: str = "volatile"

    def __post_init__(self) -> None:
        MASKS.check(self.mask)

    def stream(self, info: TraceInfo) -> Stream:
        seen: dict[bytes, int] = {}

        def read(reading: StepView) -> int:
            text = None if of_user(reading.step) else self._shown(reading)
            return ABSENT if not text else seen.setdefault(digest(text), len(seen))

        return read

    def _shown(self, reading: StepView) -> str | None:
        if reading.step.has_call and not (reading.step.event and reading.step.state):
            # What is asked for is compared as it is: in a call a time or a path is content.
            return f"call {reading.text('action', 'text')}\n{reading.text('output', self.mask)}"
        said = said_text(reading, self.mask)
        return f"said {said}" if said else None


@dataclass(frozen=True, repr=False)
class Redone(Column):
    """Share of words that only one of two results has: this call's, and that of the latest equal call.

    1.0 where none of the last calls was equal; `nan` without a call. Reads the first 6,000 characters.

    Parameters
    ----------
    last : int
        How many earlier calls are looked at, >= 1.
    mask : str
        How results are rewritten first.

    Examples
    --------
    >>> from driftlab.metrics.measurements import streamed
    >>> from driftlab.trace.schema import Trace
    >>> steps = [Step(tool=t, output=o) for t, o in (("a", "x y"), ("b", ""), ("a", "x y"), ("a", "x z"))]
    >>> streamed(Redone(), Trace(id="a", steps=steps)).round(2).tolist()
    [1.0, 1.0, 0.0, 0.67]
    """

    name: ClassVar[str] = "redone"
    positional: ClassVar[int] = 1
    view: ClassVar[str] = "output"  # what roles of tools are about
    last: int = 8
    mask: str = "volatile"

    def __post_init__(self) -> None:
        whole("last", self.last, 1)
        MASKS.check(self.mask)

    def stream(self, info: TraceInfo) -> Stream:
        latest: deque[tuple[int, int, frozenset[str]]] = deque(maxlen=self.last)

        def read(reading: StepView) -> float:
            action = reading.symbol("action", "text")
            if action < 0:
                return math.nan
            result = reading.symbol("output", self.mask)
            known = next((found for _, number, found in latest if number == result), None)
            said = known if known is not None else frozenset(words((reading.text("output", self.mask) or "")[:LONGEST]))
            before = next((found for number, _, found in reversed(latest) if number == action), None)
            latest.append((action, result, said))
            return 1.0 if before is None else unlike(before, said)

        return read


@dataclass(frozen=True, repr=False)
class PhraseNovelty(Column):
    """Share of the word groups of a long text without a call that were never said before in this run.

    `nan` on calls, user turns and short texts; the first long text is 1.0.

    Parameters
    ----------
    length : int
        Fewest words (marks count) of a text that is judged.
    size : int
        Words in a group.

    Examples
    --------
    >>> from driftlab.metrics.measurements import streamed
    >>> from driftlab.trace.schema import Trace
    >>> steps = [Step(state="now I will write the guide"), Step(state="now I will write the plan"), Step(state="ok")]
    >>> streamed(PhraseNovelty(length=5), Trace(id="a", steps=steps)).round(2).tolist()
    [1.0, 0.33, nan]
    """

    name: ClassVar[str] = "phrase_novelty"
    positional: ClassVar[int] = 1
    length: int = 40
    size: int = 4

    def __post_init__(self) -> None:
        whole("length", self.length, 1)
        whole("size", self.size, 1)

    def stream(self, info: TraceInfo) -> Stream:
        seen: set[bytes] = set()

        def read(reading: StepView) -> float:
            if reading.step.has_call or of_user(reading.step):
                return math.nan
            said = words(said_text(reading, "text") or "")
            if len(said) < max(self.length, self.size):
                return math.nan
            groups = {digest(" ".join(said[i : i + self.size])) for i in range(len(said) - self.size + 1)}
            new = len(groups - seen)
            seen.update(groups)
            return new / len(groups)

        return read


@dataclass(frozen=True, repr=False)
class Visits(Column):
    """How often the present node was entered so far; staying is no new visit; `nan` without a node.

    Parameters
    ----------
    view : {"node", "tool"}
        What counts as a place.

    Examples
    --------
    >>> from driftlab.metrics.measurements import streamed
    >>> from driftlab.trace.schema import Trace
    >>> streamed(Visits(), Trace(id="a", steps=[Step(node=n) for n in ("a", "a", "b", "a")])).tolist()
    [1.0, 1.0, 1.0, 2.0]
    """

    name: ClassVar[str] = "visits"
    positional: ClassVar[int] = 1
    view: str = "node"

    def __post_init__(self) -> None:
        choice("view", self.view, ("node", "tool"))

    def stream(self, info: TraceInfo) -> Stream:
        counts: dict[str, int] = {}
        last: str | None = None

        def read(reading: StepView) -> float:
            nonlocal last
            here = getattr(reading.step, self.view)
            if here is None:
                return math.nan
            if here != last:
                counts[here] = counts.get(here, 0) + 1
                last = here
            return float(counts[here])

        return read


def of_user(step: Step) -> bool:
    """Whether the step is a turn of the user."""
    return step.event == "user"


def said_text(reading: StepView, mask: str) -> str | None:
    """Return what a step says in words: its state, else its thought."""
    return reading.text("state" if reading.step.state is not None else "thought", mask)
