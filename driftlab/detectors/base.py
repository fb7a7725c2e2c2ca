"""What every detector promises: one score a step from the past alone, 0..1, higher = more stalled."""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from driftlab._util.spec import Spec
from driftlab.metrics.column import Column
from driftlab.metrics.measurements import Measurements

__all__ = [
    "Detector",
    "Evidence",
    "Floats",
    "Now",
    "State",
    "absolute",
    "evidence_at",
    "first_alarms",
    "first_reaching",
    "needed",
    "score",
    "spoken",
]

Floats = NDArray[np.float64]
State = dict[str, NDArray[Any]]
Now = Mapping[Column, NDArray[Any]]


@dataclass(frozen=True)
class Evidence:
    """What an alarm rests on, in plain values.

    Attributes
    ----------
    steps : tuple of int
        The steps involved, oldest first, the step of the alarm last.
    words : str
        What the detector saw in them.
    lag : int or None
        Length of the cycle in steps that have the view; None where there is no cycle.

    Examples
    --------
    >>> Evidence((4, 5, 6), "3 steps in a row with nothing new").since
    4
    """

    steps: tuple[int, ...]
    words: str
    lag: int | None = None

    @property
    def since(self) -> int:
        """First of the steps."""
        return self.steps[0]


class Detector(Spec):
    """Base of all detectors: a frozen dataclass of plain parameters.

    A detector is a recursion: `start` makes arrays whose first axis is traces, `advance` takes the
    numbers of one step of every trace, changes the arrays in place and returns the scores. Batch
    scoring and the live monitor both run it, so that they agree bit for bit.
    """

    @property
    @abstractmethod
    def needs(self) -> tuple[Column, ...]:
        """Columns the detector reads: metrics, symbols, signal values."""

    @property
    @abstractmethod
    def patience(self) -> int:
        """How many steps have to agree, >= 1; see `fewest` for what a threshold needs."""

    @property
    @abstractmethod
    def memory(self) -> int:
        """How many past steps the detector keeps, running values of constant size aside."""

    @abstractmethod
    def start(self, n: int) -> State:
        """Return the state of `n` traces before their first step."""

    @abstractmethod
    def advance(self, state: State, now: Now) -> Floats:
        """Take one step of every trace, shape (n,) a column; return the scores, shape (n,)."""

    def live(self, columns: Now) -> Callable[[State], Floats]:
        """Return `advance` over columns that stay the same arrays and are filled anew each step."""
        return lambda state: self.advance(state, columns)

    def scores(self, measurements: Measurements) -> Floats:
        """Return one score a step, in the rows of `measurements`, shape (n_steps_in_all,).

        Raises
        ------
        InputError
            When a needed column was not measured.
        """
        return score(measurements, [self])[self]

    def fewest(self, threshold: float) -> float:
        """Return the fewest steps after which a score can reach `threshold`, `inf` when none ever does.

        What decides whether a rule can fire on traces of a given length.
        """
        return float(self.patience)

    def evidence(self, columns: Now, t: int) -> Evidence:
        """Say what the score of step `t` of one trace rests on.

        Parameters
        ----------
        columns : mapping of Column to (n,) array
            The needed columns of the trace up to and including step `t`, or only their last rows.
        t : int
            Index of the last row's step.

        Returns
        -------
        Evidence
            Here the last `patience` steps on which some column has an opinion; detectors that know
            better say so.
        """
        # A step without the view can neither speak for an alarm nor against it.
        said = np.flatnonzero(np.any([spoken(columns[i]) for i in self.needs], axis=0))
        return Evidence(absolute(said[-self.patience :], columns, t), self.reason())

    def reason(self) -> str:
        """Return in words what a high score means."""
        return f"{self!r} over the last {self.patience} steps"


def first_reaching(threshold: float, score: Callable[[int], float], most: int = 10_000) -> float:
    """Return the smallest count from 1 whose score is at least `threshold`, `inf` when none up to `most` is.

    Examples
    --------
    >>> first_reaching(0.75, lambda count: count / (count + 1)), first_reaching(1.0, lambda count: 0.5)
    (3.0, inf)
    """
    return float(next((count for count in range(1, most + 1) if score(count) >= threshold), math.inf))


