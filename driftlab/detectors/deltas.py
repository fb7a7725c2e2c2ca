"""Detectors that look at deltas."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from driftlab._util.errors import InputError
from driftlab._util.spec import whole
from driftlab.detectors.accumulators import Accumulator, Run, accumulator
from driftlab.detectors.base import Detector, Evidence, Floats, Now, State, absolute, first_reaching, spoken
from driftlab.detectors.streaks import Streak
from driftlab.metrics import Metric, Pairwise, metric
from driftlab.metrics.column import Column
from driftlab.metrics.exact import Exact

__all__ = ["Accumulated", "NetChange", "Plateau", "Revisit", "RunLength", "pairwise"]

# Values, not objects with a life: every detector may share them.
SAME_STATE, SAME_CALL, THREE = Exact(), Exact(view="call"), Run(3)


class Accumulated(Detector):
    """Base: one staleness a step, made into a score by an accumulator."""

    accumulator: Accumulator

    def __post_init__(self) -> None:
        # Specs are accepted as text so that people can type them; the value itself holds the parsed ones.
        object.__setattr__(self, "accumulator", accumulator(self.accumulator))

    @property
    def patience(self) -> int:
        return self.accumulator.patience

    @property
    def memory(self) -> int:
        return self.accumulator.memory

    def fewest(self, threshold: float) -> float:
        return self.accumulator.fewest(threshold)

    def start(self, n: int) -> State:
        return self.accumulator.start(n)

    def advance(self, state: State, now: Now) -> Floats:
        return self.accumulator.advance(state, self.staleness(now))

    def staleness(self, now: Now) -> Floats:
        """Return 1 - delta of every trace, `nan` for no opinion."""
        return 1 - now[self.needs[0]]

    def evidence(self, columns: Now, t: int) -> Evidence:
        """Return the steps the accumulator still holds; for a fading mean those since it was last low."""
        stale = self.staleness(columns)
        rows = np.flatnonzero(~np.isnan(stale))
        # A fading mean holds everything a little; what a reader wants to see is the stretch that lifted it.
        held = rows[-self.memory :] if self.memory else rows[_since_low(stale[rows]) :]
        return Evidence(absolute(held, columns, t), f"{len(held)} steps: {self.reason()}")

    def reason(self) -> str:
        return f"hardly anything new by {self.needs[0]!r}"


def _since_low(stale: Floats) -> int:
    """Return the place behind the last value below a half."""
    low = np.flatnonzero(stale < 0.5)
    return int(low[-1]) + 1 if len(low) else 0


@dataclass(frozen=True, repr=False)
class Plateau(Accumulated):
    """Nothing new for several steps: an accumulator over 1 - delta of one metric.

    With ``run(p)`` and threshold ``1 - e`` it fires when the last p deltas are all at most e: the
    detector of textbooks and of most frameworks.

    Parameters
    ----------
    metric : Metric or str
        What is compared.
    accumulator : Accumulator or str
        ``run(patience)`` (all of the last steps must be alike) or ``ewma(decay)`` (a fading mean).

    Examples
    --------
    >>> Plateau("levenshtein(view='output')", "run(3)")
    plateau(levenshtein(view='output'), run(3))
    """

    name: ClassVar[str] = "plateau"
    positional: ClassVar[int] = 2
    metric: Metric = SAME_STATE
    accumulator: Accumulator = THREE

    def __post_init__(self) -> None:
        object.__setattr__(self, "metric", metric(self.metric))
        super().__post_init__()

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        return (self.metric,)


@dataclass(frozen=True, repr=False)
class Revisit(Accumulated):
    """Back at something said or seen lately: an accumulator over 1 - the smallest delta to any of the last steps.

    A plateau compares with one earlier step and is blind to A, B, A, B; this one sees every cycle up to `last`
    steps long, whatever its order.

    Parameters
    ----------
    metric : Pairwise or str
        What is compared; its own lag is not used.
    accumulator : Accumulator or str
        How several steps become one score.
    last : int
        How many earlier steps that have the view are compared, >= 1.

    Examples
    --------
    >>> Revisit("jaccard(view='action')", "run(3)").needs
    (jaccard(view='action', lag=10, nearest=True),)
    """

    name: ClassVar[str] = "revisit"
    positional: ClassVar[int] = 2
    metric: Pairwise = SAME_STATE
    accumulator: Accumulator = THREE
    last: int = 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "metric", pairwise(self.metric, self.name))
        whole("last", self.last, 1)
        super().__post_init__()

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        return (self.metric.replace(lag=self.last, nearest=True),)


@dataclass(frozen=True, repr=False)
class NetChange(Detector):
    """Where the run was `patience` steps ago: the score is 1 - the delta to that step.

    Slow but steady work changes little a step and much over ten; rewording changes much a step and
    nothing over ten. Steps without the view leave the score as it was.

    Parameters
    ----------
    metric : Pairwise or str
        What is compared; its own lag is not used.
    patience : int
        How many steps that have the view lie between, >= 1.

    Examples
    --------
    >>> NetChange("levenshtein", 5).needs
    (levenshtein(lag=5),)
    """

    name: ClassVar[str] = "net_change"
    positional: ClassVar[int] = 2
    metric: Pairwise = SAME_STATE
    patience: int = 5

    def __post_init__(self) -> None:
        object.__setattr__(self, "metric", pairwise(self.metric, self.name))
        whole("patience", self.patience, 1)

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        return (self.metric.replace(lag=self.patience, nearest=False),)

    @property
    def memory(self) -> int:
        return 0

    def start(self, n: int) -> State:
        return {"score": np.zeros(n)}

    def advance(self, state: State, now: Now) -> Floats:
        score, delta = state["score"], now[self.needs[0]]
        # The state is the score: a step without the view leaves both as they were.
        np.subtract(1, delta, out=score, where=~np.isnan(delta))
        return score.copy()

    def evidence(self, columns: Now, t: int) -> Evidence:
        """Return the two steps that are compared."""
        rows = np.flatnonzero(spoken(columns[self.needs[0]]))[-self.patience - 1 :]
        return Evidence(absolute(np.unique(rows[[0, -1]]) if len(rows) else rows, columns, t), self.reason())

    def reason(self) -> str:
        return f"hardly any change over {self.patience} steps by {self.metric!r}"


@dataclass(frozen=True, repr=False)
class RunLength(Streak):
    """How many steps in a row changed nothing: r such steps score ``r / (r + 1)``.

    One detector for every patience: a threshold of 3/4 is three unchanged steps, 5/6 is five. With an exact
    metric a plateau has two scores and one point on its curve; this has one a run length.

    Parameters
    ----------
    metric : Metric or str
        What is compared.
    limit : float
        Largest delta that counts as unchanged, in [0, 1).

    Examples
    --------
    >>> from driftlab.metrics.measurements import measure
    >>> from driftlab.trace.schema import Step, Trace
    >>> trace = Trace(id="a", steps=[Step(state=s) for s in "aaab"])
    >>> run = RunLength("exact")
    >>> run.scores(measure([trace], run.needs)).round(2).tolist()
    [0.0, 0.5, 0.67, 0.0]
    """

    name: ClassVar[str] = "run_length"
    positional: ClassVar[int] = 1
    metric: Metric = SAME_CALL
    limit: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "metric", metric(self.metric))
        if not 0 <= self.limit < 1:
            raise InputError(f"limit must be in [0, 1), got {self.limit!r}")

    @cached_property
    def needs(self) -> tuple[Column, ...]:
        return (self.metric,)

    @property
    def patience(self) -> int:
        return 1

    def fewest(self, threshold: float) -> float:
        return first_reaching(threshold, lambda count: count / (count + 1))

    def counts(self, now: Now) -> Floats:
        delta = now[self.metric]
        return np.where(np.isnan(delta), np.nan, delta <= self.limit)

    def graded(self, count: Floats) -> Floats:
        # Any increasing map of a count to [0, 1) would do. This one needs no largest patience, so one column holds
        # them all.
        scores: Floats = count / (count + 1)
        return scores

    def reason(self) -> str:
        return f"{self.metric!r} at most {self.limit:g}"


def pairwise(spec: Metric | str, what: str) -> Pairwise:
    """Return a metric that compares two texts, or say that it does not."""
    compared = metric(spec)
    if not isinstance(compared, Pairwise):
        raise InputError(f"{what} compares a step with an earlier one; {compared!r} does not, use for example 'exact'")
    return compared
