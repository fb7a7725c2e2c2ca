"""What every metric promises: one delta a step, 0 = nothing new, 1 = entirely new, `nan` = no opinion."""

import math
from abc import abstractmethod
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from driftlab._util.spec import choice, whole
from driftlab.metrics.column import Column, StepView, Stream
from driftlab.trace.schema import TraceInfo
from driftlab.trace.views import MASKS, VIEWS

__all__ = ["Metric", "Pairwise", "TextMetric"]


class Metric(Column):
    """Base of all metrics: a frozen dataclass of plain parameters whose column is deltas."""


@dataclass(frozen=True, repr=False)
class TextMetric(Metric):
    """A metric that reads one view under one mask."""

    costly: ClassVar[bool] = True
    view: str = "state"
    mask: str = "text"

    def __post_init__(self) -> None:
        choice("view", self.view, VIEWS)
        MASKS.check(self.mask)

    @property
    def key(self) -> str:
        return f"{super().key} mask {MASKS[self.mask].digest}"

    def clean(self, text: str | None) -> str:
        """Return `text` under the metric's mask; None is empty text.

        Raises
        ------
        TypeError
            When `text` is neither text nor None.
        """
        if text is None:
            return ""
        if not isinstance(text, str):
            raise TypeError(f"{self.name} compares text, got {type(text).__name__} {text!r}; turn it into text first")
        return MASKS[self.mask](text, output=self.view == "output")


@dataclass(frozen=True, repr=False)
class Pairwise(TextMetric):
    """A metric that compares two texts; subclasses implement `delta` and declare `symmetric`.

    The first `lag` steps that have the view (with `nearest`: the first) have delta 1.0.

    Parameters
    ----------
    view : {"state", "thought", "action", "output", "call"}
        What is compared.
    mask : str
        How text is rewritten before the comparison.
    lag : int
        How many steps that have the view lie between the two texts, >= 1.
    nearest : bool
        Compare with each of the last `lag` such steps; the smallest delta counts.
    """

    symmetric: ClassVar[bool] = True
    batched: ClassVar[bool] = False  # True: one call over many pairs, which splitting would only slow down
    lag: int = 1
    nearest: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("lag", self.lag, 1)

    @property
    def reads(self) -> tuple[str, str]:
        """View and mask of the texts that are compared."""
        return (self.view, self.mask)

    @property
    def comparison(self) -> "Pairwise":
        """The metric without what decides only which texts are compared."""
        return self.replace(view="state", mask="text", lag=1, nearest=False)

    @abstractmethod
    def delta(self, earlier: str, later: str) -> float:
        """Compare two different masked texts."""

    def deltas(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Compare many pairs of different masked texts, shape (n_pairs,)."""
        return np.array([self.delta(earlier, later) for earlier, later in pairs], dtype=np.float64)

    def compare(self, earlier: str | None, later: str | None) -> float:
        """Return the delta of two texts in [0, 1]; equal texts are exactly 0.0, None is empty text.

        Raises
        ------
        TypeError
            When either is neither text nor None.
        """
        first, second = self.clean(earlier), self.clean(later)
        return 0.0 if first == second else float(self.deltas([(first, second)])[0])

    def stream(self, info: TraceInfo) -> Stream:
        last: deque[tuple[int, str]] = deque(maxlen=self.lag)
        view, mask = self.reads

        def push(reading: StepView) -> float:
            text = reading.text(view, mask)
            if text is None:
                return math.nan
            symbol = reading.symbol(view, mask)
            delta = self._against(last, symbol, text)
            last.append((symbol, text))
            return delta

        return push

    def _against(self, last: "deque[tuple[int, str]]", symbol: int, text: str) -> float:
        if not self.nearest and len(last) < self.lag:
            return 1.0
        earlier = list(last) if self.nearest else [last[0]]
        if any(other == symbol for other, _ in earlier):
            return 0.0
        return float(self.deltas([(other, text) for _, other in earlier]).min(initial=1.0))
