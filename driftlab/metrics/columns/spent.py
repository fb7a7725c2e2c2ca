"""What steps cost besides their number: tokens, seconds."""

import math
from dataclasses import dataclass
from typing import ClassVar

from driftlab._util.spec import choice
from driftlab.metrics.column import Column, StepView, Stream
from driftlab.trace.schema import TraceInfo

__all__ = ["UNITS", "Spent"]

UNITS = ("tokens", "seconds")


@dataclass(frozen=True, repr=False)
class Spent(Column):
    """What a step used up; `nan` where it does not say.

    Parameters
    ----------
    unit : {"tokens", "seconds"}

    Examples
    --------
    >>> from driftlab.metrics.measurements import streamed
    >>> from driftlab.trace.schema import Step, Trace
    >>> streamed(Spent("tokens"), Trace(id="a", steps=[Step(tokens=812), Step()])).tolist()
    [812.0, nan]
    """

    name: ClassVar[str] = "spent"
    positional: ClassVar[int] = 1
    unit: str = "tokens"

    def __post_init__(self) -> None:
        choice("unit", self.unit, UNITS)

    def stream(self, info: TraceInfo) -> Stream:
        def read(reading: StepView) -> float:
            found = getattr(reading.step, self.unit)
            return math.nan if found is None else float(found)

        return read
