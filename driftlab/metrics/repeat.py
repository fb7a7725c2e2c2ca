"""The most similar of the latest steps."""

import math
from collections import deque
from dataclasses import dataclass
from typing import ClassVar

from driftlab._util.spec import whole
from driftlab.metrics.base import TextMetric
from driftlab.metrics.column import StepView, Stream
from driftlab.metrics.jaccard import unlike
from driftlab.metrics.words import words
from driftlab.trace.schema import TraceInfo

__all__ = ["Repeat"]

CHARACTERS = 6_000


@dataclass(frozen=True, repr=False)
class Repeat(TextMetric):
    """One minus the largest word-set similarity (Jaccard) to any of the last steps that have the view.

    Equal texts are 0, the first text is 1.0. Reads the first 6,000 characters; words as in `jaccard`. Sees a cycle
    of any period up to `last`, where a comparison with the step before sees none.

    Parameters
    ----------
    view : {"state", "thought", "action", "output", "call"}
        What is compared.
    mask : str
        How text is rewritten before the comparison.
    last : int
        How many steps that have the view are looked at, >= 1.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> calls = ["ls src", "cat a.py", "ls src", "cat a.py b.py"]
    >>> trace = Trace(id="a", steps=[Step(tool="sh", args=call) for call in calls])
    >>> measure([trace], [Repeat()]).deltas(Repeat()).round(3).tolist()
    [1.0, 0.857, 0.0, 0.167]
    """

    name: ClassVar[str] = "repeat"
    view: str = "action"
    last: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("last", self.last, 1)

    def stream(self, info: TraceInfo) -> Stream:
        latest: deque[tuple[int, frozenset[str]]] = deque(maxlen=self.last)

        def push(reading: StepView) -> float:
            text = reading.text(self.view, self.mask)
            if text is None:
                return math.nan
            symbol = reading.symbol(self.view, self.mask)
            known = next((old for number, old in latest if number == symbol), None)
            found = frozenset(words(text[:CHARACTERS])) if known is None else known
            delta = 0.0 if known is not None else min((unlike(old, found) for _, old in latest), default=1.0)
            latest.append((symbol, found))
            return delta

        return push
