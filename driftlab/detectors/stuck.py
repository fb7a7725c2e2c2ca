"""The recommended score without training."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from driftlab._util.spec import whole
from driftlab.detectors.accumulators import Accumulator, Ewma
from driftlab.detectors.base import Floats, Now
from driftlab.detectors.deltas import Accumulated
from driftlab.metrics.column import Column
from driftlab.metrics.novelty import Novelty
from driftlab.metrics.repeat import Repeat

__all__ = ["Stuck"]

FADING = Ewma(0.6)


@dataclass(frozen=True, repr=False)
class Stuck(Accumulated):
    """The recommended score without training: results are stale, actions and results are like recent ones.

    A step's staleness is the mean of those present of ``1 - novelty(output)``, ``1 - repeat(action)`` and ``1 -
    repeat(output)``, looking `last` steps back; ``ewma(0.6)`` makes it a score.

    Parameters
    ----------
    accumulator : Accumulator or str
        How several steps become one score.
    last : int
        How many earlier steps that have the view are compared, >= 1.
    mask : str
        How results are rewritten first.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> trace = Trace(id="a", steps=[Step(tool="ls", output="a.py")] * 3)
    >>> Stuck().scores(measure([trace], Stuck().needs)).round(3).tolist()
    [0.0, 0.4, 0.64]
    """

    name: ClassVar[str] = "stuck"
    positional: ClassVar[int] = 1
    accumulator: Accumulator = FADING
    last: int = 10
    mask: str = "volatile"

    def __post_init__(self) -> None:
        whole("last", self.last, 1)
        Novelty("output", self.mask)  # the column checks the mask
        super().__post_init__()

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        repeats = (Repeat("action", last=self.last), Repeat("output", self.mask, self.last))
        return (Novelty("output", self.mask), *repeats)

    def staleness(self, now: Now) -> Floats:
        stale = 1 - np.stack([now[column] for column in self.needs])
        spoken = ~np.isnan(stale)
        # The mean of what is there: a thought without a call is judged by nothing less than a call is.
        present = np.add.reduce(spoken, axis=0)
        total = np.add.reduce(np.where(spoken, stale, 0.0), axis=0)
        return np.where(present > 0, total / np.maximum(present, 1), np.nan)

    def reason(self) -> str:
        return f"stale results, actions and results like those of the last {self.last} steps"
