"""An area under the ROC curve with its interval, beside controls that know nothing."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from driftlab.evaluation.labels import Floats
from driftlab.evaluation.stats import FEW, LEVEL, Design, difference, method5, normal_reach, percentile

__all__ = ["Auc", "verdict"]


@dataclass(frozen=True, eq=False)
class Auc:
    """An area under the ROC curve with what its interval needs.

    Attributes
    ----------
    auc : float
        `nan` when no two traces could be compared.
    drawn : (n_draws,) array, or a function that returns it
        The area in each bootstrap draw over problems; a function is called when the draws are first needed.
    n_stalled, n_good : int
        Traces that were compared.
    problems : (int, int)
        Different problems among the stalled and among the good ones.
    traces_tell, problems_tell : Design
        What the compared pairs tell when traces, when problems are independent; by default as if every
        stalled one had been compared with every good one.
    constant : bool
        Known by construction: no sample can move it.
    noises : (n,) array
        For the placebo, the area of each draw of noise; `auc` is their mean.

    Examples
    --------
    >>> ranked = Auc(0.9, np.full(100, 0.9), 8, 12, (8, 12))
    >>> [round(bound, 2) for bound in ranked.interval()]
    [0.65, 0.97]
    """

    auc: float
    drawn: Floats | Callable[[], Floats]
    n_stalled: int
    n_good: int
    problems: tuple[int, int]
    traces_tell: Design | None = None
    problems_tell: Design | None = None
    constant: bool = False
    noises: Floats = field(default_factory=lambda: np.zeros(0))

    @cached_property
    def draws(self) -> Floats:
        """The area in each bootstrap draw over problems, shape (n_draws,)."""
        return self.drawn() if callable(self.drawn) else self.drawn

    @property
    def few(self) -> bool:
        """Whether a class has too few problems for the bootstrap."""
        return min(self.problems) < FEW

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Interval of the area.

        Newcombe's method 5 with problems as its units where a class has fewer than 25 of them. Else the wider of
        two: the bootstrap over problems, and method 5 over as many traces as the bootstrap says that runs of
        like problems are worth; near 1 the bootstrap alone covers 87 % at 25 problems.
        """
        if math.isnan(self.auc):
            return math.nan, math.nan
        if self.constant:
            return self.auc, self.auc
        if len(self.noises):
            return percentile(self.draws, level)  # a mean over draws of noise spreads less than one area
        if self.few:
            return method5(self.auc, self.problems_tell or _all(*self.problems), level)
        method = method5(self.auc, self._told(), level)
        drawn = percentile(self.draws, level)
        return min(method[0], drawn[0]), max(method[1], drawn[1])

    def _told(self) -> Design:
        """What the compared pairs tell, between traces that are independent and problems that are."""
        traces = self.traces_tell or _all(self.n_stalled, self.n_good)
        problems = self.problems_tell or _all(*self.problems)
        least, most = (_variance(self.auc, design) for design in (traces, problems))
        if not least:  # at 0 and 1 nothing tells how alike runs of one problem are
            return problems
        # Design effect (Kish): the variance that the draws show over what independent traces would have. It can
        # neither make the evidence better than independent traces nor worse than one trace a problem.
        effect = float(np.clip(np.nanvar(self.draws) / least, 1.0, max(1.0, most / least)))
        return Design(traces.pairs / effect, traces.shared)

    def band(self, level: float = LEVEL) -> tuple[float, float]:
        """Range of the areas of single draws of noise; `nan` where this is no placebo."""
        return percentile(self.noises, level)

    def over(self, control: "Auc", level: float = LEVEL) -> tuple[float, float]:
        """Interval of the paired difference to a control ranked on the same traces.

        Paired bootstrap over problems (the wider of its percentiles and its normal interval, since a level
        near 1 asks for tails that few draws have); recovered from both intervals where a class has few problems.
        """
        # Paired draws: both areas move together when a hard problem is drawn, and only their difference is asked
        # for.
        if not self.few:
            return _drawn(self.auc - control.auc, self.draws - control.draws, level)
        alike = _correlation(self.draws, control.draws)
        return difference(self.auc, control.auc, self.interval(level), control.interval(level), alike)


def verdict(ranked: Auc, within: Auc, controls: Sequence[tuple[str, Auc]], level: float = LEVEL) -> str:
    """Say in words what a ranking is worth beside its controls.

    Parameters
    ----------
    ranked, within : Auc
        The score at equal age; the same among traces of one setup.
    controls : sequence of (str, Auc)
        Name and ranking of each control.
    level : float
        Of the intervals whose lower bounds decide; nearer 1 where the score is the best of several.

    Examples
    --------
    >>> flat = Auc(0.5, np.full(10, 0.5), 40, 40, (40, 40))
    >>> verdict(flat, flat, [("steps", flat)])
    'not better than steps'
    """
    if math.isnan(ranked.auc):
        return "undefined: nothing to compare"
    for name, control in controls:
        # A lower bound above 0 needs a difference above 0: most scores need no draws to be told.
        if not (ranked.auc > control.auc and ranked.over(control, level)[0] > 0):
            return f"not better than {name}"
    names = " and ".join(name for name, _ in controls)
    # One setup only, or none with both labels: that the setup made the difference can then be neither shown nor
    # ruled out.
    if math.isnan(within.auc):
        return f"beats {names}; cannot be told from setup"
    explained = within.interval(level)[0] > 0.5
    return f"beats {names}; {'not explained by setup' if explained else 'may be explained by setup'}"


def _drawn(value: float, draws: Floats, level: float) -> tuple[float, float]:
    low, high = percentile(draws, level)
    kept = draws[~np.isnan(draws)]
    reach = normal_reach(level) * float(kept.std()) if len(kept) else math.nan
    return min(low, value - reach), max(high, value + reach)


def _variance(auc: float, design: Design) -> float:
    """Sampling variance of an area by method 5."""
    spread = 1 + design.shared * ((1 - auc) / (2 - auc) + auc / (1 + auc))
    return auc * (1 - auc) * spread / design.pairs


def _all(m: int, n: int) -> Design:
    return Design(m * n, (m + n) / 2 - 1)


def _correlation(first: Floats, second: Floats) -> float:
    both = ~(np.isnan(first) | np.isnan(second))
    if both.sum() < 2 or not (np.ptp(first[both]) and np.ptp(second[both])):
        return 0.0
    return float(np.corrcoef(first[both], second[both])[0, 1])
