"""How the deltas of several steps become one score."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from driftlab._util.errors import InputError
from driftlab._util.registry import Registry
from driftlab._util.spec import Spec, parse, whole
from driftlab.detectors.base import Floats, State, first_reaching

__all__ = ["ACCUMULATORS", "Accumulator", "Ewma", "Run", "accumulator"]


class Accumulator(Spec):
    """Turns one staleness a step (1 - delta) into a score; `nan`, no opinion, leaves it as it was."""

    @property
    @abstractmethod
    def patience(self) -> int:
        """How many deltas have to agree, >= 1."""

    @property
    @abstractmethod
    def memory(self) -> int:
        """How many past values are kept."""

    def fewest(self, threshold: float) -> float:
        """Return the fewest deltas after which the score can reach `threshold`."""
        return float(self.patience)

    @abstractmethod
    def start(self, n: int, *more: int) -> State:
        """Return the state of `n` traces before their first step; `more` axes for several values a trace."""

    @abstractmethod
    def advance(self, state: State, x: Floats) -> Floats:
        """Take one staleness of every trace, shape (n, *more), `nan` for none; return as many scores."""


@dataclass(frozen=True, repr=False)
class Run(Accumulator):
    """1 minus the largest of the last `patience` deltas: all of them must be small.

    Parameters
    ----------
    patience : int
        How many latest steps must agree, >= 1. The score is 0.0 until so many deltas were seen.

    Examples
    --------
    >>> run = Run(2)
    >>> state = run.start(1)
    >>> [run.advance(state, np.array([x])).item() for x in (0.5, 0.75, float("nan"), 1.0)]
    [0.0, 0.5, 0.5, 0.75]
    """

    name: ClassVar[str] = "run"
    positional: ClassVar[int] = 1
    patience: int = 3

    def __post_init__(self) -> None:
        whole("patience", self.patience, 1)

    @property
    def memory(self) -> int:
        return self.patience

    def start(self, n: int, *more: int) -> State:
        # Zeros are "entirely new": the score stays 0 until all of them are overwritten. In memory traces lie
        # together (order F): they are what every operation runs along.
        return {"last": np.zeros((n, *more, self.patience), order="F")}

    def advance(self, state: State, x: Floats) -> Floats:
        # The minimum of staleness is 1 minus the largest delta. A step without an opinion is no step here: it
        # neither breaks a run of stale ones nor lengthens it.
        last, absent = state["last"], np.isnan(x)
        if not np.count_nonzero(absent):
            last[..., :-1] = last[..., 1:]
            last[..., -1] = x
        else:
            np.copyto(last[..., :-1], last[..., 1:], where=~absent[..., None])
            np.copyto(last[..., -1], x, where=~absent)
        scores: Floats = np.minimum.reduce(last, axis=-1)
        return scores


@dataclass(frozen=True, repr=False)
class Ewma(Accumulator):
    """Exponentially weighted mean of 1 - delta: ``e = decay * e + (1 - decay) * x``, from 0.

    Parameters
    ----------
    decay : float
        Weight of the past, 0 <= decay < 1; higher is slower.

    Examples
    --------
    >>> ewma = Ewma(0.5)
    >>> state = ewma.start(1)
    >>> [ewma.advance(state, np.array([x])).item() for x in (1.0, float("nan"), 1.0)]
    [0.5, 0.5, 0.75]
    """

    name: ClassVar[str] = "ewma"
    positional: ClassVar[int] = 1
    decay: float = 0.8

    def __post_init__(self) -> None:
        if not 0 <= self.decay < 1:
            raise InputError(f"decay must be in [0, 1), got {self.decay!r}")

    @property
    def patience(self) -> int:
        return 1

    @property
    def memory(self) -> int:
        return 0

    def fewest(self, threshold: float) -> float:
        return first_reaching(threshold, lambda count: 1 - self.decay**count)

    def start(self, n: int, *more: int) -> State:
        return {"mean": np.zeros((n, *more), order="F")}

    def advance(self, state: State, x: Floats) -> Floats:
        mean = state["mean"]
        # Roberts (1959), the geometric moving average. From 0, so that the first steps cannot alarm (law 6).
        fresh = self.decay * mean + (1 - self.decay) * x
        np.copyto(mean, fresh, where=~np.isnan(x))
        # A copy: the state goes on changing, the score of this step must not.
        return mean.copy(order="K")


ACCUMULATORS: Registry[type[Accumulator]] = Registry("accumulator", ((kind.name, kind) for kind in (Ewma, Run)))


def accumulator(spec: Accumulator | str) -> Accumulator:
    """Return the accumulator that a spec names; an accumulator is returned as it is.

    Examples
    --------
    >>> accumulator("ewma(0.6)").decay
    0.6
    """
    if isinstance(spec, Accumulator):
        return spec
    parsed: Accumulator = parse(str(spec), ACCUMULATORS, "accumulator")
    return parsed
