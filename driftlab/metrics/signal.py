"""Gain of a task signal over the best value so far."""

import math
from dataclasses import dataclass
from typing import ClassVar

from driftlab.errors import InputError
from driftlab.metrics.base import Metric
from driftlab.reading import Reading, Stream
from driftlab.trace import TraceInfo


@dataclass(frozen=True, repr=False)
class Signal(Metric):
    """Gain over the best value so far, in units of `scale`, cut at 1; a fall or a tie is 0.

    `nan` where the signal was not measured; the first measurement is 1.0. The direction is the one the
    trace declares (`signal_specs`), higher where it declares none.

    Parameters
    ----------
    signal : str
        Name of the signal; empty means the only signal of the corpus.
    scale : float or None
        The gain that counts as entirely new, in the signal's own unit; None: any gain is 1.0.

    Raises
    ------
    InputError
        When `scale` is not above 0.

    Examples
    --------
    >>> from driftlab.measure import measure
    >>> from driftlab.trace import Step, Trace
    >>> trace = Trace(id="a", steps=[Step.of(passed=n) for n in (3, 4, 2, 4, 5)])
    >>> measure([trace], [Signal("passed")]).deltas(Signal("passed")).tolist()
    [1.0, 1.0, 0.0, 0.0, 1.0]
    """

    name: ClassVar[str] = "signal"
    positional: ClassVar[int] = 1
    signal: str = ""
    scale: float | None = None

    def __post_init__(self) -> None:
        if self.scale is not None and not self.scale > 0:
            raise InputError(f"scale must be above 0 or None, got {self.scale!r}")

    def stream(self, info: TraceInfo) -> Stream:
        spec = info.signal_specs.get(self.signal)
        sign = -1.0 if spec is not None and spec.direction == "lower" else 1.0
        best: float | None = None

        def push(reading: Reading) -> float:
            nonlocal best
            raw = (reading.step.signals or {}).get(self.signal)
            if raw is None or math.isnan(raw):
                return math.nan
            value = sign * raw
            gain = math.inf if best is None else value - best
            best = value if best is None else max(best, value)
            if gain <= 0:
                return 0.0
            return min(1.0, gain / self.scale) if self.scale is not None else 1.0

        return push
