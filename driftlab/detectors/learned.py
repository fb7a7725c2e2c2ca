"""A weighted sum of other detectors, learned from one's own traces."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from driftlab._util.errors import InputError
from driftlab.detectors.base import Detector, Evidence, Floats, Now, State, needed
from driftlab.metrics.column import Column

__all__ = ["Learned"]


@dataclass(frozen=True, repr=False)
class Learned(Detector):
    """Logistic combination of the scores of other detectors and of their fading means.

    With s the scores and e their ewma the score is ``1 / (1 + exp(-(bias + now . s + faded . e)))``, and 0.0 at the
    first step. Made by `driftlab.tuning.combine.combine` from at least 100 problems; a combination learned on one
    source is worse than a fixed formula on another, so it is never a default.

    Parameters
    ----------
    parts : tuple of Detector
        What is combined.
    now, faded : tuple of float
        One weight a part.
    bias : float
        What is added.
    decay : float
        Weight of the past in the fading means, in [0, 1).

    Examples
    --------
    >>> from driftlab.detectors import Plateau
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> both = Learned((Plateau("exact", "run(1)"),), (2.0,), (1.0,), -1.0)
    >>> trace = Trace(id="a", steps=[Step(state=s) for s in "abb"])
    >>> both.scores(measure([trace], both.needs)).round(2).tolist()
    [0.0, 0.27, 0.77]
    """

    name: ClassVar[str] = "learned"
    positional: ClassVar[int] = 4
    parts: tuple[Detector, ...]
    now: tuple[float, ...]
    faded: tuple[float, ...]
    bias: float
    decay: float = 0.8

    def __post_init__(self) -> None:
        for field in ("parts", "now", "faded"):
            object.__setattr__(self, field, tuple(getattr(self, field)))
        if not self.parts or not len(self.parts) == len(self.now) == len(self.faded):
            counts = f"{len(self.parts)} parts, {len(self.now)} and {len(self.faded)} weights"
            raise InputError(f"learned needs parts and two weights for each, got {counts}")
        if not np.isfinite([*self.now, *self.faded, self.bias]).all():
            raise InputError("weights of learned must be finite numbers")
        if not 0 <= self.decay < 1:
            raise InputError(f"decay must be in [0, 1), got {self.decay!r}")

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        return needed(self.parts)

    @property
    def patience(self) -> int:
        return max(part.patience for part in self.parts)

    @property
    def memory(self) -> int:
        return max(part.memory for part in self.parts)

    def fewest(self, threshold: float) -> float:
        return 2.0

    def start(self, n: int) -> State:
        states = {f"{k}.{name}": v for k, part in enumerate(self.parts) for name, v in part.start(n).items()}
        return {**states, "mean": np.zeros((n, len(self.parts)), order="F"), "begun": np.zeros(n)}

    def advance(self, state: State, now: Now) -> Floats:
        mean, begun = state["mean"], state["begun"]
        total = np.full(len(begun), self.bias)
        # Added one after the other: a matrix product may round differently for one trace and for many.
        for place, part in enumerate(self.parts):
            part_state = {name.partition(".")[2]: v for name, v in state.items() if name.startswith(f"{place}.")}
            score = part.advance(part_state, now)
            mean[:, place] = self.decay * mean[:, place] + (1 - self.decay) * score
            total += self.now[place] * score + self.faded[place] * mean[:, place]
        # `begun` is 0 at the first step: no score before there is something to compare (law 6). The clip keeps exp
        # finite.
        scores: Floats = begun / (1 + np.exp(-np.clip(total, -50.0, 50.0)))
        begun[:] = 1.0
        return scores

    def evidence(self, columns: Now, t: int) -> Evidence:
        """Return the evidence of the part that adds most at the end."""
        states, last = [part.start(1) for part in self.parts], np.zeros(len(self.parts))
        for row in range(len(columns[self.needs[0]])):
            step = {i: column[row : row + 1] for i, column in columns.items()}
            last = np.array([part.advance(s, step)[0] for part, s in zip(self.parts, states, strict=True)])
        # The largest term of the sum, weights of now and of the past taken together.
        most = self.parts[int(np.argmax(last * (np.array(self.now) + np.array(self.faded))))]
        return most.evidence({i: columns[i] for i in most.needs}, t)
