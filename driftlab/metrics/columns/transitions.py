"""Which node, or tool, may follow which: a map given by hand or learned from good traces."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from driftlab._util.errors import InputError
from driftlab._util.spec import choice, whole
from driftlab.metrics.column import Column, StepView, Stream
from driftlab.trace.schema import Step, Trace, TraceInfo

__all__ = ["Illegal", "Pairs", "Trapped", "learn_transitions", "moves", "pairs"]

Pairs = tuple[tuple[str, str], ...]


def learn_transitions(traces: Iterable[Trace], *, view: str = "node", support: int = 2) -> Pairs:
    """Return the moves that good traces make, as pairs (from, to).

    Parameters
    ----------
    traces : iterable of Trace
        Those labelled good are read.
    view : {"node", "tool"}
        What moves.
    support : int
        In how many good traces a move must occur, >= 1; a rare one may be an accident.

    Raises
    ------
    InputError
        When no move has the support.

    Examples
    --------
    >>> good = [Trace(id=n, label="good", steps=[Step(node="plan"), Step(node="code")]) for n in "ab"]
    >>> learn_transitions(good)
    (('plan', 'code'),)
    """
    whole("support", support, 1)
    choice("view", view, ("node", "tool"))
    counts: Counter[tuple[str, str]] = Counter()
    read = 0
    for trace in traces:
        if trace.label == "good":
            read += 1
            counts.update(set(moves(trace.steps, view)))
    found = tuple(sorted(pair for pair, count in counts.items() if count >= support))
    if not found:
        counted = f"no move between {view}s occurs in {support} of {read} good traces"
        raise InputError(f"{counted}; lower support or give a map")
    return found


def moves(steps: Iterable[Step], view: str) -> Iterator[tuple[str, str]]:
    """Yield the moves of a run; staying is no move.

    Examples
    --------
    >>> list(moves([Step(node="a"), Step(node="a"), Step(), Step(node="b")], "node"))
    [('a', 'b')]
    """
    names = [name for name in (getattr(step, view) for step in steps) if name is not None]
    return ((first, second) for first, second in pairwise(names) if first != second)


@dataclass(frozen=True, repr=False)
class _OnMap(Column):
    """Base: numbers from a map of allowed moves."""

    positional: ClassVar[int] = 1
    allowed: Pairs = ()
    view: str = "node"

    def __post_init__(self) -> None:
        choice("view", self.view, ("node", "tool"))
        object.__setattr__(self, "allowed", pairs(self.allowed))


@dataclass(frozen=True, repr=False)
class Illegal(_OnMap):
    """1.0 where a move is not among the allowed ones, 0.0 where it is, `nan` where nothing moved.

    From a place that the map never leaves nothing is known: `nan`.

    Parameters
    ----------
    allowed : tuple of (str, str)
        Moves that are fine, from and to.
    view : {"node", "tool"}
        What moves.

    Examples
    --------
    >>> from driftlab.metrics.measurements import streamed
    >>> steps = [Step(node=n) for n in ("plan", "code", "plan")]
    >>> streamed(Illegal((("plan", "code"), ("code", "test"))), Trace(id="a", steps=steps)).tolist()
    [nan, 0.0, 1.0]
    """

    name: ClassVar[str] = "illegal"

    def stream(self, info: TraceInfo) -> Stream:
        known, last = frozenset(self.allowed), None
        leaves = {first for first, _ in known}

        def read(reading: StepView) -> float:
            nonlocal last
            here = getattr(reading.step, self.view)
            if here is None:
                return math.nan
            before, last = last, here
            if before is None or before == here or before not in leaves:
                return math.nan
            return float((before, here) not in known)

        return read


@dataclass(frozen=True, repr=False)
class Trapped(_OnMap):
    """1.0 where no allowed way leads to an end any more, 0.0 where one does, `nan` without a place on the map.

    Parameters
    ----------
    allowed : tuple of (str, str)
        Moves that are fine, from and to.
    view : {"node", "tool"}
        What moves.
    ends : tuple of str
        Where a run may end; empty: a place is a trap when no allowed move leaves it.

    Examples
    --------
    >>> from driftlab.metrics.measurements import streamed
    >>> trap = Trapped((("plan", "code"), ("plan", "ask"), ("code", "done")), ends=("done",))
    >>> streamed(trap, Trace(id="a", steps=[Step(node=n) for n in ("plan", "ask")])).tolist()
    [0.0, 1.0]
    """

    name: ClassVar[str] = "trapped"
    ends: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "ends", tuple(self.ends))

    def stream(self, info: TraceInfo) -> Stream:
        places = {place for pair in self.allowed for place in pair} | set(self.ends)
        fine = self._leading_on()

        def read(reading: StepView) -> float:
            here = getattr(reading.step, self.view)
            return float(here not in fine) if here in places else math.nan

        return read

    def _leading_on(self) -> set[str]:
        """Return the places from which an end, or without ends any move, can be reached."""
        if not self.ends:
            return {first for first, second in self.allowed if first != second}
        fine, size = set(self.ends), -1
        while size != len(fine):
            size = len(fine)
            fine |= {first for first, second in self.allowed if second in fine}
        return fine


def pairs(allowed: Iterable[Iterable[str]]) -> Pairs:
    """Return moves as a tuple of pairs, or say what is wrong.

    Raises
    ------
    InputError
        When an entry is no pair of names.
    """
    found = tuple(tuple(pair) if not isinstance(pair, str) else (pair,) for pair in allowed)
    for pair in found:
        if len(pair) != 2 or not all(isinstance(name, str) for name in pair):
            raise InputError(f"allowed must hold pairs (from, to) of names, got {pair!r}")
    return found  # type: ignore[return-value]
