"""A detector as a policy runs it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from driftlab.detectors.base import Detector, Evidence, Floats, Now, State
from driftlab.metrics.column import Column
from driftlab.metrics.columns.context import Context
from driftlab.metrics.columns.under_roles import Reset, seen

__all__ = ["Within"]


@dataclass(frozen=True, repr=False)
class Within(Detector):
    """A detector under a context: its columns as seen there, its state started again at resets.

    At a reset the score is 0.0 and the step itself is not counted.

    Parameters
    ----------
    detector : Detector
        What scores.
    context : Context
        Roles, ignored arguments, resets.

    Examples
    --------
    >>> from driftlab.detectors import StateUnchanged
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> same = Within(StateUnchanged(2), Context())
    >>> trace = Trace(id="a", steps=[Step(state="x", signals={"passed": n}) for n in (1, 1, 1, 2, 2)])
    >>> same.scores(measure([trace], same.needs)).tolist()
    [0.0, 0.5, 1.0, 0.0, 0.5]
    """

    name: ClassVar[str] = "within"
    positional: ClassVar[int] = 2
    detector: Detector
    context: Context

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        return (self._reset, *dict.fromkeys(shown for _, shown in self._columns))

    @cached_property
    def _reset(self) -> Reset:
        return Reset(self.context.resets, self.context.signals)

    @cached_property
    def _columns(self) -> tuple[tuple[Column, Column], ...]:
        return tuple((column, seen(column, self.context)) for column in self.detector.needs)

    @property
    def patience(self) -> int:
        return self.detector.patience

    @property
    def memory(self) -> int:
        return self.detector.memory

    def fewest(self, threshold: float) -> float:
        return self.detector.fewest(threshold)

    def start(self, n: int) -> State:
        return self.detector.start(n)

    def live(self, columns: Now) -> Callable[[State], Floats]:
        advance = self.detector.live(self._shown(columns))
        reset = columns[self._reset]

        def step(state: State) -> Floats:
            scores = advance(state)
            # One run: its one number tells sooner than a count over the column would.
            return self._restarted(state, scores, reset) if reset[0] else scores

        return step

    def advance(self, state: State, now: Now) -> Floats:
        return self._restarted(state, self.detector.advance(state, self._shown(now)), now[self._reset])

    def _shown(self, now: Now) -> Now:
        return {column: now[shown] for column, shown in self._columns}

    def _restarted(self, state: State, scores: Floats, reset: NDArray[Any]) -> Floats:
        """Start the state again where there is a reset."""
        if np.count_nonzero(reset):
            # The step of the reset itself scores 0: it is the progress, or the user, that makes what came before no
            # evidence.
            rows = np.flatnonzero(reset)
            for name, fresh in self.detector.start(len(rows)).items():
                state[name][rows] = fresh
            scores[rows] = 0.0
        return scores

    def evidence(self, columns: Now, t: int) -> Evidence:
        """Return the evidence since the last reset."""
        resets = np.flatnonzero(columns[self._reset][:-1])
        first = int(resets[-1]) + 1 if len(resets) else 0
        # What a reset forgot must not be shown as a reason.
        since = {shown: columns[shown][first:] for _, shown in self._columns}
        return self.detector.evidence(self._shown(since), t)

    def reason(self) -> str:
        return self.detector.reason()