def spoken(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where a column has an opinion: a number that is no `nan`, a symbol that is not -1."""
    return ~np.isnan(column) if column.dtype.kind == "f" else column >= 0


def absolute(rows: NDArray[np.int64], columns: Now, t: int) -> tuple[int, ...]:
    """Turn rows of columns that end at step `t` into steps; `t` itself when there are none."""
    length = len(next(iter(columns.values())))
    return tuple((rows + (t + 1 - length)).tolist()) or (t,)


def evidence_at(detector: "Detector", measurements: Measurements, trace: int, t: int) -> Evidence:
    """Return what the score of step `t` of trace number `trace` rests on.

    Examples
    --------
    >>> from driftlab.detectors import Plateau, Run
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> plateau = Plateau("exact", Run(2))
    >>> measured = measure([Trace(id="a", steps=[Step(state=s) for s in "xyyyz"])], plateau.needs)
    >>> evidence_at(plateau, measured, 0, 3).steps
    (2, 3)
    """
    start = int(measurements.offsets[trace])
    return detector.evidence({i: measurements.deltas(i)[start : start + t + 1] for i in detector.needs}, t)


def score(measurements: Measurements, detectors: Iterable[Detector]) -> dict[Detector, Floats]:
    """Run many detectors in one walk over the steps.

    Parameters
    ----------
    measurements : Measurements
        With every column the detectors need.
    detectors : iterable of Detector

    Returns
    -------
    dict of Detector to (n_steps_in_all,) array

    Examples
    --------
    >>> from driftlab.detectors import Plateau, Run
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> trace = Trace(id="a", steps=[Step(state=s) for s in "xyyyz"])
    >>> plateau = Plateau("exact", Run(2))
    >>> score(measure([trace], plateau.needs), [plateau])[plateau].tolist()
    [0.0, 0.0, 0.0, 1.0, 0.0]
    """
    wanted = list(dict.fromkeys(detectors))
    # By step over all traces instead of trace by trace: one numpy call a step serves every trace that still runs,
    # and it is the very call that the live monitor makes for one (law 7).
    order, bounds = _in_time(measurements)
    columns = {i: measurements.deltas(i).take(order) for detector in wanted for i in detector.needs}
    states = {detector: detector.start(len(measurements.infos)) for detector in wanted}
    by_time = {detector: np.zeros(len(order)) for detector in wanted}
    for start, end in pairwise(bounds):
        now = {i: values[start:end] for i, values in columns.items()}
        for detector in wanted:
            # A view, no copy: `advance` changes the states in place.
            alive = {name: values[: end - start] for name, values in states[detector].items()}
            by_time[detector][start:end] = detector.advance(alive, now)
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return {detector: scores.take(back) for detector, scores in by_time.items()}


def _in_time(measurements: Measurements) -> tuple[NDArray[np.int64], list[int]]:
    """Return all rows ordered by step, longest trace first, and where each step begins in that order.

    The traces that still run at a step are then the first ones: states are cut, never picked from.
    """
    lengths = measurements.lengths
    # Stable, so that equal lengths keep the order of the corpus and the walk is the same on every machine.
    longest = np.argsort(-lengths, kind="stable")
    starts, ordered = measurements.offsets[:-1][longest], lengths[longest]
    rows, bounds = [np.zeros(0, dtype=np.int64)], [0]
    for t in range(int(ordered[0]) if len(ordered) else 0):
        alive = int(np.searchsorted(-ordered, -t, side="left"))
        rows.append(starts[:alive] + t)
        bounds.append(bounds[-1] + alive)
    return np.concatenate(rows), bounds


def first_alarms(scores: Floats, offsets: NDArray[np.int64], threshold: float) -> NDArray[np.int64]:
    """Return each trace's first step with ``score >= threshold``, -1 where there is none.

    Examples
    --------
    >>> first_alarms(np.array([0.1, 0.9, 0.9, 0.2]), np.array([0, 3, 4]), 0.5).tolist()
    [1, -1]
    """
    hot = np.flatnonzero(scores >= threshold)
    # The first hot step at or after each start; one that lies past the end belongs to a later trace.
    place = np.searchsorted(hot, offsets[:-1])
    inside = np.append(hot, len(scores))[place]
    return np.where(inside < offsets[1:], inside - offsets[:-1], -1)


def needed(detectors: Sequence[Detector]) -> tuple[Column, ...]:
    """Return every column that some detector needs, each once."""
    return tuple(dict.fromkeys(i for detector in detectors for i in detector.needs))
