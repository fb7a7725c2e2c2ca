"""Where a loop is going, told from its signals."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from driftlab.metrics.columns.signals import signed
from driftlab.trace.schema import Step, TraceInfo

__all__ = ["Course", "Trend", "followed"]

Trend = Literal["improving", "plateaued", "oscillating", "regressing", "unknown"]
FRESH = 5  # measured steps for which a new best makes a loop an improving one
FALLEN = 3  # measured steps in a row below the best that make it a regressing one


@dataclass
class Course:
    """Follows the signals of one run: its trend, its best step.

    Parameters
    ----------
    info : TraceInfo
        Directions of the signals.
    watched : iterable of str
        Names of the signals that count, the first decides which step is best; empty: all, the first one measured
        decides.

    Examples
    --------
    >>> course = Course(TraceInfo(id="a"))
    >>> [course.follow(t, Step.of(passed=n)) for t, n in enumerate((3, 4, 3, 3, 3))]
    ['unknown', 'improving', 'improving', 'improving', 'regressing']
    >>> course.best_at, course.fallen
    (1, (2, 3, 4))
    """

    info: TraceInfo
    watched: Iterable[str] = ()

    def __post_init__(self) -> None:
        self.watched = tuple(self.watched)
        self.best: Step | None = None
        self.best_at: int | None = None
        self.trend: Trend = "unknown"
        self.fallen: tuple[int, ...] = ()
        self._main = next(iter(self.watched), None)
        self._peaks: dict[str, float] = {}
        self._since: float = math.inf

    def follow(self, t: int, step: Step) -> Trend:
        """Take the next step; return where the loop is going."""
        if not step.signals:
            return self.trend
        values = {n: v for n, v in signed(step, "", self.info) if not self.watched or n in self.watched}
        if not values:
            return self.trend
        first = not self._peaks
        gained = [name for name, value in values.items() if value > self._peaks.get(name, math.inf)]
        self._remember(t, step, values)
        below = any(value < self._peaks[name] for name, value in values.items())
        self._since = 0 if gained else self._since + 1
        # Three places suffice: the words of the verdict name where the fall began.
        self.fallen = (*self.fallen, t)[-FALLEN:] if below and not gained else ()
        self.trend = "unknown" if first else self._named()
        return self.trend

    def _named(self) -> Trend:
        if len(self.fallen) >= FALLEN:
            return "regressing"
        return "improving" if self._since < FRESH else "plateaued"

    def _remember(self, t: int, step: Step, values: dict[str, float]) -> None:
        """Keep the peaks, the step with the best value of the signal that decides."""
        if self._main is None:
            self._main = next(iter(values))
        if values.get(self._main, -math.inf) > self._peaks.get(self._main, -math.inf):
            self.best, self.best_at = step, t
        for name, value in values.items():
            self._peaks[name] = max(value, self._peaks.get(name, -math.inf))


def followed(info: TraceInfo, steps: Iterable[Step], watched: Iterable[str] = ()) -> list[Trend]:
    """Return the trend after each step of a run.

    Examples
    --------
    >>> followed(TraceInfo(id="a"), [Step.of(passed=n) for n in (1, 2)])
    ['unknown', 'improving']
    """
    course = Course(info, watched)
    return [course.follow(t, step) for t, step in enumerate(steps)]
