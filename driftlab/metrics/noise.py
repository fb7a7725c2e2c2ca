"""The placebo: deltas that know nothing."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from driftlab._util.spec import whole
from driftlab.metrics.base import Metric
from driftlab.metrics.column import Stream
from driftlab.trace.schema import TraceInfo

__all__ = ["Noise"]


@dataclass(frozen=True, repr=False)
class Noise(Metric):
    """Uniform numbers in [0, 1) drawn from the seed, the trace's id and the step's index alone.

    Whatever a metric reaches beyond this one, through the same pipeline, is not an artefact of the pipeline.

    Parameters
    ----------
    seed : int
        Another seed is another draw, >= 0.

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> trace = Trace(id="a", steps=[Step(), Step()])
    >>> measure([trace], [Noise()]).deltas(Noise()).round(3).tolist()
    [1.0, 0.918]
    """

    name: ClassVar[str] = "noise"
    seed: int = 0

    def __post_init__(self) -> None:
        whole("seed", self.seed, 0)

    def stream(self, info: TraceInfo) -> Stream:
        start = self._start(info)
        return lambda reading: _draw(start, reading.t)

    def column(self, infos: Sequence[TraceInfo], lengths: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the deltas of whole traces, which need no text, shape (n_steps_in_all,)."""
        starts = [self._start(info) for info in infos]
        drawn = [_draw(start, t) for start, n in zip(starts, lengths, strict=True) for t in range(int(n))]
        return np.array(drawn, dtype=np.float64)

    def _start(self, info: TraceInfo) -> "hashlib.blake2b":
        return hashlib.blake2b(f"{self.seed}\0{info.id}".encode("utf-8", "surrogatepass"), digest_size=8)


def _draw(start: "hashlib.blake2b", t: int) -> float:
    if t == 0:
        return 1.0
    draw = start.copy()
    draw.update(t.to_bytes(8, "big"))
    return (int.from_bytes(draw.digest(), "big") >> 11) / 2**53
